"""The benchmark of building contexts: what it builds, and what the command says."""

import json
from typing import get_args

import pytest
from typer.testing import CliRunner

from schemas.chunks import Dialect
from services.cli.main import app
from services.context.building.build import build
from services.sandbox.benchmark.assembling import measure
from services.sandbox.benchmark.assembling.channels import BOT_ID, made_up, repeated
from services.sandbox.benchmark.assembling.hostile import HOSTILE_TEXTS, LONG, hostile_text


def test_a_made_up_channel_is_the_same_each_time_and_has_what_channels_have() -> None:
    channel = made_up(100, 8)
    assert channel == made_up(100, 8)
    assert len({message.author_id for message in channel.messages} - {BOT_ID}) == 8
    texts = [message.content for message in channel.messages]
    assert all(any(piece in text for text in texts) for piece in ("<@", "<:", "<a:", "```", "[System", "https://"))
    assert any(message.embeds for message in channel.messages)
    assert any(message.reply_to for message in channel.messages)
    assert any(text.isascii() for text in texts)
    assert not all(text.isascii() for text in texts)


def test_a_crowd_has_a_label_for_each() -> None:
    channel = made_up(100, 100)
    made = build(channel.scene, channel.messages)
    assert len(made.messages) == 100
    labels = [user.display_label for user in made.context.items[-1].conversation_users]
    assert len(labels) > 50
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_a_hostile_text_is_as_long_as_asked_and_is_told(name: str) -> None:
    text = hostile_text(name, LONG)
    assert len(text) == LONG
    channel = repeated(text, 2)
    assert build(channel.scene, channel.messages).messages == tuple(message.id for message in channel.messages)


def test_the_command_reports_each_step_and_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "ROUNDS", 2)
    monkeypatch.setattr(measure, "LEAST_OF", 1)
    monkeypatch.setattr(measure, "HOSTILE_MESSAGES", 2)
    result = CliRunner().invoke(app, ["bench", "context", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert set(report["render"]) == set(get_args(Dialect))
    steps = [report["build"], report["record"], report["together"], report["many_authors"], *report["render"].values()]
    assert all(step["ms"]["count"] == 2 and 0 < step["ms"]["p50"] <= step["ms"]["p99"] for step in steps)
    assert set(report["hostile"]) == set(HOSTILE_TEXTS)
    assert report["messages"] == 100


def test_the_command_prints_a_line_a_step_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "ROUNDS", 1)
    monkeypatch.setattr(measure, "LEAST_OF", 1)
    monkeypatch.setattr(measure, "HOSTILE_MESSAGES", 1)
    result = CliRunner().invoke(app, ["bench", "context"])
    assert result.exit_code == 0, result.output
    firsts = [line.split("  ")[0] for line in result.stdout.splitlines()]
    assert {"build", "record what was read", "all three, openai-chat"} <= set(firsts)
    assert {f"render, {dialect}" for dialect in get_args(Dialect)} <= set(firsts)
