"""discord.py against the local Discord: what people do there becomes records of the log."""

import asyncio

import discord
import pytest

from schemas.inbox import MessageReceived
from schemas.stops import ChannelTurns, OneTurn, StopRequested
from services.gateway.commands import register_commands
from services.gateway.connection import Patience
from services.gateway.controls import STOPPED
from services.gateway.watermarks import Watermarks
from services.runtime.discord import rest_client
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings
from services.sandbox.discord.entities import Interaction
from services.sandbox.discord.forms import MessageForm
from services.sandbox.discord.server import SandboxDiscord


def ping(sandbox: SandboxDiscord, text: str) -> str:
    return f"<@{sandbox.world.bot.id}> {text}"


def say(sandbox: SandboxDiscord, text: str, channel: str = "general"):
    world = sandbox.world
    return world.post_as(world.user("ada"), world.channel(channel), text)


async def answer_of(sandbox: SandboxDiscord, interaction: Interaction) -> None:
    """Waits for the final private answer."""
    world = sandbox.world

    def answered() -> bool:
        message = interaction.channel.messages.get(interaction.original_id or 0)
        return message is not None and message.content == STOPPED

    await world.wait_until(answered, 10)
    message = interaction.channel.messages[interaction.original_id or 0]
    assert message.visible_to == interaction.user.id


async def test_a_mention_in_a_guild_is_received(sandbox: SandboxDiscord, gateway) -> None:
    message = say(sandbox, ping(sandbox, "hello"))
    [(facts, received)] = await gateway.log.of("inbox", 1)
    assert isinstance(received, MessageReceived)
    assert facts.id == f"message:{message.id}"
    assert received.content == "hello"
    assert received.source == "mention"
    assert received.guild_id == str(message.guild_id)
    assert received.author.id == str(message.author.id)
    assert received.author.name == "Ada"


async def test_a_reply_to_the_bot_is_received(sandbox: SandboxDiscord, gateway) -> None:
    world = sandbox.world
    channel = world.channel("general")
    own = world.posting.send(channel, world.bot, MessageForm(content="I am here."), ())
    message = world.post_as(world.user("ada"), channel, "and now?", reply_to=own)
    [(_, received)] = await gateway.log.of("inbox", 1)
    assert isinstance(received, MessageReceived)
    assert (received.source, received.reply_to, received.message_id) == ("reply", str(own.id), str(message.id))


async def test_a_direct_message_is_received(sandbox: SandboxDiscord, gateway) -> None:
    world = sandbox.world
    ada = world.user("ada")
    world.post_as(ada, world.open_dm(ada), "psst")
    [(_, received)] = await gateway.log.of("inbox", 1)
    assert isinstance(received, MessageReceived)
    assert (received.source, received.guild_id, received.content) == ("direct", None, "psst")


async def test_other_bots_and_talk_among_people_are_not_received(sandbox: SandboxDiscord, gateway) -> None:
    world = sandbox.world
    other = world.state.add_user("other-bot", bot=True)
    channel = world.channel("general")
    own = world.posting.send(channel, world.bot, MessageForm(content="Hi."), ())
    world.post_as(other, channel, "Hi too.", reply_to=own)
    say(sandbox, "nobody in particular")
    last = say(sandbox, ping(sandbox, "you"))
    [(facts, _)] = await gateway.log.of("inbox", 1)
    assert facts.id == f"message:{last.id}"


async def test_messages_of_a_channel_keep_their_order(sandbox: SandboxDiscord, gateway) -> None:
    ids = [say(sandbox, ping(sandbox, str(number))).id for number in range(200)]
    records = await gateway.log.of("inbox", 200)
    assert [facts.id for facts, _ in records] == [f"message:{message_id}" for message_id in ids]


async def test_kill_writes_the_same_stop_to_control_and_inbox(
    sandbox: SandboxDiscord, settings: Settings, gateway
) -> None:
    async with rest_client(settings) as client:
        assert await register_commands(client) == ["kill"]
    world = sandbox.world
    interaction = world.use_command(world.user("ada"), world.channel("general"), "kill")
    [(control, stop)] = await gateway.log.of("control", 1)
    [(inbox, same)] = await gateway.log.of("inbox", 1)
    assert stop == same
    assert control == inbox
    assert control.id == f"stop:{interaction.id}"
    assert isinstance(stop, StopRequested)
    assert stop.target == ChannelTurns(before=str(interaction.id))
    assert (stop.manner, stop.channel_id) == ("kill", str(interaction.channel.id))
    assert stop.requested_by == str(world.user("ada").id)
    await answer_of(sandbox, interaction)


async def test_a_stop_is_confirmed_when_only_one_of_its_logs_answers(
    sandbox: SandboxDiscord, settings: Settings, gateway
) -> None:
    gateway.log.silent.add("inbox")
    async with rest_client(settings) as client:
        await register_commands(client)
    world = sandbox.world
    await answer_of(sandbox, world.use_command(world.user("ada"), world.channel("general"), "kill"))


def with_stop_button(sandbox: SandboxDiscord, turn: str):
    world = sandbox.world
    button = {"type": 2, "style": 2, "label": "Stop", "custom_id": f"odradek:stop:{turn}"}
    form = MessageForm(content="Once upon", components=[{"type": 1, "components": [button]}])
    return world.posting.send(world.channel("general"), world.bot, form, ())


