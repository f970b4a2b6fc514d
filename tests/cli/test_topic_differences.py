"""Where topics.yaml, the code and the cluster disagree."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from schemas.registry import RECORD_TYPES
from schemas.topics import load_topics
from services.cli.code_use import CodeUse, code_use
from services.cli.topic_differences import against_cluster, against_code, against_records
from services.runtime.kafka.admin import ClusterTopic

TOPICS = load_topics()


def as_declared(partitions: int = 4) -> tuple[dict[str, ClusterTopic], dict[str, dict[str, str]]]:
    """A cluster that is as the file says."""
    present = {
        name: ClusterTopic(partitions if spec.partitions == "shared" else 1, 1, led=True)
        for name, spec in TOPICS.topics.items()
    }
    return present, {name: spec.kafka_config() for name, spec in TOPICS.topics.items()}


def lines(present: dict[str, ClusterTopic], configs: dict[str, dict[str, str]], prefix: str = "") -> list[str]:
    return [found.line() for found in against_cluster(TOPICS, present, configs, prefix=prefix)]


@pytest.mark.parametrize("partitions", [1, 4, 64])
def test_a_cluster_as_declared_has_no_difference_whatever_its_number_of_partitions(partitions: int) -> None:
    assert lines(*as_declared(partitions)) == []


def test_each_difference_of_the_cluster_is_one_line() -> None:
    present, configs = as_declared()
    del present["inbox"]
    present["raw"] = ClusterTopic(8, 1, led=True)
    present["control"] = ClusterTopic(4, 1, led=True)
    present["turns"] = ClusterTopic(4, 1, led=False)
    present["claims"] = ClusterTopic(4, 1, led=True)
    present["older"] = ClusterTopic(4, 1, led=True)
    configs["claims"] = configs["claims"] | {"retention.ms": "1"}
    del configs["channels"]["cleanup.policy"]

    assert lines(present, configs, prefix="x-") == snapshot(
        [
            "inbox: topic: file says it exists, cluster says there is none",
            "control: partitions: file says 1, cluster says 4",
            "raw: partitions: file says as many as the other channel topics (4), cluster says 8",
            "claims: retention.ms: file says 86400000, cluster says 1",
            "turns: leaders: file says one a partition, cluster says some partition has none",
            "channels: cleanup.policy: file says compact, cluster says nothing",
            "older: topic: file says there is none, cluster says it exists with the prefix 'x-'",
        ]
    )


def test_without_a_prefix_other_topics_of_the_cluster_are_not_ours() -> None:
    present, configs = as_declared()

    assert lines(present | {"billing": ClusterTopic(1, 1, led=True)}, configs) == []


def test_a_record_type_without_a_topic_is_told() -> None:
    assert against_records(TOPICS, RECORD_TYPES) == []
    assert [found.line() for found in against_records(TOPICS, {"Sonnet": object})] == [
        "(none): record Sonnet: file says it has no topic, code says it is a record type"
    ]


def test_reads_and_writes_that_file_and_code_see_otherwise_are_told() -> None:
    declared = {
        service: CodeUse(frozenset(TOPICS.read_by(service)), frozenset(TOPICS.written_by(service)), has_worker=True)
        for service in ("normalizer", "delivery")
    }
    assert against_code(TOPICS, declared) == []

    other = CodeUse(frozenset({"raw", "inbox", "poems"}), declared["normalizer"].writes - {"inbox"}, has_worker=True)
    assert [found.line() for found in against_code(TOPICS, {"normalizer": other})] == [
        "poems: normalizer reads it: file says there is no such topic, code says yes",
        "inbox: normalizer writes it: file says yes, code says no",
    ]


def test_the_shipped_file_and_the_code_agree() -> None:
    assert [found.line() for found in against_code(TOPICS, code_use())] == []


def test_code_says_its_topics_in_literals_constants_and_specs(tmp_path: Path) -> None:
    def write(path: str, text: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    write("runtime/snapshots.py", 'TOPIC = "channels"\n\n\ndef load(log):\n    return log.read_to_end(TOPIC, ())\n')
    write(
        "provider/worker.py",
        'from services.runtime.process import WorkerSpec\n\nOWN = "raw"\n'
        "def write(send):\n"
        "    send(output('inbox', 1))\n"
        "    send(bare(OWN, b''))\n"
        "    send(NewRecord(topic='turns', key=b''))\n"
        "    send(output(somewhere, 1))\n"
        "SPEC = WorkerSpec(name='provider', reads='prompts', build=write, needs_claims=True, needs_control=True)\n",
    )
    write(
        "orchestrator/deep/actors.py",
        "from services.runtime.snapshots import TOPIC as SNAPSHOTS, load\n\n\n"
        "def keep(send, log):\n    send(output(SNAPSHOTS, 1))\n    log.tail('inbox', since_ms=0)\n",
    )
    found = code_use(tmp_path)

    assert found["provider"] == CodeUse(
        reads=frozenset({"prompts", "claims", "control"}),
        writes=frozenset({"inbox", "raw", "turns", "claims", "dead-letters"}),
        has_worker=True,
    )
    assert found["orchestrator"] == CodeUse(
        reads=frozenset({"inbox", "channels"}), writes=frozenset({"channels"}), has_worker=False
    )
    assert found["gateway"] == CodeUse(frozenset(), frozenset(), has_worker=False)


def test_every_service_of_the_file_has_code_to_compare() -> None:
    assert all(use.has_worker for use in code_use().values())
