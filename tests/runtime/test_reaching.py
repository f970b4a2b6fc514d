"""A broker that goes away while a process connects is waited for."""

import pytest
from aiokafka.errors import KafkaConnectionError, KafkaTimeoutError, TopicAuthorizationFailedError

from services.runtime.kafka import connection


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
