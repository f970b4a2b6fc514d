"""A broker that goes away while a process connects is waited for, and no client is left behind."""

import asyncio
import gc
import socket

import pytest
from aiokafka.errors import KafkaConnectionError, KafkaTimeoutError, TopicAuthorizationFailedError

from services.runtime.kafka import connection
from services.runtime.kafka.connection import PROFILES
from services.runtime.kafka.tail import partition_ends


class Calls:
    """Fails with one error after another, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    async def __call__(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_WAIT_S", 0.0)


async def test_a_call_is_made_again_until_a_broker_answers() -> None:
    calls = Calls(KafkaConnectionError("away"), KafkaTimeoutError("silent"))
    assert await connection.when_reachable(calls) == "answer"
    assert calls.errors == []


async def test_what_the_broker_refuses_is_raised() -> None:
    with pytest.raises(TopicAuthorizationFailedError):
        await connection.when_reachable(Calls(TopicAuthorizationFailedError("no")))


async def test_a_question_for_ends_that_finds_no_broker_leaves_no_client_open() -> None:
    complaints: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["message"]))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening, so that a connection is refused
        nowhere = {"bootstrap_servers": f"127.0.0.1:{unused.getsockname()[1]}"}
        with pytest.raises(KafkaConnectionError):
            await partition_ends(nowhere, PROFILES["kafka"], topic="inbox", partitions=[0])
    gc.collect()
    assert complaints == []
