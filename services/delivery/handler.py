"""The delivery worker's handler: one order after another in each channel, with a receipt for each text."""

import time
from collections.abc import Callable, Collection
from functools import partial

from schemas.deliveries import Cancel, ClearStopButton, SendText, Typing
from schemas.discord import created_ms
from schemas.errors import BadRecord, UnknownRecordType
from schemas.headers import Facts
from schemas.identities import message_of_turn
from schemas.inbox import DeliveryReceipt, Failed, Outcome, Skipped
from schemas.registry import decode
from services.delivery.channels import Channels
from services.delivery.fence import Fence
from services.delivery.heartbeats import Heartbeats, Pace
from services.delivery.looking import Looks
from services.delivery.memory import Cancels, Outcomes
from services.delivery.metrics import RECEIPTS, SEND_SECONDS
from services.delivery.receipts import Receipts
from services.delivery.sending import send_text
from services.delivery.take_overs import TakeOvers
from services.runtime.clock import Clock
from services.runtime.inbound import Inbound
from services.runtime.log import Log, LogRecord, NewRecord
from services.runtime.outputs import output

CANCELLED = "cancelled"
_WITHOUT_RECEIPT = frozenset(model.__name__ for model in (Typing, ClearStopButton, Cancel))
_OVERTAKES = frozenset(model.__name__ for model in (Typing, Cancel))


class DeliveryHandler:
    """Shows a turn's outputs. `channels` gives the way to Discord or raises Unavailable."""

    def __init__(
        self, channels: Callable[[], Channels], clock: Clock, log: Log, fence: Fence, pace: Pace | None = None
    ) -> None:
        self._channels = channels
        self._clock = clock
        self._fence = fence
        self._outcomes = Outcomes()
        self._receipts = Receipts(log, self._outcomes)
        self._looks = Looks(self._outcomes, self._receipts)
        self._take_overs = TakeOvers(log.ends)
        self._cancels = Cancels()
        self._heartbeats = Heartbeats(self._show_typing, pace)

    async def handle(self, inbound: Inbound) -> None:
        """Carry out one order; raises BadRecord or Unavailable."""
        _, order = decode(inbound.record.headers, inbound.record.value)
        match order:
            case SendText():
                outcome = await self._shown(order, inbound)
                inbound.emit(_receipt(order.channel_id, order.turn, order.sequence, inbound.facts.cause, outcome))
            case ClearStopButton():
                await self._fence.passed()
                await self._channels().clear_stop_button(order)
            case _:
                raise UnknownRecordType(f"{inbound.facts.type[:60]!r} is no order for delivery")

    def arrived(self, inbound: Inbound) -> bool:
        """Carry out a Cancel and typing at once, before the orders that still wait in the channel's mailbox.

        So a channel whose texts Discord does not take gathers texts only, and the fold puts out no more than a few.
        """
        if inbound.facts.type not in _OVERTAKES:
            return False
        try:
            _, order = decode(inbound.record.headers, inbound.record.value)
        except BadRecord:
            return False  # `handle` raises it again, where it is dead-lettered
        match order:
            case Cancel():
                self._cancel(order)
            case Typing():
                self._type(order, inbound.record)
            case _:
                return False
        return True

    async def recover(self, partitions: Collection[int]) -> None:
        """Nothing to load: what was sent is known to Discord."""
        self._take_overs.begin(partitions)

    def dropped(self, partitions: Collection[int]) -> None:
        """Stop typing there. Outcomes and cancels stay, since they hold whoever owns the partition."""
        self._heartbeats.drop(partitions)
        self._take_overs.forget(partitions)
        self._receipts.forget(partitions)

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        """A failed receipt for an order that cannot be carried out, so that its turn does not wait for it."""
        if facts is None or facts.turn is None or facts.sequence is None or facts.type in _WITHOUT_RECEIPT:
            return []
        failed = Failed(code=reason, reason=message)
        return [_receipt(facts.channel, facts.turn, facts.sequence, facts.cause, failed)]

    async def close(self) -> None:
        """Stop typing everywhere."""
        self._take_overs.close()
        await self._heartbeats.close()

    async def _shown(self, order: SendText, inbound: Inbound) -> Outcome:
        known = self._outcomes.get(order.turn, order.sequence)
        if known is not None:
            return known
        await self._fence.passed()
        began = time.perf_counter()
        async with self._heartbeats.quiet(order.channel_id):
            channels = self._channels()
            now_ms = self._clock.now_ms()
            tried_since_ms = self._tried_since_ms(order, inbound)
            look = partial(self._looks.find, channels, order, inbound.record.partition)
            if self._cancels.begin(order.turn, order.sequence, now_ms):
                outcome = await send_text(channels, order, tried_since_ms=tried_since_ms, now_ms=now_ms, look=look)
                SEND_SECONDS.observe(time.perf_counter() - began)
            else:
                # An earlier owner may have sent it and died before its receipt.
                shown = None if tried_since_ms is None else await look()
                outcome = Skipped(reason=CANCELLED) if shown is None else shown
        self._outcomes.put(order.turn, order.sequence, outcome)
        return outcome

    def _tried_since_ms(self, order: SendText, inbound: Inbound) -> int | None:
        """Since when the order may have been sent, by anybody; None where nobody can have."""
        record = inbound.record
        if self._take_overs.may_be_sent(record.partition, record.offset, inbound.facts.cause):
            # The record may be a copy, and its first one as old as the turn.
            return created_ms(message_of_turn(order.turn))
        return self._cancels.begun_ms(order.turn, order.sequence)

    def _type(self, order: Typing, record: LogRecord) -> None:
        if order.active:
            age_s = max(0, self._clock.now_ms() - record.timestamp_ms) / 1000
            self._heartbeats.begin(order.channel_id, order.turn, partition=record.partition, age_s=age_s)
        else:
            self._heartbeats.end(order.channel_id, order.turn)

    def _cancel(self, order: Cancel) -> None:
        self._cancels.put(order.turn, order.first)
        self._heartbeats.end(order.channel_id, order.turn)

    async def _show_typing(self, channel: str) -> bool:
        return await self._channels().show_typing(channel)


def _receipt(channel: str, turn: str, sequence: int, cause: int | None, outcome: Outcome) -> NewRecord:
    RECEIPTS.labels(outcome.kind).inc()
    return output(
        "inbox",
        DeliveryReceipt(turn=turn, sequence=sequence, outcome=outcome),
        channel=channel,
        event_id=f"receipt:{turn}:{sequence}",
        turn=turn,
        sequence=sequence,
        cause=cause,
    )
