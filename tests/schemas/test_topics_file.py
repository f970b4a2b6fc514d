"""topics.yaml: what it says of itself, and errors that name the place."""

from pathlib import Path

import pytest
import yaml
from inline_snapshot import snapshot

from schemas.registry import RECORD_TYPES
from schemas.topics import TopicsFileError, load_topics, parse_topics

SHIPPED = load_topics().model_dump(mode="json")


def changed(topic: str = "inbox", **fields: object) -> str:
    """The shipped file with one topic changed."""
    topics = {name: {**spec, **fields} if name == topic else spec for name, spec in SHIPPED["topics"].items()}
    return yaml.safe_dump({**SHIPPED, "topics": topics})


def test_the_shipped_file_places_every_record_type() -> None:
    placed = {record for spec in load_topics().topics.values() for record in spec.records}

    assert placed - {"bytes"} == set(RECORD_TYPES)


def test_a_written_out_file_reads_back_equal() -> None:
    assert parse_topics(changed(), "copy.yaml") == load_topics()


def test_a_topic_says_its_configuration_in_kafkas_words() -> None:
    topics = load_topics().topics

    assert topics["inbox"].kafka_config() == snapshot(
        {
            "cleanup.policy": "delete",
            "retention.ms": "604800000",
            "max.message.bytes": "1065536",
            "message.timestamp.type": "LogAppendTime",
        }
    )
    assert topics["channels"].kafka_config()["retention.ms"] == "-1"


def test_who_reads_and_writes_is_told_by_service() -> None:
    topics = load_topics()

    assert "raw" in topics.written_by("provider")
    assert topics.read_by("context") == ("generations",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("topics:\n  inbox: [", "topics.yaml:2:11: not YAML", id="an open bracket"),
        pytest.param("a: 1\n\tb: 2\n", "topics.yaml:2:1: not YAML", id="a tab"),
        pytest.param("", "topics.yaml: the file: ", id="an empty file"),
        pytest.param("- 1\n", "topics.yaml: the file: ", id="a list"),
        pytest.param("topics: {}\n", "topics.yaml: partitions: ", id="no partitions"),
        pytest.param(changed(records=["Sonnet"]), "topics.inbox.records: .*'Sonnet'", id="an unknown record type"),
        pytest.param(changed(records=[]), "topics.inbox.records: ", id="no record type"),
        pytest.param(changed(retain="7d"), "topics.inbox.retain: ", id="an unknown key"),
        pytest.param(changed(writers=["poet"]), "topics.inbox.writers: .*'poet'", id="an unknown service"),
        pytest.param(changed(retention="7 days"), "topics.inbox.retention: ", id="a retention in words"),
        pytest.param(changed(retention="0d"), "topics.inbox.retention: ", id="no retention"),
        pytest.param(changed(retention="forever"), "topics.inbox: .*compact", id="forever without compaction"),
        pytest.param(changed("channels", retention="1d"), "topics.channels: .*forever", id="compaction for a day"),
        pytest.param(changed(max_bytes=0), "topics.inbox.max_bytes: ", id="no bytes"),
        pytest.param(changed(max_bytes=9_000_000), "topics.inbox.max_bytes: ", id="more bytes than a client takes"),
        pytest.param(changed(partitions=2), "topics.inbox.partitions", id="a number of partitions of its own"),
        pytest.param(changed().replace("inbox:", "In_Box:"), "topics.In_Box", id="a name that is none"),
    ],
)
def test_an_error_names_file_and_place(text: str, message: str) -> None:
    with pytest.raises(TopicsFileError, match=message):
        parse_topics(text, "topics.yaml")


def test_all_errors_of_a_file_are_told_at_once() -> None:
    with pytest.raises(TopicsFileError) as caught:
        parse_topics(changed(max_bytes=0, retention="soon"), "mine.yaml")

    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("mine.yaml: topics.inbox.") for line in lines)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TopicsFileError, match=r"nowhere\.yaml: cannot be read"):
        load_topics(tmp_path / "nowhere.yaml")
