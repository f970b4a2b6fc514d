"""From a generation to a prompt, with history from a local Discord by discord.py itself."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discord
import pytest
from PIL import Image
from pydantic import SecretStr

from schemas.attempts import NO_ATTEMPT_LEFT, AttemptPlan, Chosen, EarlierAttempt, Rung
from schemas.errors import UnknownRecordType
from schemas.generations import GenerationRequested
from schemas.headers import Facts, HeaderReader
from schemas.inbox import Author, GenerationFailed
from schemas.prompts import CredentialRef, ProviderRequest
from schemas.registry import decode
from schemas.stops import TurnInterrupted
from services.context import discord_history, prompting
from services.context.discord_history import DiscordHistory
from services.context.failures import ContextTooLong
from services.context.media.resolving import MediaResolver
from services.context.models import SettingsModels
from services.context.worker import Prompter
from services.runtime.blobs.folder import FolderStore
from services.runtime.discord import RestSession
from services.runtime.errors import Unavailable
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.outputs import output
from services.runtime.settings import Settings
from services.sandbox.discord.attachments import Upload
from services.sandbox.discord.faults import Fault
from services.sandbox.discord.forms import MessageForm
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig, SandboxDiscord
from tests.context.media.conftest import encoded

PNG = encoded(Image.new("RGB", (30, 20), "red"), "PNG")
CLAUDE = {
    "dialect": "anthropic",
    "model": "claude-sonnet-4-6",
    "provider_url": None,
    "anthropic_api_key": SecretStr("k"),
}


class Outbox:
    """Keeps what was sent, in place of the sender."""

    def __init__(self) -> None:
        self.sent: list[NewRecord] = []

    def send(self, new: NewRecord) -> "asyncio.Future[Appended]":
        self.sent.append(new)
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        future.set_result(Appended(0, len(self.sent)))
        return future


@dataclass
class Place:
    """A local Discord with one channel, and the worker that reads it."""

    discord: SandboxDiscord
    session: RestSession
    outbox: Outbox
    settings: Settings
    media: MediaResolver

    @property
    def channel(self) -> Any:
        return self.discord.world.channel("general")

    def say(self, who: str, content: str) -> Any:
        world = self.discord.world
        user = world.bot if who == "odradek" else world.user(who)
        return world.post_as(user, self.channel, content)

    def asking(self, message_id: int, content: str, **more: Any) -> GenerationRequested:
        return GenerationRequested(
            channel_id=str(self.channel.id),
            guild_id="800",
            turn=f"m{message_id}",
            generation=2,
            message_id=str(message_id),
            author=Author(id=str(self.discord.world.user("ada").id), name="Ada"),
            content=content,
            deadline_ms=600_000,
            **more,
        )

    def inbound(self, record: Any, cause: int = 9) -> Inbound:
        new = output(
            "generations",
            record,
            channel=str(self.channel.id),
            event_id="g",
            turn=record.turn,
            generation=2,
            cause=cause,
        )
        read = LogRecord("generations", 0, 0, 0, new.key, new.value, new.headers)
        return Inbound(read, HeaderReader(new.headers).facts(), self.outbox, Pending(lambda: None))  # type: ignore[arg-type]

    def prompter(self, settings: Settings, history: DiscordHistory | None = None) -> Prompter:
        return Prompter(settings, history or DiscordHistory(self.session), self.media, SettingsModels(settings))

    async def handle(self, request: GenerationRequested, **settings: Any) -> tuple[Facts, Any]:
        changed = self.settings.model_copy(update=settings)
        await self.prompter(changed).handle(self.inbound(request))
        (new,) = self.outbox.sent
        return decode(new.headers, new.value)


@pytest.fixture
async def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Place]:
    server = SandboxDiscord(SandboxConfig(limits=LimitsConfig(enabled=False)))
    address = await server.start()
    monkeypatch.setattr(discord.http.Route, "BASE", discord.http.Route.BASE)
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", None)
    settings = Settings(
        discord_token="sandbox-token",
        discord_api=address.api_url,
        provider_url="http://127.0.0.1:9",
        openai_api_key=None,
        anthropic_api_key=None,
        environment="development",
    )
    session = RestSession(settings)
    running = asyncio.create_task(session.run())
    async with asyncio.timeout(20):
        while session.missing() is not None:
            await asyncio.sleep(0)
    media = MediaResolver.opened(settings, FolderStore(tmp_path, keep_s=60, most_bytes=10**8))
    yield Place(server, session, Outbox(), settings, media)
    await media.aclose()
    running.cancel()
    await asyncio.wait({running})
    await server.stop()


def contents(prompt: ProviderRequest) -> list[str]:
    messages: Any = prompt.body["messages"]
    return [message["content"] for message in messages if message["role"] != "system"]


async def test_a_generation_becomes_a_prompt_with_the_channels_history(place: Place) -> None:
    place.say("grace", "hello")
    place.say("odradek", "hello, Grace")
    cause = place.say("ada", "<@1> and you?")
    place.say("grace", "newer")
    facts, prompt = await place.handle(place.asking(cause.id, "and you?", rules_version=3))
    assert contents(prompt) == ["Grace: hello", "hello, Grace", "Ada: and you?"]
    assert (facts.id, facts.turn, facts.generation, facts.cause) == (f"prompt:m{cause.id}:2", f"m{cause.id}", 2, 9)
    assert place.outbox.sent[0].topic == "prompts"
    assert (prompt.caused_by, prompt.dialect, prompt.model) == (str(cause.id), "openai-chat", "sandbox-echo")
    assert prompt.url == "http://127.0.0.1:9/v1/chat/completions"
    assert prompt.headers["x-odradek-turn"] == f"m{cause.id}"
    assert prompt.rules_version == 3


async def test_an_attempt_gives_up_what_its_plan_says_and_tells_what_it_used(place: Place) -> None:
    cause = place.say("ada", "<@1> draw")
    rung = Rung(without=("stream_options",))
    plan = AttemptPlan(step="same", rung=rung)
    _, prompt = await place.handle(place.asking(cause.id, "draw", attempt=plan), temperature=0.5)
    sent = {"model", "messages", "stream", "max_tokens", "temperature", "repetition_penalty", "stop"}
    assert prompt.body.keys() == sent
    assert prompt.attempt is not None
    assert prompt.attempt.chosen == Chosen(provider="custom:127.0.0.1", model="sandbox-echo")
    assert prompt.attempt.droppable == (
        "stream_options", "repetition_penalty", "max_tokens", "temperature", "stop",
    )  # fmt: skip


async def test_a_generation_without_a_plan_is_asked_for_as_ever(place: Place) -> None:
    cause = place.say("ada", "<@1> hello")
    _, prompt = await place.handle(place.asking(cause.id, "hello"))
    assert prompt.attempt is None
    assert b"attempt" not in place.outbox.sent[0].value


async def test_where_no_key_or_model_is_left_the_generation_fails(place: Place) -> None:
    cause = place.say("ada", "<@1> hello")
    only = Chosen(provider="custom:127.0.0.1", model="sandbox-echo")
    earlier = EarlierAttempt(generation=1, outcome="error", chosen=only, ended_ms=1)
    _, failed = await place.handle(place.asking(cause.id, "hello", attempt=AttemptPlan(step="key", earlier=(earlier,))))
    assert isinstance(failed, GenerationFailed)
    assert (failed.generation, failed.error.code) == (2, NO_ATTEMPT_LEFT)
    assert place.outbox.sent[0].topic == "inbox"


async def test_only_the_latest_messages_are_read(place: Place) -> None:
    for number in range(5):
        place.say("grace", f"number {number}")
    cause = place.say("ada", "so?")
    _, prompt = await place.handle(place.asking(cause.id, "so?"), discord_history=2)
    assert contents(prompt) == ["Grace: number 3\nnumber 4", "Ada: so?"]


async def test_a_reply_goes_on_without_its_own_shown_part_twice(place: Place) -> None:
    cause = place.say("ada", "a tale")
    place.say("odradek", "Once upon")
    _, prompt = await place.handle(place.asking(cause.id, "a tale", emitted="Once upon", why="lost"))
    assert contents(prompt)[:-1] == ["Ada: a tale", "Once upon"]


async def test_messages_are_read_with_all_that_they_show(place: Place) -> None:
    world = place.discord.world
    first = place.say("grace", "tea or coffee?")
    world.post_as(world.user("grace"), place.channel, "", files=(Upload(0, "notes.txt", b"x", "text/plain"),))
    webhook = world.webhooks.create(place.channel, world.user("grace"), "Odradek")
    world.webhooks.execute(webhook, MessageForm(content="I am the bot"), ())
    cause = world.post_as(
        world.user("ada"), place.channel, f"<@{world.bot.id}> ask <@{world.user('grace').id}>", reply_to=first,
        files=(Upload(0, "cat.png", PNG, "image/png"),),
    )  # fmt: skip
    history = await DiscordHistory(place.session).up_to(str(place.channel.id), str(cause.id), 10)
    assert [message.voice for message in reversed(history)] == ["account", "account", "other_webhook", "account"]
    _, prompt = await place.handle(place.asking(cause.id, cause.content))
    assert contents(prompt) == [
        "Grace: tea or coffee?",
        '[System: The file "notes.txt" (text/plain, 1 bytes) is attached to this message.]\nGrace: [sent no text]',
        "Odradek (2): I am the bot",
        '[System: An image ("cat.png") is not shown: this model takes no images.]\n'
        '[System: This answers a message of "Grace": "tea or coffee?"]\nAda: ask @Grace',
    ]


async def test_a_prompt_keeps_what_was_read(place: Place) -> None:
    old = place.say("grace", "hello")
    cause = place.say("ada", "and you?")
    _, one = await place.handle(place.asking(cause.id, "and you?"))
    assert one.read is not None
    assert one.read.messages == (str(old.id), str(cause.id))
    place.outbox.sent.clear()
    _, same = await place.handle(place.asking(cause.id, "and you?"))
    assert same.read == one.read
    place.outbox.sent.clear()
    place.discord.world.edit_as(place.discord.world.user("grace"), old, "good evening")
    _, other = await place.handle(place.asking(cause.id, "and you?"))
    assert other.read is not None
    assert other.read.messages == one.read.messages
    assert other.read.digest != one.read.digest


async def test_pictures_reach_a_model_that_sees_as_blobs(place: Place) -> None:
    world = place.discord.world
    cause = world.post_as(world.user("ada"), place.channel, "look", files=(Upload(0, "cat.png", PNG, "image/png"),))
    _, prompt = await place.handle(place.asking(cause.id, "look"), **CLAUDE)
    assert [put.blob.size for put in prompt.blobs] == [len(PNG)]
    assert "http" not in str(prompt.body)


async def test_a_generation_whose_pictures_all_failed_ends_before_the_provider_is_asked(place: Place) -> None:
    world = place.discord.world
    cause = world.post_as(
        world.user("ada"), place.channel, "look", files=(Upload(0, "cat.png", b"no picture", "image/png"),)
    )
    _, failed = await place.handle(place.asking(cause.id, "look"), **CLAUDE)
    assert isinstance(failed, GenerationFailed)
    assert (failed.error.code, failed.error.retryable) == ("every_image_failed", False)
    assert "image 0: validate" in failed.error.message


@pytest.mark.parametrize("denial", ["forbidden", "gone"])
async def test_a_channel_that_hides_its_history_gets_a_reply_all_the_same(place: Place, denial: str) -> None:
    place.say("grace", "hidden")
    cause = place.say("ada", "hello?")
    request = place.asking(cause.id, "hello?")
    inbound = place.inbound(request)
    if denial == "forbidden":
        place.discord.world.deny(place.channel, 50001)
    else:
        place.discord.world.delete_channel(place.channel)
    await place.prompter(place.settings).handle(inbound)
    _, prompt = decode(place.outbox.sent[0].headers, place.outbox.sent[0].value)
    assert isinstance(prompt, ProviderRequest)
    assert contents(prompt) == ["Ada: hello?"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(path="*/messages", times=None, status=503),
        Fault(path="*/messages", times=None, cut=True),
        Fault(path="*/messages", times=None, delay_s=30),
    ],
    ids=["failing", "cut", "silent"],
)
async def test_a_discord_that_is_down_is_waited_for(
    place: Place, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discord_history, "MOST_WAIT_S", 0.2 if fault.delay_s else 20)
    cause = place.say("ada", "hello?")
    place.discord.faults.add(fault)
    with pytest.raises(Unavailable):
        await place.handle(place.asking(cause.id, "hello?"))
    assert place.outbox.sent == []
    place.discord.faults.clear()
    monkeypatch.setattr(discord_history, "MOST_WAIT_S", 20)
    _, prompt = await place.handle(place.asking(cause.id, "hello?"))
    assert contents(prompt) == ["Ada: hello?"]


async def test_before_the_login_the_generation_waits(place: Place) -> None:
    away = DiscordHistory(RestSession(place.settings))
    with pytest.raises(Unavailable):
        await place.prompter(place.settings, away).handle(place.inbound(place.asking(5, "hello?")))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"provider_url": None}, "ODRADEK_OPENAI_API_KEY"),
        ({"provider_url": None, "dialect": "anthropic"}, "ODRADEK_ANTHROPIC_API_KEY"),
        ({"dialect": "novelai"}, "ODRADEK_DIALECT"),
        ({"provider_url": "127.0.0.1:9"}, "ODRADEK_PROVIDER_URL"),
        ({"provider_url": "http://[::1"}, "ODRADEK_PROVIDER_URL"),
    ],
)
async def test_unusable_settings_end_the_generation_and_are_named(
    place: Place, settings: dict[str, Any], named: str
) -> None:
    facts, failed = await place.handle(place.asking(5, "hello?"), **settings)
    assert isinstance(failed, GenerationFailed)
    assert (place.outbox.sent[0].topic, facts.id, failed.generation) == ("inbox", "failed:m5:2:context:0:0", 2)
    assert named in failed.error.message
    assert not failed.error.retryable


@pytest.mark.parametrize(
    ("settings", "url", "credential"),
    [
        (
            {"openai_api_key": "sk-0123456789"},
            "https://api.openai.com/v1/chat/completions",
            CredentialRef(name="openai", placement="bearer"),
        ),
        (
            {"anthropic_api_key": "sk-0123456789", "dialect": "anthropic"},
            "https://api.anthropic.com/v1/messages",
            CredentialRef(name="anthropic", placement="x-api-key"),
        ),
    ],
)
async def test_a_key_is_referred_to_and_never_written(
    place: Place, settings: dict[str, Any], url: str, credential: CredentialRef
) -> None:
    place.settings = Settings(
        discord_token="sandbox-token", discord_api=place.settings.discord_api, provider_url=None, **settings
    )
    _, prompt = await place.handle(place.asking(5, "hello?"))
    assert (prompt.url, prompt.credential) == (url, credential)
    assert b"sk-0123456789" not in (place.outbox.sent[0].value or b"")
    assert "x-odradek-turn" not in prompt.headers


async def test_a_server_that_wants_no_key_is_asked_without_one(place: Place) -> None:
    _, prompt = await place.handle(place.asking(5, "hello?"))
    assert prompt.credential == CredentialRef(name="", placement="none")


async def test_the_whole_call_ends_with_the_generations_deadline(place: Place) -> None:
    request = place.asking(5, "hello?").model_copy(update={"deadline_ms": 30_000})
    _, prompt = await place.handle(request)
    assert prompt.deadlines.total_ms == 30_000


async def test_a_context_that_no_request_can_say_ends_the_generation(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(*_: object) -> None:
        raise ContextTooLong(9000, 4000)

    monkeypatch.setattr(prompting, "render", too_long)
    _, failed = await place.handle(place.asking(5, "hello?"))
    assert isinstance(failed, GenerationFailed)
    assert (failed.error.code, failed.error.classifiers) == ("context_too_long", ("context_length",))
    assert "Shorten" in failed.error.message


async def test_another_record_is_no_generation(place: Place) -> None:
    stray = TurnInterrupted(channel_id="900", turn="m1", reason="internal")
    with pytest.raises(UnknownRecordType):
        await place.prompter(place.settings).handle(place.inbound(stray))


async def test_a_refused_generation_ends_in_its_channel(place: Place) -> None:
    worker = place.prompter(place.settings)
    record = LogRecord("generations", 0, 3, 0, b"900", b"{", ())
    facts = Facts(type="GenerationRequested", version=1, id="g", channel="900", turn="m1", generation=2, cause=5)
    (new,) = worker.refuse(record, facts, "invalid_value", "not JSON")
    _, failed = decode(new.headers, new.value)
    assert (new.topic, new.key) == ("inbox", b"900")
    assert isinstance(failed, GenerationFailed)
    assert worker.refuse(record, None, "header_missing", "no type") == []


async def test_a_generation_that_a_newer_one_has_replaced_while_it_waited_gets_no_prompt(place: Place) -> None:
    worker = place.prompter(place.settings)
    waiting = [place.inbound(place.asking(number, f"number {number}"), cause=number) for number in range(5, 9)]
    for inbound in waiting:
        worker.arrived(inbound)
    for inbound in waiting:
        await worker.handle(inbound)
    assert [HeaderReader(new.headers).text("turn") for new in place.outbox.sent] == ["m8"]


async def test_an_old_request_that_is_written_once_more_replaces_no_newer_one(place: Place) -> None:
    worker = place.prompter(place.settings)
    newer, older = place.inbound(place.asking(8, "newer"), cause=8), place.inbound(place.asking(5, "older"), cause=5)
    worker.arrived(newer)
    worker.arrived(older)
    await worker.handle(newer)
    assert [HeaderReader(new.headers).text("turn") for new in place.outbox.sent] == ["m8"]


async def test_what_waited_in_a_partition_that_went_elsewhere_replaces_nothing_here(place: Place) -> None:
    worker = place.prompter(place.settings)
    worker.arrived(place.inbound(place.asking(8, "newer"), cause=8))
    worker.dropped([0])
    older = place.inbound(place.asking(5, "older"), cause=5)
    worker.arrived(older)
    await worker.handle(older)
    assert [HeaderReader(new.headers).text("turn") for new in place.outbox.sent] == ["m5"]


async def test_a_generation_that_waits_for_a_discord_that_is_away_is_given_up_for_a_newer_one(place: Place) -> None:
    worker = place.prompter(place.settings)
    channel = f"/channels/{place.channel.id}/messages"
    fault = place.discord.faults.add(Fault("GET", channel, cut=True, times=None))
    older = place.inbound(place.asking(5, "older"), cause=5)
    worker.arrived(older)
    with pytest.raises(Unavailable):
        await worker.handle(older)
    place.discord.faults.remove(fault)
    newer = place.inbound(place.asking(8, "newer"), cause=8)
    worker.arrived(newer)
    await worker.handle(older)
    await worker.handle(newer)
    assert [HeaderReader(new.headers).text("turn") for new in place.outbox.sent] == ["m8"]
