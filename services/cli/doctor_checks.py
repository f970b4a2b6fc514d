"""What the doctor finds about settings, broker, topics, port and machine. Discord and provider have files of their own."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal

from schemas.topics import TopicsFileError, load_topics
from services.cli.environment import unknown_variables
from services.cli.topic_differences import against_cluster
from services.cli.topics_commands import code_differences
from services.runtime.errors import OdradekError
from services.runtime.kafka.admin import ClusterInfo, connect_admin
from services.runtime.settings import Settings
from services.sandbox.brokers import embedded
from services.sandbox.brokers.errors import BrokerUnavailable
from services.sandbox.brokers.java import find_java, find_maven

_EMBEDDED_CLUSTER = "tansu"
_MOST_DIFFERENCES = 20

State = Literal["ok", "info", "warn", "FAIL"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `remedy` says what to do, where something is to be done."""

    what: str
    state: State
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One part of the examination; the report cuts it off, and tells what was found until then.

    `asks`: whether it asks somebody, so that no answer is a failure; else the machine has not come to it.
    """

    name: str
    run: Callable[[Settings], AsyncIterator[Finding]]
    asks: bool


async def check_variables(_: Settings) -> AsyncIterator[Finding]:
    """Whether every ODRADEK_ variable is a setting."""
    strange = unknown_variables(os.environ)
    for name, meant in strange.items():
        yield Finding("settings", "warn", f"{name} is no setting", f"is {meant} meant?" if meant else "unset it")
    if not strange:
        yield Finding("settings", "ok", "every ODRADEK_ variable is a setting")


async def check_broker(settings: Settings) -> AsyncIterator[Finding]:
    """Whether a broker answers, which one, and whether its topics are as topics.yaml and the code say."""
    try:
        topics = load_topics(settings.topics_file)
    except TopicsFileError as error:
        yield Finding("topics", "FAIL", str(error), "correct the file, or unset ODRADEK_TOPICS_FILE")
        return
    try:
        async with connect_admin(settings) as admin:
            yield _broker(settings, await admin.cluster())
            present = await admin.topics()
            configs = await admin.configs([name for name in topics.topics if name in present])
    except OdradekError as error:
        remedy = error.remedy or "start a broker there, or set ODRADEK_KAFKA (`odradek up` starts one with the workers)"
        yield Finding("broker", "FAIL", str(error), remedy)
        return
    missing = [name for name in topics.topics if name not in present]
    if len(missing) == len(topics.topics):
        where = f" with the prefix {settings.prefix!r}" if settings.prefix else ""
        yield Finding(
            "topics", "FAIL", f"none of the {len(missing)} topics exists{where}", "run `odradek topics create`"
        )
        return
    differences = code_differences(topics) + against_cluster(topics, present, configs, prefix=settings.prefix)
    if not differences:
        yield Finding("topics", "ok", f"{len(topics.topics)} topics, as topics.yaml and the code say")
    remedy = "run `odradek topics create`" if missing else "run `odradek topics check` for the whole list"
    for difference in differences[:_MOST_DIFFERENCES]:
        yield Finding("topics", "FAIL", difference.line(), remedy)


def _broker(settings: Settings, cluster: ClusterInfo) -> Finding:
    kind = "embedded" if (cluster.cluster_id or "").startswith(_EMBEDDED_CLUSTER) else "kafka"
    name = "the embedded broker" if kind == "embedded" else f"a Kafka cluster of {len(cluster.brokers)}"
    detail = f"{name} answers at {settings.kafka}"
    if kind != settings.broker:
        return Finding(
            "broker", "warn", f"{detail}, but ODRADEK_BROKER={settings.broker}", f"set ODRADEK_BROKER={kind}"
        )
    return Finding("broker", "ok", detail)


async def check_port(settings: Settings) -> AsyncIterator[Finding]:
    """Whether the port of a worker's /livez, /readyz and /metrics is free."""
    if settings.http_port == 0:
        yield Finding("port", "info", "ODRADEK_HTTP_PORT is 0: each worker picks a free port and logs it")
        return
    where = f"{settings.http_host}:{settings.http_port}"
    try:
        server = await asyncio.get_running_loop().create_server(
            asyncio.Protocol, settings.http_host, settings.http_port, start_serving=False
        )
    except OSError as error:
        remedy = "stop what listens there, or set ODRADEK_HTTP_PORT to another port, or to 0"
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        yield Finding("port", "FAIL", f"nothing can listen on {where}: {reason}", remedy)
        return
    server.close()
    yield Finding("port", "ok", f"{where} is free")


async def check_machine(_: Settings) -> AsyncIterator[Finding]:
    """Which local brokers this machine could run; a cluster needs none of it."""
    for what, find in (
        ("embedded broker", embedded.binary),
        ("java", lambda: find_java().version),
        ("mvn", lambda: str(find_maven())),
    ):
        try:
            yield Finding(what, "info", await asyncio.to_thread(find))
        except BrokerUnavailable as error:
            yield Finding(what, "info", f"not available: {error.reason}")
