"""Showing one message in Discord so that it stands there once, however often it is tried.

A nonce makes Discord itself drop a repetition for a few minutes. What somebody may have sent longer ago than that is looked
for in the channel first.
"""

from collections.abc import Awaitable, Callable

from schemas.deliveries import SendText
from schemas.identities import nonce
from schemas.inbox import Outcome
from services.delivery.channels import Channels
from services.delivery.fence import judged
from services.delivery.metrics import FOUND

NONCE_MS = 60_000


async def send_text(
    channels: Channels,
    order: SendText,
    *,
    tried_since_ms: int | None,
    now_ms: int,
    look: Callable[[], Awaitable[Outcome | None]],
) -> Outcome:
    """Show the text, or find that it is shown; raises Unavailable where it may be shown later.

    `tried_since_ms`: since when it may have been sent, None where nobody can have; with `now_ms` in ms since 1970.
    """
    if tried_since_ms is not None and now_ms - tried_since_ms >= NONCE_MS:
        found = await look()
        if found is not None:
            FOUND.inc()
            return found
    with judged():
        return await channels.post(order, nonce(order.turn, order.sequence))
