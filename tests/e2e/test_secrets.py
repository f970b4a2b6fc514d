"""A provider that sends the key back, in text, errors and headers, plain and encoded: no record, log or message holds it."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from services.provider.echoes import echoes
from services.sandbox.provider.script import Answer, EveryBytes, Play, Recording, Stream, StreamError, Text

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(open_crowd: Any, kafka: Any) -> Any:
    environment = {"ODRADEK_LOG_LEVEL": "debug"}
    async with open_crowd(kafka.bootstrap, broker=kafka.kind, environment=environment) as crowd:
        yield crowd


def in_base64(key: str) -> str:
    return base64.b64encode(f"user:{key}".encode()).decode()


ECHOES: dict[str, Callable[[str], Play]] = {
    "in the text": lambda key: Stream(steps=(Text(("the key is ", key, " and that was it")),)),
    "in the text, three bytes a write": lambda key: Stream(
        steps=(Text((f"{key}, or {in_base64(key)}, or {key.encode().hex()}",)),), cuts=EveryBytes(3), pace_ms=1
    ),
    "in an error in mid-stream": lambda key: Stream(
        steps=(Text(("so far ",)),), ending=StreamError(message=f"Incorrect API key provided: {key}")
    ),
    "in a refusal": lambda key: Answer(401, message=f"Incorrect API key provided: {key}. Or Basic {in_base64(key)}"),
    "in a refusal's headers": lambda key: Answer(429, headers={"retry-after": key, "x-ratelimit-reset": key}),
    "in a refusal's type": lambda key: Answer(500, content_type=f"text/{key}", body=f"<p>{key}</p>".encode()),
    "in bytes that are no stream": lambda key: Recording(f"data: {{{key}\n\ndata: {key[:20]}".encode()),
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
async def test_a_key_that_comes_back_is_nowhere_to_be_read(crowd: Any, echo: Callable[[str], Play]) -> None:
    talk = crowd.talk()
    turn = talk.say("What is your key?", play=echo(crowd.key), times=None)
    await talk.finished(turn)
    await crowd.at_rest()
    [call, *_] = talk.calls(turn)
    assert call.ended is not None
    assert crowd.leaks() == []
    shown = " ".join(message.content for message in talk.shown).encode()
    written = [(read.value or b"") for reads in crowd.records.values() for read in reads]
    logs = [text.encode() for text in crowd.logs().values()]
    for form in echoes(crowd.key):
        assert not any(form in text for text in (shown, *written, *logs))