async def test_a_stop_button_works_after_a_restart(sandbox: SandboxDiscord, start_gateway, log) -> None:
    world = sandbox.world
    first = start_gateway()
    await world.wait_for(lambda entry: entry.kind == "session_start", 10)
    await first.clients[0].up.wait()
    message = with_stop_button(sandbox, "m123")
    first.running.cancel()
    await asyncio.wait([first.running])
    before = world.journal.last_seq
    start_gateway()
    await world.wait_for(lambda entry: entry.kind == "session_start", 10, after=before)
    interaction = world.press_button(world.user("ada"), message, "odradek:stop:m123")
    [(facts, stop)] = await log.of("control", 1)
    assert isinstance(stop, StopRequested)
    assert (stop.target, stop.manner) == (OneTurn(turn="m123"), "graceful")
    assert facts.turn == "m123"
    assert (await log.of("inbox", 1))[0][1] == stop
    await answer_of(sandbox, interaction)


async def test_what_was_missed_in_a_lost_session_is_read_from_the_channel(sandbox: SandboxDiscord, gateway) -> None:
    world = sandbox.world
    say(sandbox, ping(sandbox, "first"))
    await gateway.log.of("inbox", 1)
    before = world.journal.last_seq
    # 4012 is one of the codes after which a session cannot be resumed.
    await sandbox.gateway.disconnect("close", code=4012, resumable=False)
    missed = say(sandbox, ping(sandbox, "second"))
    await world.wait_for(lambda entry: entry.kind == "session_start", 10, after=before)
    later = say(sandbox, ping(sandbox, "third"))
    ids: list[str] = []
    while f"message:{later.id}" not in ids:
        records = await gateway.log.of("inbox", len(ids) + 1)
        ids = [facts.id for facts, _ in records]
    assert f"message:{missed.id}" in ids
    assert ids.index(f"message:{missed.id}") < ids.index(f"message:{later.id}")


async def test_a_restart_reads_the_channels_that_were_active(sandbox: SandboxDiscord, start_gateway, log) -> None:
    known = say(sandbox, ping(sandbox, "known"))
    missed = say(sandbox, ping(sandbox, "missed"))
    marks = Watermarks()
    marks.saw(known.channel_id, known.guild_id, known.id, addressed=True)
    start_gateway(marks)
    records = await log.of("inbox", 2)
    assert [facts.id for facts, _ in records] == [f"message:{known.id}", f"message:{missed.id}"]


async def test_an_event_that_cannot_be_parsed_does_not_end_the_gateway(
    sandbox: SandboxDiscord, gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sandbox.world
    before = world.journal.last_seq

    def broken(*_: object, **__: object) -> None:
        raise KeyError("a field that Discord has renamed")

    with monkeypatch.context() as patch:
        patch.setattr(discord.Message, "__init__", broken)
        say(sandbox, "unreadable")
        await world.wait_for(lambda entry: entry.kind == "session_start", 10, after=before)
    say(sandbox, ping(sandbox, "readable"))
    await gateway.log.of("inbox", 1)


async def test_a_discord_that_is_away_at_the_start_is_waited_for(sandbox: SandboxDiscord, start_gateway, log) -> None:
    sandbox.go_away(3_600)
    gateway = start_gateway()
    assert gateway.connection.missing() == "not connected yet"
    while len(gateway.clients) < 2:
        await asyncio.sleep(0.001)
    missing = gateway.connection.missing()
    assert missing is not None
    assert "does not answer" in missing
    sandbox.faults.clear()
    await sandbox.world.wait_for(lambda entry: entry.kind == "session_start", 10)
    say(sandbox, ping(sandbox, "back"))
    await log.of("inbox", 1)
    assert gateway.connection.missing() is None


async def test_after_a_long_absence_of_discord_the_gateway_is_back_soon_however_long_its_waits_have_grown(
    sandbox: SandboxDiscord, start_gateway
) -> None:
    sandbox.go_away(3_600)
    gateway = start_gateway(patience=Patience(first_wait_s=3_600, longest_wait_s=3_600, away_wait_s=0.01))
    while len(gateway.clients) < 3:
        await asyncio.sleep(0.001)
    sandbox.faults.clear()
    await sandbox.world.wait_for(lambda entry: entry.kind == "session_start", 10)


async def test_a_refused_token_ends_the_gateway_and_says_what_to_set(start_gateway, settings: Settings) -> None:
    gateway = start_gateway(
        own=settings.model_copy(update={"discord_token": Settings(discord_token="old").discord_token})
    )
    with pytest.raises(ConfigurationError) as raised:
        await gateway.running
    assert "ODRADEK_DISCORD_TOKEN" in raised.value.remedy
    assert "old" not in str(raised.value)


async def test_a_missing_token_says_what_to_set(start_gateway, settings: Settings) -> None:
    gateway = start_gateway(own=settings.model_copy(update={"discord_token": None}))
    with pytest.raises(ConfigurationError) as raised:
        await gateway.running
    assert "ODRADEK_DISCORD_TOKEN" in raised.value.remedy


async def test_a_missing_intent_ends_the_gateway_and_says_where_to_switch_it_on(
    sandbox: SandboxDiscord, start_gateway
) -> None:
    application = sandbox.world.state.application
    object.__setattr__(application, "intents", 0)
    with pytest.raises(ConfigurationError) as raised:
        await start_gateway().running
    assert "MESSAGE CONTENT INTENT" in raised.value.remedy


async def test_a_client_without_a_websocket_is_given_up(sandbox: SandboxDiscord, start_gateway) -> None:
    gateway = start_gateway(patience=Patience(first_wait_s=0.01, longest_wait_s=0.05, silent_s=0.2))
    world = sandbox.world
    await world.wait_for(lambda entry: entry.kind == "session_start", 10)
    sandbox.go_away(3_600)
    while len(gateway.clients) < 2:
        await asyncio.sleep(0.001)
    before = world.journal.last_seq
    sandbox.faults.clear()
    await world.wait_for(lambda entry: entry.kind == "session_start", 10, after=before)
