"""What the worker makes of records that are no prompts."""

from typing import Any

import pytest

from schemas.errors import UnknownRecordType
from schemas.headers import Facts
from schemas.inbox import GenerationFailed
from schemas.registry import decode
from schemas.stops import TurnInterrupted
from services.provider.worker import Provider
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import LogRecord
from services.runtime.outputs import output


def record_of(new: Any) -> LogRecord:
    return LogRecord("prompts", 0, 3, 0, new.key, new.value, new.headers)


async def test_a_prompt_is_streamed(bench: Any) -> None:
    await Provider(bench.streams).handle(bench.inbound(bench.request()))
    assert bench.end().ending == "eof"


async def test_another_record_is_no_prompt(bench: Any) -> None:
    stray = TurnInterrupted(channel_id="900", turn="m1", reason="internal")
    record = record_of(output("prompts", stray, channel="900", event_id="e"))
    facts = Facts(type="TurnInterrupted", version=1, id="e", channel="900")
    inbound = Inbound(record, facts, bench.sender, Pending(lambda: None))
    with pytest.raises(UnknownRecordType):
        await Provider(bench.streams).handle(inbound)


async def test_a_refused_prompt_ends_its_generation_in_its_channel(bench: Any) -> None:
    record = LogRecord("prompts", 0, 3, 0, b"900", b"{", ())
    facts = Facts(type="ProviderRequest", version=1, id="prompt:m1:2", channel="900", turn="m1", generation=2, cause=5)
    (new,) = Provider(bench.streams).refuse(record, facts, "invalid_value", "not JSON")
    told, failed = decode(new.headers, new.value)
    assert (new.topic, new.key, told.cause) == ("inbox", b"900", 5)
    assert isinstance(failed, GenerationFailed)
    assert (failed.turn, failed.generation, failed.error.code, failed.error.retryable) == (
        "m1", 2, "invalid_value", False,
    )  # fmt: skip


async def test_a_refused_record_of_no_turn_ends_nothing(bench: Any) -> None:
    record = LogRecord("prompts", 0, 3, 0, b"900", b"{", ())
    assert Provider(bench.streams).refuse(record, None, "header_missing", "no type") == []
