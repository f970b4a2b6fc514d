"""The port through which delivery reaches Discord."""

from collections.abc import Set
from typing import Protocol

from schemas.deliveries import ClearStopButton, SendText
from schemas.inbox import Failed, Sent


class Channels(Protocol):
    """Discord's channels. Every call raises Unavailable where the same call may succeed later.

    Whatever changes something there passes the fence (`services.delivery.fence`) just before its request goes out.
    """

    async def post(self, order: SendText, nonce: str) -> Sent | Failed:
        """Make one message. Discord itself drops a repetition of the nonce for a few minutes."""
        ...

    async def find(self, order: SendText, after: str, others: Set[str]) -> Sent | None:
        """Look whether the message is there: the bot's own, the same text, with a higher id than `after`.

        `others` are message ids that are known to be other outputs.
        """
        ...

    async def clear_stop_button(self, order: ClearStopButton) -> None:
        """Take the button off a message; what Discord refuses for good is logged."""
        ...

    async def show_typing(self, channel: str) -> bool:
        """Show the typing indicator once; False where the channel refuses it for good."""
        ...
