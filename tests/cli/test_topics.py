"""Topics on a real broker: made once, checked, shown."""

import asyncio
import csv
import json
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.topics import PartitionCounts, load_topics
from services.runtime.errors import ConfigurationError, TopicMismatch, Unavailable
from services.runtime.kafka.admin import connect_admin, provision
from services.runtime.settings import Settings

TOPICS = load_topics()


def variables(kafka: Any, prefix: str) -> dict[str, str]:
    return {"ODRADEK_KAFKA": kafka.bootstrap, "ODRADEK_BROKER": kafka.kind, "ODRADEK_PREFIX": prefix}


@pytest.fixture
def at(kafka: Any, topic_prefix: str, make_settings: Any) -> Settings:
    return make_settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=topic_prefix)


async def make(kafka: Any, *topics: NewTopic) -> None:
    client = AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    await client.start()
    try:
        await client.create_topics(list(topics))
        while not {topic.name for topic in topics} <= set(await client.list_topics()):
            pass
    finally:
        await client.close()


def test_topics_are_made_once_and_then_agree(odradek: Any, kafka: Any, topic_prefix: str) -> None:
    there = variables(kafka, topic_prefix)

    first = odradek("topics", "create", "--partitions", "3", **there)
    again = odradek("topics", "create", **there)
    checked = odradek("topics", "check", "--json", **there)

    assert first.code == again.code == 0
    assert first.lines[0] == f"created {topic_prefix}inbox"
    assert first.lines[-1] == "10 topics created, none were there before; channel topics have 3 partitions"
    assert again.lines == ["0 topics created, 10 already there; channel topics have 3 partitions"]
    assert [found for found in json.loads(checked.out) if found["other"] == "cluster"] == []


async def test_topics_get_what_the_file_declares(at: Settings) -> None:
    made = await provision(at, TOPICS, partitions=5)

    assert made.created == tuple(TOPICS.topics)
    async with connect_admin(at) as admin:
        present = await admin.topics()
        configs = await admin.configs(["channels", "control"])
    assert {name: topic.partitions for name, topic in present.items()} == dict.fromkeys(TOPICS.topics, 5) | {
        "control": 1
    }
    for name, config in configs.items():
        assert TOPICS.topics[name].kafka_config().items() <= config.items()


async def test_without_a_number_the_files_own_for_the_kind_of_broker_counts(at: Settings) -> None:
    topics = TOPICS.model_copy(update={"partitions": PartitionCounts(cluster=3, embedded=2)})

    made = await provision(at, topics)

    assert made.partitions == (2 if at.broker == "embedded" else 3)


async def test_missing_topics_follow_those_that_exist(at: Settings, kafka: Any) -> None:
    await make(kafka, NewTopic(f"{at.prefix}raw", 3, 1))

    made = await provision(at, TOPICS)

    assert made.partitions == 3
    assert made.existing == ("raw",)


@pytest.mark.parametrize(
    ("there", "asked", "message"),
    [
        ({"raw": 3, "inbox": 4}, None, "differ in their number of partitions"),
        ({"raw": 3}, 4, "exist with 3 partitions, not 4"),
        ({"control": 2}, None, "'control' has 2 partitions, not 1"),
    ],
)
async def test_topics_that_do_not_fit_stop_the_making_before_it_begins(
    at: Settings, kafka: Any, there: dict[str, int], asked: int | None, message: str
) -> None:
    await make(kafka, *(NewTopic(f"{at.prefix}{name}", count, 1) for name, count in there.items()))

    with pytest.raises(TopicMismatch, match=message):
        await provision(at, TOPICS, partitions=asked)

    async with connect_admin(at) as admin:
        assert (await admin.topics()).keys() == there.keys()


async def test_two_that_make_topics_at_once_both_succeed(at: Settings) -> None:
    made = await asyncio.gather(*(provision(at, TOPICS, partitions=2) for _ in range(3)))

    assert {one.partitions for one in made} == {2}


def test_a_check_tells_what_is_missing_and_exits_with_one(odradek: Any, kafka: Any, topic_prefix: str) -> None:
    done = odradek("topics", "check", **variables(kafka, topic_prefix))

    assert done.code == 1
    assert "inbox: topic: file says it exists, cluster says there is none" in done.lines


async def test_looking_makes_no_topic(at: Settings) -> None:
    async with connect_admin(at) as admin:
        assert await admin.topics() == {}
        assert await admin.configs([]) == {}
        assert await admin.topics() == {}


async def test_a_replication_factor_beyond_the_brokers_names_its_setting(at: Settings) -> None:
    if at.broker == "embedded":
        return  # it takes any
    with pytest.raises(ConfigurationError) as caught:
        await provision(at.model_copy(update={"replication_factor": 9}), TOPICS)

    assert "ODRADEK_REPLICATION_FACTOR" in caught.value.remedy


async def test_an_address_that_is_none_is_a_wrong_setting(make_settings: Any) -> None:
    with pytest.raises(ConfigurationError, match="no list of HOST:PORT"):
        async with connect_admin(make_settings(kafka="here:there")):
            pass


async def test_something_that_is_no_broker_is_told_from_nothing(make_settings: Any) -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(close, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(
            Unavailable, match="accepts connections, but does not answer as a Kafka broker to PLAINTEXT"
        ):
            async with connect_admin(make_settings(kafka=f"127.0.0.1:{port}")):
                pass


async def test_a_tls_file_that_is_not_there_is_a_wrong_setting(make_settings: Any) -> None:
    settings = make_settings(security_protocol="SSL", tls_ca_file="/nowhere/ca.pem")

    with pytest.raises(ConfigurationError) as caught:
        async with connect_admin(settings):
            pass
    assert "ODRADEK_TLS_CA_FILE" in caught.value.remedy


def test_the_file_is_shown_as_tab_separated_lines_and_as_json(odradek: Any) -> None:
    rows = list(csv.DictReader(odradek("topics", "show").lines, delimiter="\t"))
    content = json.loads(odradek("topics", "show", "--json").out)

    assert [row["topic"] for row in rows] == list(TOPICS.topics) == list(content["topics"])
    assert rows[1]["partitions"] == "1"
    assert content["topics"]["raw"]["records"] == ["bytes"]
