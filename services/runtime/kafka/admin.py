"""Topics on a cluster: what there is, and making what topics.yaml declares and the cluster lacks.

Topics are looked up in the metadata of the whole cluster, never by name: a broker that makes topics on demand would make
one with its own number of partitions when it is asked for a name that it does not know.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from schemas.topics import Topics
from services.runtime.errors import ConfigurationError, OdradekError, TopicMismatch, Unavailable
from services.runtime.kafka.connection import client_options
from services.runtime.settings import Settings

REQUEST_S = 5.0
READY_S = 30.0
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class ClusterTopic:
    """A topic as the cluster has it. `led`: each of its partitions has a leader.

    A leader that is busy making its files refuses writes for a moment longer; producers repeat them.
    """

    partitions: int
    replicas: int
    led: bool


@dataclass(frozen=True, slots=True)
class Provisioned:
    """What `TopicAdmin.create` found and did, by the names of topics.yaml. `partitions` is the channel topics' number."""

    created: tuple[str, ...]
    existing: tuple[str, ...]
    partitions: int


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """Who answers: the cluster's id where it says one, and its brokers as HOST:PORT."""

    cluster_id: str | None
    brokers: tuple[str, ...]


class TopicAdmin:
    """Topics of one cluster, by the names of topics.yaml; made by `connect_admin`."""

    def __init__(self, client: AIOKafkaAdminClient, settings: Settings) -> None:
        self._client = client
        self._settings = settings

    async def cluster(self) -> ClusterInfo:
        """Who answers."""
        async with reaching(self._settings, "describing the cluster"):
            found: dict[str, Any] = await self._client.describe_cluster()
        brokers = sorted(f"{broker['host']}:{broker['port']}" for broker in found["brokers"])
        return ClusterInfo(cluster_id=found.get("cluster_id") or None, brokers=tuple(brokers))

    async def topics(self) -> dict[str, ClusterTopic]:
        """All topics whose names begin with the prefix, without it; with an empty prefix these are all topics."""
        async with reaching(self._settings, "listing topics"):
            found: list[dict[str, Any]] = await self._client.describe_topics()
        prefix = self._settings.prefix
        return {
            str(topic["topic"]).removeprefix(prefix): ClusterTopic(
                partitions=len(topic["partitions"]),
                replicas=min((len(p["replicas"]) for p in topic["partitions"]), default=0),
                led=topic["error_code"] == 0
                and bool(topic["partitions"])
                and all(p["leader"] >= 0 for p in topic["partitions"]),
            )
            for topic in found
            if str(topic["topic"]).startswith(prefix) and not topic["is_internal"]
        }

    async def configs(self, names: Collection[str]) -> dict[str, dict[str, str]]:
        """The configuration of existing topics, defaults included."""
        resources = [ConfigResource(ConfigResourceType.TOPIC, f"{self._settings.prefix}{name}") for name in names]
        if not resources:
            return {}
        async with reaching(self._settings, "reading topic configurations"):
            answers: list[Any] = await self._client.describe_configs(resources)
        found: dict[str, dict[str, str]] = {}
        for answer in answers:
            for resource in answer.to_object()["resources"]:
                if resource["error_code"] != 0:
                    raise OdradekError(
                        f"topic {resource['resource_name']!r}: its configuration cannot be read "
                        f"({_error_name(resource['error_code'])})",
                        remedy="allow this client DESCRIBE_CONFIGS on the topics",
                    )
                name = str(resource["resource_name"]).removeprefix(self._settings.prefix)
                found[name] = {
                    str(entry["config_names"]): str(entry["config_value"]) for entry in resource["config_entries"]
                }
        return found

    async def create(self, topics: Topics, *, partitions: int | None = None) -> Provisioned:
        """Make the declared topics that are missing, and wait until each has its leaders; changes no existing one.

        `partitions` is the number of the channel topics; without it those that exist decide, else topics.yaml.
        Raises TopicMismatch where what exists does not fit, Unavailable, or ConfigurationError for what the cluster
        cannot do.
        """
        present = await self.topics()
        shared = _shared_partitions(topics, present, partitions, self._settings)
        missing = [name for name in topics.topics if name not in present]
        wanted = [
            NewTopic(
                f"{self._settings.prefix}{name}",
                shared if topics.topics[name].partitions == "shared" else 1,
                self._settings.replication_factor,
                topic_configs=topics.topics[name].kafka_config(),
            )
            for name in missing
        ]
        try:
            async with asyncio.timeout(READY_S):
                made = await self._request(wanted)
                present = await self._wait_for_leaders(topics)
        except TimeoutError:
            raise Unavailable("Kafka", f"the topics have no leaders after {READY_S:.0f} s") from None
        # Whoever else made topics in the meantime may have chosen another number.
        _shared_partitions(topics, present, shared, self._settings)
        return Provisioned(
            created=tuple(name for name in topics.topics if f"{self._settings.prefix}{name}" in made),
            existing=tuple(name for name in topics.topics if f"{self._settings.prefix}{name}" not in made),
            partitions=shared,
        )

    async def _wait_for_leaders(self, topics: Topics) -> dict[str, ClusterTopic]:
        while True:
            present = await self.topics()
            if all(name in present and present[name].led for name in topics.topics):
                return present
            await asyncio.sleep(_POLL_S)

    async def _request(self, wanted: list[NewTopic]) -> set[str]:
        """Ask for all topics at once, again for those that fail for now; returns those that this call made."""
        made: set[str] = set()
        while wanted:
            async with reaching(self._settings, "creating topics"):
                answer: Any = await self._client.create_topics(wanted, timeout_ms=int(REQUEST_S * 1000))
            again: set[str] = set()
            for topic, code, message in answer.topic_errors:
                if code == 0:
                    made.add(str(topic))
                    continue
                if for_code(code) is TopicAlreadyExistsError:
                    continue
                if not for_code(code).retriable:
                    raise self._refused(str(topic), code, message)
                again.add(str(topic))
            wanted = [topic for topic in wanted if topic.name in again]
            if wanted:
                await asyncio.sleep(_POLL_S)
        return made

    def _refused(self, topic: str, code: int, message: str | None) -> OdradekError:
        name = _error_name(code)
        text = f"topic {topic!r} cannot be created: {name}{f': {message}' if message else ''}"
        if name == "InvalidReplicationFactorError":
            return ConfigurationError(
                f"{text} (asked for {self._settings.replication_factor})",
                remedy="set ODRADEK_REPLICATION_FACTOR to the number of brokers at most",
            )
        if "Authorization" in name:
            return OdradekError(text, remedy="allow this client to create topics with the prefix, or have them created")
        return OdradekError(text, remedy="see what the broker's own log says of the request")


