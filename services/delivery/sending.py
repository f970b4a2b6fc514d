"""Showing one message in Discord so that it stands there once, however often it is tried.

A nonce makes Discord itself drop a repetition for a few minutes. What is older than that is looked for in the channel
before it is sent; history tells no nonces, so a message counts as found if it is the bot's, has the same text, came
after the turn's message and the outputs before it, as far as they are known, and is not known as another output. No clock
of ours says where to look, since hosts may be a minute apart: message ids are made by Discord alone.
"""

from collections.abc import Set
from dataclasses import dataclass

from schemas.deliveries import SendText
from schemas.identities import nonce
from schemas.inbox import Failed, Sent
from services.delivery.channels import Channels
from services.delivery.metrics import FOUND

NONCE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Order:
    """A text to be shown. `written_ms` is when the broker appended it, `now_ms` the time of this try, in ms since 1970.

    `after`: a message that came before it. `others`: messages that are known to be other outputs.
    """

    text: SendText
    written_ms: int
    now_ms: int
    after: str
    others: Set[str]


async def send_text(channels: Channels, order: Order) -> Sent | Failed:
    """Show the text, or find that it is shown; raises Unavailable where it may be shown later."""
    if order.now_ms - order.written_ms >= NONCE_MS:
        found = await channels.find(order.text, order.after, order.others)
        if found is not None:
            FOUND.inc()
            return found
    return await channels.post(order.text, nonce(order.text.turn, order.text.sequence))
