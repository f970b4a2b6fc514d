"""The receipts of predecessors: the inbox is read again before a text in the channel counts as an order's own.

The look into a channel compares texts, and a process that has just started knows none of the messages that came before.
The fault that this guards against: it finds the text of an earlier output of the same words and takes it for the
order's own. Whatever stands in `deliveries` before the order is either committed, so that its receipt is in the inbox,
or was read again by this process, which so knows the message. After this all messages but the order's own are known.

Only read where a message was found, which is rare: an order that is old or cancelled and may have been sent. It begins
with the turn's message, by Discord's time, less what the broker's clock may differ from Discord's.
"""

import asyncio
from collections.abc import Collection

from schemas.discord import created_ms
from schemas.identities import message_of_turn
from schemas.inbox import DeliveryReceipt
from schemas.registry import decode_any
from services.delivery.memory import Outcomes
from services.runtime.log import Log, LogRecord

CLOCKS_APART_MS = 120_000


class Receipts:
    """Reads receipts into `outcomes`, once a partition as far back as was asked for."""

    def __init__(self, log: Log, outcomes: Outcomes) -> None:
        self._log = log
        self._outcomes = outcomes
        self._since: dict[int, int] = {}
        self._one_at_a_time = asyncio.Lock()

    async def read(self, partition: int, turn: str) -> bool:
        """Know all receipts that were written since the turn's message; whether there was anything to read.

        Raises Unavailable while no broker answers.
        """
        since_ms = max(0, created_ms(message_of_turn(turn)) - CLOCKS_APART_MS)
        async with self._one_at_a_time:
            if self._since.get(partition, since_ms + 1) <= since_ms:
                return False
            async for record in self._log.read_to_end("inbox", (partition,), since_ms=since_ms):
                self._take(record)
            self._since[partition] = since_ms
        return True

    def _take(self, record: LogRecord) -> None:
        receipt = decode_any(record.headers, record.value, DeliveryReceipt)
        if receipt is not None and self._outcomes.get(receipt.turn, receipt.sequence) is None:
            self._outcomes.put(receipt.turn, receipt.sequence, receipt.outcome)

    def forget(self, partitions: Collection[int]) -> None:
        """Another owner may write receipts for the partitions."""
        for partition in partitions:
            self._since.pop(partition, None)
