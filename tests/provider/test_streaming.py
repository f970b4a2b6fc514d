"""A prompt from its claim to the end of its stream, over real HTTP."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.attempts import AttemptFacts, Chosen, CredentialSource
from schemas.chunks import ProviderError
from schemas.claims import Claimed, Closed
from schemas.context import BlobRef
from schemas.inbox import GenerationFailed
from schemas.prompts import BlobPlace, CredentialRef, KnownTool, StreamDeadlines
from schemas.raw import RawSlice
from schemas.registry import decode
from schemas.stops import ChannelTurns, StopRequested
from services.provider.exchange import MOST_BODY_BYTES, MOST_ERROR_BYTES
from services.provider.recording import MOST_UNACKNOWLEDGED
from services.runtime.blobs.folder import FolderStore
from services.runtime.outputs import output
from services.sandbox.provider.script import (
    Answer,
    Eof,
    EveryBytes,
    Hang,
    KeepAlive,
    Recording,
    Reset,
    Stream,
    Text,
)

EFFECT = "stream:m1000:1"
LONG = (b"data: " + b"x" * 8184 + b"\n\n") * 8
BODY = b'data: {"choices":[{"delta":{"content":"thread"}}]}\n\n'


def quick(**limits: int) -> StreamDeadlines:
    return StreamDeadlines(
        **{"connect_ms": 5_000, "first_byte_ms": 60_000, "idle_ms": 60_000, "total_ms": 60_000} | limits
    )


async def others_claim(bench: Any, instance: str = "provider-1") -> None:
    claimed = Claimed(effect=EFFECT, instance=instance, incarnation=f"{instance}:b")
    await bench.sender.send(output("claims", claimed, channel="900", event_id="x"))


async def others_close(bench: Any, outcome: Any) -> None:
    closed = Closed(effect=EFFECT, outcome=outcome, by="provider-1:b")
    await bench.sender.send(output("claims", closed, channel="900", event_id="y"))


def failure(bench: Any) -> ProviderError:
    """Why the generation failed without a call."""
    (record,) = bench.log.topics["inbox"]
    _, failed = decode(record.headers, record.value)
    assert isinstance(failed, GenerationFailed)
    return failed.error


async def test_a_stream_is_written_byte_for_byte_and_ends_once(bench: Any) -> None:
    body = BODY * 50 + b"data: [DONE]\n\n"
    bench.play(Recording(body, cuts=EveryBytes(7)))
    await bench.run()
    assert bench.body() == body
    end = bench.end()
    assert (end.ending, end.http_status, end.detail) == ("eof", 200, None)
    assert bench.closings() == ["done"]
    facts, record, _ = bench.raw()[0]
    assert isinstance(record, RawSlice)
    assert (record.http_status, record.content_type) == (200, "text/event-stream; charset=utf-8")
    assert (facts.id, facts.channel, facts.turn, facts.generation, facts.cause) == (
        "raw:m1000:1:provider-0:0", "900", "m1000", 1, 7,
    )  # fmt: skip


async def test_raw_records_name_the_provider_and_the_first_the_tools(bench: Any) -> None:
    tools = (KnownTool(name="draw"), KnownTool(name="now", needs_arguments=False))
    bench.play(Recording(BODY * 20_000))
    await bench.run(bench.request(provider="custom:home", verbatim_tools=tools, attempt=facts()))
    records = [record for _, record, _ in bench.raw()]
    assert {record.origin.provider for record in records} == {"custom:home"}
    told = [record.verbatim_tools for record in records if isinstance(record, RawSlice)]
    assert (told[0], set(told[1:])) == (tools, {()})


async def test_every_record_of_a_stream_carries_the_turns_stamp(bench: Any) -> None:
    bench.play(Recording(BODY * 3))
    await bench.run(bench.request(rules_version=3))
    assert {record.origin.rules_version for _, record, _ in bench.raw()} == {3}


async def test_the_end_of_a_stream_says_what_the_call_used(bench: Any) -> None:
    used = AttemptFacts(chosen=Chosen(provider="home", model="m", credential="openai"), droppable=("top_k",))
    await bench.run(bench.request(attempt=used))
    assert bench.end().attempt == used


async def test_the_request_carries_key_and_body_and_asks_for_no_compression(bench: Any) -> None:
    request = bench.request(headers={"X-Extra": "1"})
    await bench.run(request)
    call = await bench.sandbox.wait_for_call()
    assert call.body == request.body
    assert call.headers["accept-encoding"] == "identity"
    assert call.headers["content-type"] == "application/json"
    assert call.headers["x-extra"] == "1"
    assert bench.end().ending == "eof"  # the sandbox refuses any other key


async def test_many_tiny_writes_become_few_records(bench: Any) -> None:
    bench.play(Recording(BODY * 400, cuts=EveryBytes(3)))
    await bench.run()
    assert bench.body() == BODY * 400
    assert len(bench.raw()) < 400


async def test_a_stop_in_mid_stream_closes_the_connection_and_keeps_what_came(bench: Any) -> None:
    bench.play(Recording(BODY, ending=Hang()))
    running = bench.start()
    await bench.appended("raw", 1)
    call = await bench.sandbox.wait_for_call()
    await bench.stop_turn()
    await running
    assert (await bench.sandbox.wait_until_closed(call)).how == "client-closed"
    assert bench.body() == BODY
    assert bench.end().ending == "stopped"
    assert bench.closings() == ["stopped"]


async def test_a_stop_while_the_provider_is_silent_closes_the_connection(bench: Any) -> None:
    bench.play(Stream(steps=(), ending=Hang()))
    running = bench.start()
    call = await bench.sandbox.wait_for_call()
    await bench.stop_turn()
    await running
    assert (await bench.sandbox.wait_until_closed(call)).how == "client-closed"
    assert [end.ending for end in bench.ends()] == ["stopped"]


async def test_a_stop_before_the_prompt_makes_no_call(bench: Any) -> None:
    await bench.stop_turn()
    await bench.run()
    assert bench.sandbox.calls == ()
    assert bench.end().ending == "stopped"
    assert bench.closings() == ["stopped"]


async def test_a_stop_of_the_whole_channel_hits_the_streams_of_older_messages(bench: Any) -> None:
    bench.play(Recording(BODY, ending=Hang()))
    running = bench.start()
    await bench.appended("raw", 1)
    stop = StopRequested(
        channel_id="900", stop_id="2000", target=ChannelTurns(before="2000"), manner="kill", requested_by="1"
    )
    await bench.sender.send(output("control", stop, channel="900", event_id="stop:2000"))
    await running
    assert bench.end().ending == "stopped"


async def test_a_reply_that_comes_faster_than_anybody_reads_is_left_in_the_connection_until_it_is_stopped(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.provider.exchange.FREE_BYTES", 1)
    monkeypatch.setattr("services.provider.exchange.BYTES_A_S", 1)
    bench.play(Recording(LONG * 64, cuts=EveryBytes(1 << 16)))
    running = bench.start(bench.request(deadlines=quick(idle_ms=1_000)))
    await bench.appended("raw", 1)
    await bench.stop_turn()
    await running
    assert 0 < len(bench.body()) < len(LONG) * 32
    assert bench.end().ending == "stopped"


async def test_an_old_prompt_is_not_sent(bench: Any) -> None:
    bench.clock.now += 240_001
    await bench.run()
    assert bench.sandbox.calls == ()
    assert bench.end().ending == "expired"
    assert bench.closings() == ["expired"]


async def test_a_prompt_that_has_ended_is_not_sent_again(bench: Any) -> None:
    await bench.run()
    records = len(bench.raw())
    bench.clock.now += 300_000
    await bench.run()
    assert len(bench.sandbox.calls) == 1
    assert len(bench.raw()) == records


async def test_a_prompt_that_another_process_streams_is_only_watched(bench: Any) -> None:
    await others_claim(bench)
    running = bench.start()
    await others_close(bench, "done")
    await running
    assert bench.sandbox.calls == ()
    assert bench.raw() == []


@pytest.mark.parametrize("closed_before", [True, False])
async def test_a_stream_that_another_process_lost_gets_its_end(bench: Any, closed_before: bool) -> None:
    await others_claim(bench)
    if closed_before:
        await others_close(bench, "lost")
    running = bench.start(bench.request(rules_version=3))
    if not closed_before:
        await others_close(bench, "lost")
    await running
    await bench.appended("raw", 1)
    assert bench.sandbox.calls == ()
    ((facts, end, _),) = bench.raw()
    assert (end.ending, end.sequence, facts.id) == ("lost", None, "raw:m1000:1:lost")
    assert end.origin.rules_version == 3


async def test_a_prompt_that_comes_back_while_its_stream_runs_here_makes_no_second_call(bench: Any) -> None:
    bench.play(Recording(BODY, ending=Hang()))
    first = bench.start()
    await bench.appended("raw", 1)
    second = bench.start()
    await bench.stop_turn()
    await asyncio.gather(first, second)
    assert len(bench.sandbox.calls) == 1
    assert bench.end().ending == "stopped"


async def test_a_cancelled_stream_says_that_it_is_lost(bench: Any) -> None:
    bench.play(Recording(BODY, ending=Hang()))
    running = bench.start()
    await bench.appended("raw", 1)
    call = await bench.sandbox.wait_for_call()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await bench.sandbox.wait_until_closed(call)).how == "client-closed"
    end = bench.end()
    assert (end.ending, end.sequence) == ("lost", 1)
    assert bench.closings() == ["lost"]


async def test_a_provider_that_does_not_begin_is_given_up(bench: Any) -> None:
    bench.play(Stream(steps=(), ending=Hang()))
    await bench.run(bench.request(deadlines=quick(first_byte_ms=50)))
    assert bench.end().ending == "first_byte_timeout"
    assert bench.closings() == ["failed"]


@pytest.mark.parametrize("form", ["comment", "empty", "ping"])
async def test_keep_alives_do_not_count_as_a_beginning(bench: Any, form: Any) -> None:
    dialect = "anthropic" if form == "ping" else "openai-chat"
    kept = b'event: ping\ndata: {"type": "ping"}\n\n' if form == "ping" else b": on it\n\ndata:\n\n"
    bench.play(Recording(kept * 200, pace_ms=5, ending=Hang()))
    await bench.run(bench.request(dialect=dialect, deadlines=quick(first_byte_ms=60)))
    assert bench.end().ending == "first_byte_timeout"


async def test_a_stream_that_falls_silent_is_given_up_although_it_keeps_the_connection_alive(bench: Any) -> None:
    bench.play(Stream(steps=(Text(("one",)), KeepAlive(count=500, every_ms=5)), ending=Hang()))
    await bench.run(bench.request(deadlines=quick(idle_ms=60)))
    assert b"one" in bench.body()
    assert bench.end().ending == "idle_timeout"


async def test_an_endless_stream_is_given_up(bench: Any) -> None:
    bench.play(Stream(steps=(Text(("on and on ",) * 2000),), pace_ms=5))
    await bench.run(bench.request(deadlines=quick(total_ms=80)))
    assert bench.end().ending == "total_timeout"


async def test_a_refused_connection_is_told(bench: Any, unused_tcp_port: int) -> None:
    await bench.run(bench.request(url=f"http://127.0.0.1:{unused_tcp_port}/v1/chat/completions"))
    end = bench.end()
    assert end.ending == "connect_failed"
    assert end.detail is not None
    assert end.detail.startswith("ConnectError")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "http://[::bad/x", "no-scheme", "http://host.invalid/x"])
async def test_an_address_that_cannot_be_called_is_told(bench: Any, url: str) -> None:
    await bench.run(bench.request(url=url))
    assert bench.end().ending == "connect_failed"


async def test_a_broken_connection_is_told_after_what_came(bench: Any) -> None:
    bench.play(Recording(BODY * 3, ending=Reset()))
    await bench.run()
    assert bench.end().ending == "reset"
    assert bench.body() == BODY * 3


async def test_a_body_that_ends_too_early_without_a_finish_is_the_normalizers_to_judge(bench: Any) -> None:
    bench.play(Recording(BODY, ending=Eof()))
    await bench.run()
    assert bench.end().ending == "eof"


@pytest.mark.parametrize("status", [302, 400, 401, 429, 500, 529])
async def test_an_http_error_keeps_status_body_and_retry_after(bench: Any, status: int) -> None:
    told = {"retry-after": "17", "x-should-retry": "false", "x-secret": "no"}
    bench.play(Answer(status, headers=told, body=b'{"error":{"message":"no"}}'))
    await bench.run()
    end = bench.end()
    assert (end.ending, end.http_status, end.retry_after) == ("http_error", status, "17")
    assert end.retry_hints == (("x-should-retry", "false"),)
    assert bench.body() == b'{"error":{"message":"no"}}'
    assert bench.closings() == ["failed"]


async def test_a_redirect_is_not_followed(bench: Any) -> None:
    bench.play(Answer(307, headers={"location": f"{bench.url}/v1/messages"}, body=b""))
    await bench.run()
    assert bench.end().http_status == 307
    assert len(bench.sandbox.calls) == 1


async def test_a_huge_error_body_is_cut(bench: Any) -> None:
    bench.play(Answer(500, body=b"x" * (MOST_ERROR_BYTES + 1000)))
    await bench.run()
    assert bench.end().ending == "http_error"
    assert len(bench.body()) == MOST_ERROR_BYTES


async def test_a_huge_reply_is_cut(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.provider.exchange.FREE_BYTES", MOST_BODY_BYTES)
    bench.play(Recording((b"data: " + b"x" * 1018) * (MOST_BODY_BYTES // 1024 + 10), cuts=EveryBytes(1 << 20)))
    await bench.run()
    assert bench.end().ending == "too_large"
    assert len(bench.body()) == MOST_BODY_BYTES


async def test_an_echoed_key_is_masked_wherever_it_stands(bench: Any) -> None:
    echo = f"your key {bench.key} is wrong".encode()
    bench.play(Answer(401, headers={"retry-after": bench.key}, content_type=f"text/{bench.key}", body=echo))
    await bench.run()
    assert bench.body() == echo.replace(bench.key.encode(), b"*" * len(bench.key))
    assert any(record.masked for _, record, _ in bench.raw() if isinstance(record, RawSlice))
    written = b"".join(
        (record.value or b"") + b"".join(value for _, value in record.headers)
        for records in bench.log.topics.values()
        for record in records
    )
    assert bench.key.encode() not in written


async def test_an_echoed_key_is_masked_across_writes(bench: Any) -> None:
    bench.play(Recording(b"data: " + bench.key.encode() + b"\n\n", cuts=EveryBytes(5), pace_ms=40))
    await bench.run()
    assert bench.body() == b"data: " + b"*" * len(bench.key) + b"\n\n"


@pytest.mark.parametrize("key", [None, "  ", "sk-wr\nong-key-with-newline"])
async def test_an_unusable_key_ends_the_generation_with_the_settings_name(make_bench: Any, key: str | None) -> None:
    bench = await make_bench(key=key)
    await bench.run()
    assert bench.sandbox.calls == ()
    assert bench.raw() == []
    (record,) = bench.log.topics["inbox"]
    facts, failed = decode(record.headers, record.value)
    assert isinstance(failed, GenerationFailed)
    assert facts.id.startswith("failed:m1000:1:provider:")
    assert (failed.turn, failed.generation) == ("m1000", 1)
    assert "ODRADEK_OPENAI_API_KEY" in failed.error.message
    assert "ong-key" not in failed.error.message
    assert failed.attempt is None
    assert bench.closings() == ["failed"]


async def test_a_call_without_a_usable_key_says_which_key_it_was_to_use(make_bench: Any) -> None:
    bench = await make_bench(key=None)
    used = AttemptFacts(chosen=Chosen(provider="home", model="m", credential="openai"))
    await bench.run(bench.request(attempt=used))
    (record,) = bench.log.topics["inbox"]
    _, failed = decode(record.headers, record.value)
    assert isinstance(failed, GenerationFailed)
    assert failed.attempt == used


async def test_a_key_with_blanks_around_it_is_sent_without_them(make_bench: Any) -> None:
    bench = await make_bench(key="sandbox-key-0123456789\n")
    await bench.run()
    assert bench.end().http_status == 200


async def test_a_request_without_a_credential_carries_none(bench: Any) -> None:
    await bench.run(bench.request(credential=CredentialRef(name="", placement="none")))
    assert bench.end().http_status == 401


async def test_a_prompt_waits_for_a_free_stream(make_bench: Any) -> None:
    bench = await make_bench(most=1)
    bench.play(Recording(BODY, ending=Hang()))
    first = bench.start()
    await bench.appended("raw", 1)
    second = bench.start(bench.request(turn="m1001"))
    third = bench.start(bench.request(turn="m1002"))
    await bench.stop_turn("m1002")
    await third
    assert len(bench.sandbox.calls) == 1
    await bench.stop_turn("m1000")
    await asyncio.gather(first, second)
    assert len(bench.sandbox.calls) == 2
    assert sorted((end.origin.turn, end.ending) for end in bench.ends()) == [
        ("m1000", "stopped"),
        ("m1001", "eof"),
        ("m1002", "stopped"),
    ]


async def test_a_guild_that_asks_for_everything_does_not_keep_another_waiting(make_bench: Any) -> None:
    bench = await make_bench(most=5)
    bench.play(Recording(BODY, ending=Hang()), times=None)
    crowd = [bench.start(bench.request(turn=f"m{number}", guild_id="1")) for number in range(2000, 2005)]
    await bench.appended("raw", 4)
    other = bench.start(bench.request(turn="m3000", guild_id="2"))
    await bench.appended("raw", 5)
    assert [record.origin.turn for _, record, _ in bench.raw()][-1] == "m3000"
    for turn in ("m2000", "m2001", "m2002", "m2003", "m2004", "m3000"):
        await bench.stop_turn(turn)
    await asyncio.gather(*crowd, other)


async def test_direct_messages_share_as_each_channel_its_own(make_bench: Any) -> None:
    bench = await make_bench(most=5)
    bench.play(Recording(BODY, ending=Hang()), times=None)
    turns = [f"m{number}" for number in range(2000, 2005)]
    running = [bench.start(bench.request(turn=turn, channel_id=str(900 + n))) for n, turn in enumerate(turns)]
    await bench.appended("raw", 5)
    assert {record.origin.turn for _, record, _ in bench.raw()} == set(turns)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def test_a_log_that_stands_still_holds_the_stream_back(bench: Any) -> None:
    bench.log.frozen = {"raw"}
    bench.play(Recording(LONG * (MOST_UNACKNOWLEDGED * 3), cuts=EveryBytes(len(LONG))))
    running = bench.start()
    await bench.appended("raw", MOST_UNACKNOWLEDGED)
    call = await bench.sandbox.wait_for_call()
    assert call.ended is None
    assert len(bench.body()) < len(LONG) * (MOST_UNACKNOWLEDGED + 2)
    bench.log.thaw()
    await running
    assert bench.end().ending == "eof"
    assert bench.body() == LONG * (MOST_UNACKNOWLEDGED * 3)


async def test_a_stop_reaches_a_stream_that_is_held_back(bench: Any) -> None:
    bench.log.frozen = {"raw"}
    bench.play(Recording(LONG * (MOST_UNACKNOWLEDGED * 3), cuts=EveryBytes(len(LONG))))
    running = bench.start()
    await bench.appended("raw", MOST_UNACKNOWLEDGED)
    call = await bench.sandbox.wait_for_call()
    await bench.stop_turn()
    assert (await bench.sandbox.wait_until_closed(call)).how == "client-closed"
    bench.log.thaw()
    await running
    assert bench.end().ending == "stopped"


async def test_the_prompt_is_finished_only_when_its_records_are_acknowledged(bench: Any) -> None:
    bench.log.frozen = {"raw"}
    request = bench.request()
    inbound = bench.inbound(request)
    running = asyncio.create_task(bench.streams.run(inbound, request))
    await bench.appended("raw", 1)
    call = await bench.sandbox.wait_for_call()
    await bench.sandbox.wait_until_closed(call)
    assert not running.done()
    bench.log.thaw()
    await running
    assert bench.finished == []
    bench.pending.release()
    await bench.sender.flush()
    assert bench.finished == [0]


async def test_the_body_is_sent_as_compact_json(bench: Any) -> None:
    request = bench.request(body={"model": "sandbox-echo", "messages": [{"role": "user", "content": "Fäden ✂"}]})
    await bench.run(request)
    call = await bench.sandbox.wait_for_call()
    assert call.body_bytes == len(orjson.dumps(request.body))


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "blobs", keep_s=600, most_bytes=10_000_000)


async def test_blobs_are_put_into_the_body_where_the_prompt_lists_them(make_bench: Any, store: FolderStore) -> None:
    pictures = [bytes(range(256)) * 5_000, b"\x89PNG"]
    bench = await make_bench(blobs=store)
    said = "/messages/0/content/1/image_url/url"
    content = [{"type": "text", "text": said}, *({"type": "image_url", "image_url": {"url": ""}} for _ in pictures)]
    await bench.run(
        bench.request(
            body={"model": "sandbox-echo", "messages": [{"role": "user", "content": content}], "stream": True},
            blobs=tuple(
                [
                    BlobPlace(
                        path=f"/messages/0/content/{number}/image_url/url",
                        blob=await store.put(picture),
                        prefix="data:image/png;base64,",
                    )
                    for number, picture in enumerate(pictures, 1)
                ]
            ),
        )
    )
    call = await bench.sandbox.wait_for_call()
    text, *images = call.body["messages"][0]["content"]
    assert text["text"] == said
    assert [image["image_url"]["url"] for image in images] == [
        f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in pictures
    ]
    assert call.headers["content-length"] == str(call.body_bytes)
    assert bench.end().ending == "eof"


@pytest.mark.parametrize("has_store", [True, False])
async def test_a_missing_blob_ends_the_generation_with_its_name(
    make_bench: Any, store: FolderStore, has_store: bool
) -> None:
    bench = await make_bench(blobs=store if has_store else None)
    place = BlobPlace(path="/messages/0/content", blob=BlobRef(key="0" * 64, size=4))
    body = {"model": "sandbox-echo", "messages": [{"role": "user", "content": ""}]}
    await bench.run(bench.request(body=body, blobs=(place,)))
    assert failure(bench).code == "blob_missing"
    assert bench.raw() == []
    assert bench.closings() == ["failed"]


async def test_a_place_that_the_body_does_not_have_ends_the_generation(make_bench: Any, store: FolderStore) -> None:
    bench = await make_bench(blobs=store)
    await bench.run(bench.request(blobs=(BlobPlace(path="/nowhere", blob=await store.put(b"here")),)))
    assert failure(bench).code == "blob_place_invalid"
    assert bench.sandbox.calls == ()


CUSTOM = "custom:7"


def facts(source: CredentialSource = "server") -> AttemptFacts:
    return AttemptFacts(chosen=Chosen(provider=CUSTOM, model="sandbox-echo", source=source))


def key_of(kind: str) -> CredentialRef:
    """A key of the catalog, for an endpoint that wants none: only its name counts."""
    return CredentialRef(name=f"catalog/{kind}/a", placement="none")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/v1",
        "https://127.0.0.1/v1",
        "https://localhost/v1",
        "https://169.254.169.254/v1",
        "https://0x7f.1/",
    ],
)
async def test_a_custom_endpoint_in_the_operators_network_is_not_called(make_bench: Any, url: str) -> None:
    bench = await make_bench(private=False)
    await bench.run(bench.request(provider=CUSTOM, url=url))
    told = failure(bench)
    assert (told.code, told.retryable) == ("address_forbidden", False)
    assert "ODRADEK_PRIVATE_ENDPOINTS" in told.message
    assert bench.closings() == ["failed"]


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
        "http://[fd20:ce::254]/",
        "http://[fd00:42::42]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://2852039166/",
    ],
)
async def test_a_clouds_metadata_are_not_called_where_endpoints_may_lie_in_the_operators_network(
    make_bench: Any, url: str
) -> None:
    bench = await make_bench(private=True)
    await bench.run(bench.request(provider=CUSTOM, url=url, attempt=facts()))
    told = failure(bench)
    assert (told.code, told.retryable) == ("address_forbidden", False)
    assert "ODRADEK_PRIVATE_ENDPOINTS" not in told.message
    assert bench.closings() == ["failed"]


@pytest.mark.parametrize(
    "told",
    [{"attempt": facts()}, {"credential": key_of("server")}, {"credential": key_of("rotation")}],
    ids=["facts", "key", "pooled-key"],
)
async def test_a_servers_endpoint_on_this_machine_is_called_where_the_operator_allows_it(
    make_bench: Any, told: dict[str, Any]
) -> None:
    bench = await make_bench(private=True)
    await bench.run(bench.request(provider=CUSTOM, **told))
    assert len(bench.sandbox.calls) == 1


@pytest.mark.parametrize(
    "told",
    [
        {"attempt": facts("personal")},
        {"attempt": facts("personal"), "credential": key_of("server")},
        {"credential": key_of("personal")},
    ],
    ids=["facts", "facts-first", "key"],
)
@pytest.mark.parametrize("own", [False, True])
async def test_a_persons_endpoint_in_the_operators_network_is_not_called_whatever_servers_may(
    make_bench: Any, told: dict[str, Any], own: bool
) -> None:
    bench = await make_bench(private=True, own=own)
    await bench.run(bench.request(provider=CUSTOM, **told))
    assert failure(bench).code == "address_forbidden"
    assert bench.sandbox.calls == ()


async def test_an_endpoint_whose_owner_nobody_tells_is_not_called_in_the_operators_network(make_bench: Any) -> None:
    bench = await make_bench(private=True)
    await bench.run(bench.request(provider=CUSTOM))
    assert failure(bench).code == "address_forbidden"
    assert bench.sandbox.calls == ()


async def test_the_provider_that_the_settings_name_is_called_wherever_it_is(make_bench: Any) -> None:
    bench = await make_bench(private=False, own=True)
    await bench.run(bench.request(provider=CUSTOM))
    assert bench.end().ending == "eof"


async def test_an_endpoint_whose_name_is_not_known_has_not_been_reached(make_bench: Any) -> None:
    bench = await make_bench(private=False)
    await bench.run(bench.request(provider=CUSTOM, url="https://nowhere.invalid/v1"))
    assert bench.end().ending == "connect_failed"
