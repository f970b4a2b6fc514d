"""Where topics.yaml, the code and the cluster disagree. Pure: each function compares two of them as they were read."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schemas.topics import Topics
from services.cli.code_use import CodeUse
from services.runtime.kafka.admin import ClusterTopic


@dataclass(frozen=True, slots=True)
class Difference:
    """One disagreement about a topic: what the file says and what the other, the code or the cluster, says."""

    topic: str
    what: str
    file: str
    other: Literal["code", "cluster"]
    found: str

    def line(self) -> str:
        """The difference in one line."""
        return f"{self.topic}: {self.what}: file says {self.file}, {self.other} says {self.found}"


def against_records(topics: Topics, record_types: Mapping[str, object]) -> list[Difference]:
    """Record types of the code that stand in no topic. The file's own unknown types are refused when it is read."""
    placed = {record for spec in topics.topics.values() for record in spec.records}
    return [
        Difference("(none)", f"record {name}", "it has no topic", "code", "it is a record type")
        for name in record_types
        if name not in placed
    ]


def against_code(topics: Topics, code: Mapping[str, CodeUse]) -> list[Difference]:
    """Reads and writes that the file declares and the code lacks, or the reverse."""
    found: list[Difference] = []
    for service, use in code.items():
        for what, declared, used in (
            ("reads", topics.read_by(service), use.reads),
            ("writes", topics.written_by(service), use.writes),
        ):
            for topic in sorted(set(declared) ^ used):
                by_file, by_code = ("yes", "no") if topic in declared else ("no", "yes")
                if topic not in topics.topics:
                    by_file = "there is no such topic"
                found.append(Difference(topic, f"{service} {what} it", by_file, "code", by_code))
    return found


def against_cluster(
    topics: Topics,
    present: Mapping[str, ClusterTopic],
    configs: Mapping[str, Mapping[str, str]],
    *,
    prefix: str,
) -> list[Difference]:
    """What the cluster lacks, has besides, or has otherwise.

    Topics besides are only told where a prefix says that they are ours. The number of the channel topics' partitions is
    fixed at birth, so the file's numbers for new ones do not count: the channel topics must be equal to each other.
    """
    found: list[Difference] = []
    shared = Counter(
        present[name].partitions
        for name, spec in topics.topics.items()
        if name in present and spec.partitions == "shared"
    )
    usual = shared.most_common(1)[0][0] if shared else 0
    for name, spec in topics.topics.items():
        there = present.get(name)
        if there is None:
            found.append(Difference(name, "topic", "it exists", "cluster", "there is none"))
            continue
        if spec.partitions == "shared" and there.partitions != usual:
            expected = f"as many as the other channel topics ({usual})"
            found.append(Difference(name, "partitions", expected, "cluster", str(there.partitions)))
        if spec.partitions == 1 and there.partitions != 1:
            found.append(Difference(name, "partitions", "1", "cluster", str(there.partitions)))
        if not there.led:
            found.append(Difference(name, "leaders", "one a partition", "cluster", "some partition has none"))
        config = configs.get(name, {})
        found.extend(
            Difference(name, key, value, "cluster", config.get(key, "nothing"))
            for key, value in spec.kafka_config().items()
            if config.get(key) != value
        )
    if prefix:
        found.extend(
            Difference(name, "topic", "there is none", "cluster", f"it exists with the prefix {prefix!r}")
            for name in sorted(set(present) - set(topics.topics))
        )
    return found
