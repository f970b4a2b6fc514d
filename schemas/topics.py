"""topics.yaml as a checked model: what each topic holds, who writes and reads it, how it is provisioned."""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from schemas.registry import RECORD_TYPES

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
SERVICES = ("gateway", "context", "provider", "normalizer", "orchestrator", "delivery")


COMPACTION_LAG_MS = 600_000
"""How long every snapshot is kept beside later ones: a zombie's late one must not be the only one left before its successor
has written its own again."""


class TopicsFileError(Exception):
    """topics.yaml cannot be used; the message names the file and the place in it."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TopicSpec(_Strict):
    """One topic. `partitions` is the number that all channel topics share, or 1. Sizes are bytes of a record's value."""

    purpose: str
    key: Literal["channel"]
    records: Annotated[tuple[str, ...], Field(min_length=1)]
    partitions: Literal["shared", 1]
    retention: Annotated[str, Field(pattern=r"^(forever|[1-9][0-9]*[smhd])$")]
    cleanup: Literal["delete", "compact"]
    max_bytes: Annotated[int, Field(gt=0, le=8_500_000)]
    timestamps: Literal["log-append", "create"]
    writers: Annotated[tuple[str, ...], Field(min_length=1)]
    readers: tuple[str, ...]

    @field_validator("records")
    @classmethod
    def _known_records(cls, records: tuple[str, ...]) -> tuple[str, ...]:
        for name in records:
            if name != "bytes" and name not in RECORD_TYPES:
                raise ValueError(
                    f"no record type {name!r} in schemas/; known are bytes, {', '.join(sorted(RECORD_TYPES))}"
                )
        return records

    @field_validator("writers", "readers")
    @classmethod
    def _known_services(cls, services: tuple[str, ...]) -> tuple[str, ...]:
        for name in services:
            if name not in SERVICES:
                raise ValueError(f"no service {name!r}; known are {', '.join(SERVICES)}")
        return services

    @model_validator(mode="after")
    def _retention_fits_cleanup(self) -> "TopicSpec":
        if (self.retention == "forever") != (self.cleanup == "compact"):
            raise ValueError("retention forever goes with cleanup compact, and only with it")
        return self

    @property
    def retention_ms(self) -> int:
        """Milliseconds that the broker keeps a record; -1 for ever, as Kafka writes it."""
        if self.retention == "forever":
            return -1
        return int(self.retention[:-1]) * _UNITS_MS[self.retention[-1]]

    def kafka_config(self) -> dict[str, str]:
        """The topic's configuration in Kafka's own words. The record limit leaves 64 KiB for key and headers."""
        config = {
            "cleanup.policy": self.cleanup,
            "retention.ms": str(self.retention_ms),
            "max.message.bytes": str(self.max_bytes + 65_536),
            "message.timestamp.type": "LogAppendTime" if self.timestamps == "log-append" else "CreateTime",
        }
        if self.cleanup == "compact":
            config["min.compaction.lag.ms"] = str(COMPACTION_LAG_MS)
        return config


class PartitionCounts(_Strict):
    """How many partitions the channel topics get when they are created."""

    cluster: Annotated[int, Field(ge=1, le=10_000)]
    embedded: Annotated[int, Field(ge=1, le=10_000)]


class Topics(_Strict):
    """All topics by name."""

    partitions: PartitionCounts
    topics: dict[Annotated[str, Field(pattern=r"^[a-z][a-z-]*$")], TopicSpec]

    def written_by(self, service: str) -> tuple[str, ...]:
        """The topics that the service may write."""
        return tuple(name for name, spec in self.topics.items() if service in spec.writers)

    def read_by(self, service: str) -> tuple[str, ...]:
        """The topics that the service reads."""
        return tuple(name for name, spec in self.topics.items() if service in spec.readers)


def load_topics(path: Path | None = None) -> Topics:
    """The file at `path`, or the one that ships with the code. Raises TopicsFileError, which names the place."""
    if path is None:
        return _shipped()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TopicsFileError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise TopicsFileError(f"{path}: not UTF-8") from error
    topics = parse_topics(text, str(path))
    missing = sorted(_shipped().topics.keys() - topics.topics.keys())
    if missing:
        raise TopicsFileError(
            f"{path}: topics: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; the workers need every "
            "topic of the file that ships with the code, and more may be added"
        )
    return topics


def parse_topics(text: str, source: str) -> Topics:
    """The topics in a YAML text; `source` names it in errors."""
    try:
        content: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = re.search(r"line (\d+), column (\d+)", str(error))
        place = f"{source}:{mark[1]}:{mark[2]}" if mark else source
        reason = getattr(error, "problem", None) or type(error).__name__
        raise TopicsFileError(f"{place}: not YAML: {reason}") from error
    except (ValueError, RecursionError) as error:  # a date that no calendar has, or lists in lists without end
        raise TopicsFileError(f"{source}: a value cannot be read ({type(error).__name__})") from error
    try:
        return Topics.model_validate(content)
    except ValidationError as error:
        lines = [
            f"{source}: {'.'.join(str(part) for part in item['loc']) or 'the file'}: {item['msg']}"
            for item in error.errors()
        ]
        raise TopicsFileError("\n".join(lines)) from error


@cache
def _shipped() -> Topics:
    packaged = files("schemas") / "topics.yaml"
    if packaged.is_file():
        return parse_topics(packaged.read_text(encoding="utf-8"), "topics.yaml")
    beside = Path(__file__).parent.parent / "topics.yaml"
    return parse_topics(beside.read_text(encoding="utf-8"), str(beside))
