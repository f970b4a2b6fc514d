"""A provider that sends the key back, in text, errors and headers, plain and encoded: no record, log or message holds it."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from schemas.prompts import ProviderRequest
from services.catalog.catalog import open_catalog
from services.catalog.owners import Server
from services.provider.echoes import echoes
from services.sandbox.provider.script import Answer, EveryBytes, Play, Recording, Stream, StreamError, Text
from tests.e2e.keys import catalog_environment, catalog_settings, offer

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["settings", "catalog"])
async def crowd(
    request: pytest.FixtureRequest, open_crowd: Any, kafka: Any, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """Its key stands in the settings, or sealed in the catalog and nowhere else."""
    environment = {"ODRADEK_LOG_LEVEL": "debug"}
    if request.param == "settings":
        async with open_crowd(kafka.bootstrap, broker=kafka.kind, environment=environment) as crowd:
            yield crowd
        return
    directory = tmp_path_factory.mktemp("catalog")
    environment |= catalog_environment(directory) | {"ODRADEK_OPENAI_API_KEY": "", "ODRADEK_ANTHROPIC_API_KEY": ""}
    async with (
        open_catalog(catalog_settings(environment)) as catalog,
        open_crowd(kafka.bootstrap, broker=kafka.kind, environment=environment) as crowd,
    ):
        for guild in crowd.discord.world.state.guilds.values():
            await offer(catalog, Server(str(guild.id)), "home", crowd.settings.provider_url, crowd.key)
        yield crowd
    written = [path.read_bytes() for path in directory.iterdir()]
    assert written
    assert not any(crowd.key.encode() in data for data in written)
    references = {record.credential.name for _, record in crowd.decoded("prompts", ProviderRequest)}
    assert references
    assert all(name.startswith("catalog/server/") for name in references)


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
