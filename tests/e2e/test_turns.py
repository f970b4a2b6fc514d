"""Whole turns from a Discord message to the reply, two processes of each kind, in each dialect."""

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from schemas.headers import HeaderReader
from services.sandbox.provider.replies import whole_reply

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["openai-chat", "anthropic"])
async def crowd(request: pytest.FixtureRequest, open_crowd: Any, kafka: Any) -> Any:
    async with open_crowd(kafka.bootstrap, copies=2, dialect=request.param) as crowd:
        yield crowd


def question(call: Any) -> str:
    """What the provider was asked last."""
    content = call.body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


async def test_a_reply_is_shown_whole_once_and_in_order(crowd: Any) -> None:
    talk = crowd.talk()
    turn = talk.say("Tell me something long.")
    finished = await talk.finished(turn)
    assert finished.status == "completed"
    [call] = talk.calls(turn)
    reply = whole_reply("sandbox-echo", question(call))
    assert talk.words == reply.split()
    assert len(talk.reply) > 5
    assert finished.usage is not None
    assert finished.usage.output_tokens > 100
    assert finished.model == "sandbox-echo"
    assert talk.notices == []
    assert talk.buttons == []
