"""Looking into a channel for what an order may have made there.

History tells no nonces, so a message counts as the order's if it is the bot's, has the same text, came after the
turn's message and the outputs before it, and is not known as another output. No clock of ours says where to look, since
hosts may be a minute apart: message ids are made by Discord alone. Where a message is found, the receipts of
predecessors are read first and the look is repeated, so that no other output of the same words is taken for it.
"""

from schemas.deliveries import SendText
from schemas.identities import message_of_turn
from schemas.inbox import Outcome, Sent
from services.delivery.channels import Channels
from services.delivery.memory import Outcomes
from services.delivery.receipts import Receipts


class Looks:
    """Looks that know what this process and, where it matters, its predecessors sent."""

    def __init__(self, outcomes: Outcomes, receipts: Receipts) -> None:
        self._outcomes = outcomes
        self._receipts = receipts

    async def find(self, channels: Channels, order: SendText, partition: int) -> Outcome | None:
        """What became of the order, None where it was not sent; raises Unavailable where that cannot be told now."""
        found = await self._look(channels, order)
        if found is None or not await self._receipts.read(partition, order.turn):
            return found
        known = self._outcomes.get(order.turn, order.sequence)
        return known if known is not None else await self._look(channels, order)

    async def _look(self, channels: Channels, order: SendText) -> Sent | None:
        # Outputs of a turn are shown one after another, so what came before an output bounds where it can stand.
        after = self._outcomes.last_message(order.turn, order.sequence) or message_of_turn(order.turn)
        return await channels.find(order, after, self._outcomes.message_ids())