@contextlib.asynccontextmanager
async def reaching(settings: Settings, doing: str) -> AsyncGenerator[None]:
    """Makes Unavailable of the client's errors, and of a wait beyond 10 s; `doing` says what failed."""
    try:
        async with asyncio.timeout(REQUEST_S * 2):
            yield
    except (KafkaError, OSError, TimeoutError) as error:
        raise Unavailable("Kafka", f"{doing} at {settings.kafka} failed ({type(error).__name__})") from error


@contextlib.asynccontextmanager
async def connect_admin(settings: Settings) -> AsyncGenerator[TopicAdmin]:
    """An administrator of the cluster that the settings name.

    Raises Unavailable where no broker answers, ConfigurationError for an address or a TLS file that cannot be used.
    """
    try:
        options = client_options(settings)
    except OSError as error:
        raise ConfigurationError(
            f"the TLS files of the Kafka client cannot be used: {error.strerror or type(error).__name__}",
            remedy="check ODRADEK_TLS_CA_FILE, ODRADEK_TLS_CERT_FILE and ODRADEK_TLS_KEY_FILE",
        ) from error
    options["request_timeout_ms"] = int(REQUEST_S * 1000)
    client = AIOKafkaAdminClient(**options)
    try:
        try:
            async with asyncio.timeout(REQUEST_S * 2):
                await client.start()
        except ValueError as error:
            raise ConfigurationError(
                f"the address of Kafka is no list of HOST:PORT: {settings.kafka!r}",
                remedy="set ODRADEK_KAFKA to HOST:PORT[,HOST:PORT...]",
            ) from error
        except (KafkaError, OSError, TimeoutError) as error:
            raise Unavailable("Kafka", await _why_unreachable(settings)) from error
        yield TopicAdmin(client, settings)
    finally:
        with contextlib.suppress(KafkaError, OSError, TimeoutError):
            async with asyncio.timeout(REQUEST_S):
                await client.close()


async def provision(settings: Settings, topics: Topics, *, partitions: int | None = None) -> Provisioned:
    """Connect, and `TopicAdmin.create`."""
    async with connect_admin(settings) as admin:
        return await admin.create(topics, partitions=partitions)


def _shared_partitions(
    topics: Topics, present: Mapping[str, ClusterTopic], asked: int | None, settings: Settings
) -> int:
    """How many partitions new channel topics get; raises TopicMismatch where existing ones leave no choice."""
    remedy = "run `odradek topics check`; partitions are fixed at birth, so use another prefix or delete the topics"
    counts = {
        name: present[name].partitions
        for name, spec in topics.topics.items()
        if name in present and spec.partitions == "shared"
    }
    if len(set(counts.values())) > 1:
        raise TopicMismatch(f"the channel topics differ in their number of partitions: {counts}", remedy=remedy)
    for name, spec in topics.topics.items():
        if spec.partitions == 1 and name in present and present[name].partitions != 1:
            raise TopicMismatch(f"topic {name!r} has {present[name].partitions} partitions, not 1", remedy=remedy)
    found = next(iter(counts.values()), None)
    if found is not None and asked is not None and found != asked:
        raise TopicMismatch(f"the channel topics exist with {found} partitions, not {asked}", remedy=remedy)
    if found is not None or asked is not None:
        return found or asked or 1
    return topics.partitions.embedded if settings.broker == "embedded" else topics.partitions.cluster


def _error_name(code: int) -> str:
    return str(for_code(code).__name__)


async def _why_unreachable(settings: Settings) -> str:
    """Whether anything listens at the first address, since that tells a wrong address from wrong credentials."""
    first = settings.kafka.split(",")[0].strip()
    host, _, port = first.rpartition(":")
    try:
        async with asyncio.timeout(2.0):
            _, writer = await asyncio.open_connection(host.strip("[]") or first, int(port) if host else 9092)
    except TimeoutError:
        return f"no broker answers at {settings.kafka} (no connection within 2 s)"
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        return f"no broker answers at {settings.kafka} ({reason or type(error).__name__})"
    writer.close()
    return (
        f"{first} accepts connections, but does not answer as a Kafka broker to {settings.security_protocol}"
        f"{' with these credentials' if settings.security_protocol.startswith('SASL') else ''}"
    )
