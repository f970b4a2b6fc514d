"""What a message gets that starts no turn: a result, and a notice where one is due.

That the queue is full is said once a channel, and again only after it had room for a message: until then the answer
would be the same. The fault that this guards against: a burst of a hundred messages gets dozens of equal notices, which
cost the channel its rate limit and push the replies out of sight.
"""

from services.orchestrator.deliveries import send_refusal
from services.orchestrator.endings import end_unstarted
from services.orchestrator.notices import QUEUE_FULL
from services.orchestrator.state import Cause
from services.orchestrator.step import Step

NOTICE_LIMIT = 1_900
"""Code points of a refusal's notice that are shown."""


def refuse(step: Step, cause: Cause, notice: str) -> None:
    """End the message's turn as refused; `notice` is shown where it is not empty."""
    line = " ".join(notice.split())[:NOTICE_LIMIT]
    if line:
        send_refusal(step, cause, line)
    end_unstarted(step, cause, "refused")


def refuse_for_queue(step: Step, cause: Cause) -> None:
    """End the turn of a message for which the queue has no room."""
    if not step.state.queue_notice and send_refusal(step, cause, QUEUE_FULL):
        step.change(queue_notice=True)
    end_unstarted(step, cause, "refused")


def had_room(step: Step) -> None:
    """The queue had room for a message, so the next refusal is news."""
    if step.state.queue_notice:
        step.change(queue_notice=False)
