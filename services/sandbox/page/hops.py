"""The steps of a turn from its message to the first message shown, and how long each took."""

from services.sandbox.page.jsontypes import HopView

DISCORD_EPOCH_MS = 1_420_070_400_000

_STEPS = (
    ("MessageReceived", "gateway", "inbox", "its message"),
    ("GenerationRequested", "orchestrator", "generations", "its generation"),
    ("ProviderRequest", "context", "prompts", "its prompt"),
    ("RawSlice", "provider", "raw", "the first bytes"),
    ("ChunkBatch", "normalizer", "inbox", "the first chunk"),
    ("SendText", "orchestrator", "deliveries", "the first text"),
    ("DeliveryReceipt", "delivery", "inbox", "the first message shown"),
)
_WAITED = "the end of the turn before"
_TYPES = frozenset(step[0] for step in _STEPS)


def message_ms(turn: str) -> int | None:
    """When Discord made the message that started the turn, in ms since 1970: its snowflake says so.

    https://discord.com/developers/docs/reference#snowflakes
    """
    digits = turn[1:]
    if turn[:1] != "m" or not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        return None
    return (int(digits) >> 22) + DISCORD_EPOCH_MS


class Hops:
    """The first record of each step of one turn, whatever the order in which the topics were read."""

    def __init__(self) -> None:
        self._first_ms: dict[str, int] = {}

    def note(self, record_type: str, at_ms: int) -> None:
        """Take a record into account."""
        if record_type in _TYPES:
            self._first_ms[record_type] = min(at_ms, self._first_ms.get(record_type, at_ms))

    def first_ms(self, record_type: str) -> int | None:
        """When the step of this record was taken."""
        return self._first_ms.get(record_type)

    def view(self, began_ms: int, waited_until_ms: int | None) -> list[HopView]:
        """The steps that were taken, with the end of the turn that this one waited for, if any.

        A record that seems older than the one that led to it took 0 ms: clocks differ.
        """
        hops: list[HopView] = []
        before_ms = began_ms

        def add(at_ms: int, worker: str | None, topic: str, step: str) -> None:
            nonlocal before_ms
            at_ms = max(at_ms, before_ms)
            hops.append(HopView(step=step, worker=worker, topic=topic, at_ms=at_ms, took_ms=at_ms - before_ms))
            before_ms = at_ms

        for record_type, worker, topic, step in _STEPS:
            first_ms = self._first_ms.get(record_type)
            if record_type == "GenerationRequested" and waited_until_ms is not None:
                add(waited_until_ms if first_ms is None else min(waited_until_ms, first_ms), None, "turns", _WAITED)
            if first_ms is not None:
                add(first_ms, worker, topic, step)
        return hops
