"""Records that no worker can use: one dead letter each, a visible end of their turn, and what follows goes on."""

from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from schemas.claims import Closed
from schemas.generations import GenerationRequested
from schemas.headers import Facts, HeaderReader
from services.runtime.log import NewRecord
from services.runtime.outputs import bare
from services.sandbox.discord.faults import Fault
from services.sandbox.provider.script import Hang, Stream, Text, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

RECORDS = {
    "inbox": ("ChunkBatch", "orchestrator"),
    "generations": ("GenerationRequested", "context"),
    "prompts": ("ProviderRequest", "provider"),
    "raw": ("RawSlice", "normalizer"),
    "deliveries": ("SendText", "delivery"),
}
STARTED = Stream((Text("The beginning.\n\nThe rest"),), Hang())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(open_crowd: Any, kafka: Any) -> Any:
    async with open_crowd(kafka.bootstrap, broker=kafka.kind) as crowd:
        yield crowd


def stranger() -> str:
    """A turn that nobody knows."""
    return f"m{uuid4().int % 10**18}"


def bad(talk: Any, topic: str, turn: str | None = None, value: bytes = b"{}", **facts: Any) -> NewRecord:
    """A record with all facts of its topic, and no fitting value."""
    known = {"type": RECORDS[topic][0], "version": 1, "id": f"bad:{uuid4().hex}", "channel": talk.id}
    place = {} if turn is None else {"turn": turn, "generation": 1, "sequence": 0}
    return bare(topic, value, Facts(**(known | place | facts)))


async def dead_letter(crowd: Any, topic: str, appended: Any) -> dict[str, bytes]:
    """The headers of the one dead letter whose origin is this record."""
    origin = {
        ("dead-letter-topic", topic.encode()),
        ("dead-letter-partition", b"%d" % appended.partition),
        ("dead-letter-offset", b"%d" % appended.offset),
    }

    def found() -> list[dict[str, bytes]]:
        return [dict(read.headers) for read in crowd.records["dead-letters"] if origin <= set(read.headers)]

    await crowd.until(found, f"a dead letter of {topic} {appended}")
    [headers] = found()
    return headers


@pytest.mark.parametrize("topic", RECORDS)
async def test_bad_records_become_dead_letters_and_what_follows_goes_on(crowd: Any, topic: str) -> None:
    talk = crowd.talk()
    elsewhere = (talk.partition + 1) % 8
    written = [
        ("header_missing", NewRecord(topic, talk.id.encode(), b"{}", ()), talk.partition),
        ("header_missing", NewRecord(topic, talk.id.encode(), b"not JSON", (("type", b"x"),)), talk.partition),
        ("header_invalid", NewRecord(topic, talk.id.encode(), b"", (("type", b"\xff"),)), talk.partition),
        ("wrong_partition", bad(talk, topic, stranger()), elsewhere),
        ("newer_version", bad(talk, topic, stranger(), version=99), talk.partition),
    ]
    if topic == "raw":
        written += [("unknown_type", bad(talk, topic, stranger(), type="Nonsense"), talk.partition)]
    else:
        written += [
            ("invalid_value", bad(talk, topic, stranger()), talk.partition),
            ("invalid_value", bad(talk, topic, stranger(), value=b"not JSON"), talk.partition),
            ("invalid_value", bad(talk, topic, stranger(), value=b"\xff\xfe"), talk.partition),
            ("unknown_type", bad(talk, topic, stranger(), type="Nonsense"), talk.partition),
            ("unknown_type", bad(talk, topic, type="ChannelSnapshot", value=_snapshot(talk)), talk.partition),
        ]
    for reason, new, partition in written:
        appended = await crowd.append(topic, new, partition)
        headers = await dead_letter(crowd, topic, appended)
        assert headers["dead-letter-reason"] == reason.encode()
        assert headers["dead-letter-service"] == RECORDS[topic][1].encode()
        assert headers["dead-letter-message"]
        assert {f"original-{name}": value for name, value in new.headers}.items() <= headers.items()
    turn = talk.say("Say hello.")
    assert (await talk.finished(turn)).status == "completed"


