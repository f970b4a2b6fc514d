"""The alarm clocks of a process: when a deadline has passed by its own clock, TimerFired is written to the inbox.

Only the fold decides, by the append time of that record; it ignores one that comes too early, so clocks may be wrong.
"""

import asyncio

from services.orchestrator.deadlines import Armed, deadlines
from services.orchestrator.residents import Actor
from services.runtime.clock import Clock
from services.runtime.log import Appended, NewRecord
from services.runtime.outputs import output
from services.runtime.sender import Sender

LONGEST_TIMER_MS = 24 * 3_600_000
TIMER_AGAIN_S = 10.0


class Timers:
    """One timer an actor, for its earliest deadline."""

    def __init__(self, sender: Sender, clock: Clock) -> None:
        self._sender = sender
        self._clock = clock

    def arm(self, actor: Actor) -> None:
        """Set the actor's timer to its earliest deadline, or to none."""
        due_ms = min((armed.due_ms for armed in deadlines(actor.state)), default=None)
        if due_ms == actor.timer_ms:
            return
        self.disarm(actor)
        if due_ms is None:
            actor.fired.clear()
        else:
            actor.timer_ms = due_ms
            wait_ms = min(max(0, due_ms - self._clock.now_ms()), LONGEST_TIMER_MS)
            self._call_later(actor, wait_ms / 1000 + 0.05)

    def disarm(self, actor: Actor) -> None:
        """Let the actor's timer never fire."""
        if actor.timer is not None:
            actor.timer.cancel()
            actor.timer = actor.timer_ms = None

    def _call_later(self, actor: Actor, wait_s: float) -> None:
        actor.timer = asyncio.get_running_loop().call_later(wait_s, self._fire, actor)

    def _fire(self, actor: Actor) -> None:
        """Write TimerFired for what is due by our clock; again later, since the fold ignores one that came too early.

        Not while the one before is unread: a fold that is behind would get more and more of them to read.
        """
        now_ms = self._clock.now_ms()
        before, actor.fired = actor.fired, {}
        for armed in deadlines(actor.state):
            if armed.due_ms <= now_ms:
                fired = before.get(armed)
                if fired is None or not _is_unread(fired, actor):
                    fired = self._sender.send(_timer(actor, armed))
                actor.fired[armed] = fired
        self._call_later(actor, TIMER_AGAIN_S)


def _is_unread(fired: "asyncio.Future[Appended]", actor: Actor) -> bool:
    """Whether a TimerFired is under way, or stands in the inbox where the actor has not come yet."""
    if not fired.done():
        return True
    return not fired.cancelled() and fired.exception() is None and fired.result().offset > actor.folded


def _timer(actor: Actor, armed: Armed) -> NewRecord:
    return output(
        "inbox",
        armed.fired(),
        channel=actor.state.channel_id,
        event_id=f"timer:{armed.turn}:{armed.timer}:{armed.armed_by}",
        turn=armed.turn,
        generation=armed.generation,
        cause=armed.armed_by,
    )
