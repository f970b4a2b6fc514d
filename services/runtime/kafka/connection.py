"""How to reach the cluster: the options that every aiokafka object shares, each broker's waits, and the wait for one."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from aiokafka.errors import KafkaConnectionError, KafkaTimeoutError

from services.runtime.logs import get_logger
from services.runtime.settings import Settings

log = get_logger("kafka")
FIRST_WAIT_S = 0.2
MOST_WAIT_S = 5.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BrokerProfile:
    """What differs between Kafka and the embedded broker, as measured (docs/decisions/0004-broker-profiles.md).

    `fetch_wait_ms`: Kafka wakes a waiting fetch on produce, the embedded broker does not. `linger_ms`: 0 gives Kafka its
    lowest latency. `session_ms`: how long a silent group member keeps its partitions. `heartbeat_ms`: how late a member may
    learn that another one has come or gone; until then its partitions stand still. `exact_times`: whether it tells the
    offset of a time and a partition's end exactly.
    """

    fetch_wait_ms: int
    linger_ms: int
    idempotent: bool
    session_ms: int
    heartbeat_ms: int
    static_members: bool
    exact_times: bool


PROFILES = {
    "kafka": BrokerProfile(
        fetch_wait_ms=500,
        linger_ms=0,
        idempotent=True,
        session_ms=6_000,
        heartbeat_ms=300,
        static_members=True,
        exact_times=True,
    ),
    "embedded": BrokerProfile(
        fetch_wait_ms=25,
        linger_ms=2,
        idempotent=False,
        session_ms=2_000,
        heartbeat_ms=500,
        static_members=False,
        exact_times=False,
    ),
}


def profile_of(settings: Settings) -> BrokerProfile:
    """The profile of the broker that the settings name."""
    return PROFILES[settings.broker]


def client_options(settings: Settings) -> dict[str, Any]:
    """Keyword arguments of every aiokafka client: address, TLS, SASL. Holds the password; never log it."""
    options: dict[str, Any] = {
        "bootstrap_servers": settings.kafka,
        "security_protocol": settings.security_protocol,
        "client_id": f"odradek-{settings.instance or 'anonymous'}",
        "request_timeout_ms": 20_000,
        "retry_backoff_ms": 100,
    }
    if settings.security_protocol in ("SSL", "SASL_SSL"):
        context = ssl.create_default_context(cafile=settings.tls_ca_file)
        if settings.tls_cert_file is not None:
            context.load_cert_chain(settings.tls_cert_file, settings.tls_key_file)
        options["ssl_context"] = context
    if settings.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL"):
        options["sasl_mechanism"] = settings.sasl_mechanism
        options["sasl_plain_username"] = settings.sasl_username
        options["sasl_plain_password"] = (
            settings.sasl_password.get_secret_value() if settings.sasl_password is not None else None
        )
    return options


async def when_reachable(call: Callable[[], Awaitable[T]]) -> T:
    """What the call returns, which is made again for as long as no broker answers.

    A process that connects while the broker goes away waits for it, as one does that finds none at its start.
    """
    wait_s = FIRST_WAIT_S
    while True:
        try:
            return await call()
        except (KafkaConnectionError, KafkaTimeoutError) as error:
            log.warning("waiting for Kafka", error=type(error).__name__, often=True)
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, MOST_WAIT_S)