@pytest.mark.parametrize("topic", ["inbox", "generations", "raw"])
async def test_the_turn_of_a_bad_record_ends_with_an_error_that_is_seen(crowd: Any, topic: str) -> None:
    talk = crowd.talk()
    turn = talk.say("Anything.", play=STARTED)
    await talk.shows(1)
    appended = await crowd.append(topic, bad(talk, topic, turn), talk.partition)
    await dead_letter(crowd, topic, appended)
    assert (await talk.finished(turn)).status == "error"
    [notice] = talk.notices
    assert "operator" in notice
    assert talk.words == ["The", "beginning.", "The", "rest"][: len(talk.words)]
    closed = await crowd.provider.wait_until_closed(await talk.called(turn))
    assert closed.how == "client-closed"
    assert (await talk.finished(talk.say("Say hello."))).status == "completed"


async def test_the_turn_of_a_bad_prompt_ends_and_a_good_one_that_follows_is_not_sent(crowd: Any) -> None:
    talk = crowd.talk()
    crowd.discord.faults.add(Fault("GET", f"/channels/{talk.id}/messages", delay_s=2.0))
    turn = talk.say("Anything.")
    await crowd.until(lambda: talk.records("generations", GenerationRequested), "a generation")
    appended = await crowd.append("prompts", bad(talk, "prompts", turn), talk.partition)
    await dead_letter(crowd, "prompts", appended)
    assert (await talk.finished(turn)).status == "error"
    [notice] = talk.notices
    assert "operator" in notice
    await crowd.until(lambda: talk.records("claims", Closed), "the end of the good prompt")
    assert [closed.outcome for _, closed in talk.records("claims", Closed)] == ["stopped"]
    assert talk.calls(turn) == []
    assert (await talk.finished(talk.say("Say hello."))).status == "completed"


async def test_a_bad_delivery_fails_its_receipt_alone(crowd: Any) -> None:
    talk = crowd.talk()
    turn = talk.say("Anything.", play=STARTED)
    await talk.shows(1)
    appended = await crowd.append("deliveries", bad(talk, "deliveries", turn, sequence=90), talk.partition)
    await dead_letter(crowd, "deliveries", appended)
    talk.press_stop()
    assert (await talk.finished(turn)).status == "stopped_by_user"
    assert talk.words == ["The", "beginning.", "The", "rest"][: len(talk.words)]


async def test_an_output_over_its_topics_limit_ends_its_turn_with_an_error(crowd: Any) -> None:
    talk = crowd.talk()
    pieces = ('{"text":"', *["x" * 100_000] * 11, '"}')
    turn = talk.say("Anything.", play=Stream((Text("Before."), ToolCall("write", pieces))))
    assert (await talk.finished(turn)).status == "error"
    [notice] = talk.notices
    assert "bot's side" in notice
    assert talk.words == ["Before."]
    found = [dead for dead in crowd.records["dead-letters"] if dead.key == talk.id.encode()]
    assert [HeaderReader(dead.headers).text("dead-letter-reason") for dead in found] == ["too_large"]
    assert (await talk.finished(talk.say("Say hello."))).status == "completed"


async def test_at_rest_every_bad_record_is_committed_and_has_one_dead_letter(crowd: Any) -> None:
    talk = crowd.talk()
    await talk.finished(talk.say("Say hello."))
    await crowd.at_rest()
    origins = [HeaderReader(read.headers).need("id") for read in crowd.records["dead-letters"]]
    assert len(origins) == len(set(origins))
    assert crowd.leaks() == []
    assert crowd.contradictions() == []


def _snapshot(talk: Any) -> bytes:
    return b'{"channel_id":"%s","settled":0,"state_version":1,"state":{}}' % talk.id.encode()
