"""What `odradek topics create`, `check` and `show` do."""

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

import typer

from schemas.registry import RECORD_TYPES
from schemas.topics import Topics, TopicSpec, load_topics
from services.cli.code_use import code_use
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.cli.topic_differences import Difference, against_cluster, against_code, against_records
from services.runtime.kafka.admin import connect_admin, provision
from services.runtime.settings import Settings

COLUMNS = (
    "topic",
    "purpose",
    "records",
    "partitions",
    "retention",
    "cleanup",
    "max_bytes",
    "timestamps",
    "writers",
    "readers",
)


def create(*, kafka: str | None, prefix: str | None, file: Path | None, partitions: int | None) -> None:
    """Make what is missing and say what was made."""
    settings = load_settings(kafka=kafka, prefix=prefix, topics_file=file)
    done = run(settings, provision(settings, load_topics(settings.topics_file), partitions=partitions))
    for name in done.created:
        print(f"created {settings.prefix}{name}")
    there = f"{len(done.existing)} already there" if done.existing else "none were there before"
    print(f"{len(done.created)} topics created, {there}; channel topics have {done.partitions} partitions")


def check(*, kafka: str | None, prefix: str | None, file: Path | None, with_cluster: bool, as_json: bool) -> None:
    """Print each difference; exits with 1 where there is one."""
    settings = load_settings(kafka=kafka, prefix=prefix, topics_file=file)
    topics = load_topics(settings.topics_file)
    found = code_differences(topics)
    if with_cluster:
        found += run(settings, cluster_differences(settings, topics))
    if as_json:
        print(json.dumps([asdict(difference) for difference in found], indent=2))
    else:
        for difference in found:
            print(printable(difference.line()))
        if not found:
            print(f"{len(topics.topics)} topics: file, code{' and cluster' if with_cluster else ''} agree")
    if found:
        raise typer.Exit(1)


def code_differences(topics: Topics) -> list[Difference]:
    """Where the file and the code disagree."""
    return against_records(topics, RECORD_TYPES) + against_code(topics, code_use())


async def cluster_differences(settings: Settings, topics: Topics) -> list[Difference]:
    """Where the file and the cluster disagree; raises Unavailable where no broker answers."""
    async with connect_admin(settings) as admin:
        present = await admin.topics()
        configs = await admin.configs([name for name in topics.topics if name in present])
    return against_cluster(topics, present, configs, prefix=settings.prefix)


def show(*, file: Path | None, as_json: bool) -> None:
    """Print what the file declares."""
    topics = load_topics(file or load_settings().topics_file)
    if as_json:
        print(json.dumps(topics.model_dump(mode="json"), indent=2))
        return
    rows = [_row(name, spec) for name, spec in topics.topics.items()]
    if sys.stdout.isatty():
        _print_table(topics, rows)
        return
    print("\t".join(COLUMNS))
    for row in rows:
        print("\t".join(row))


def _row(name: str, spec: TopicSpec) -> tuple[str, ...]:
    cells = (
        name,
        spec.purpose,
        ",".join(spec.records),
        str(spec.partitions),
        spec.retention,
        spec.cleanup,
        str(spec.max_bytes),
        spec.timestamps,
        ",".join(spec.writers),
        ",".join(spec.readers) or "-",
    )
    return tuple(printable(cell) for cell in cells)


def _print_table(topics: Topics, rows: list[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*(column.replace("_", " ") for column in COLUMNS), show_lines=True)
    for row in rows:
        table.add_row(*(escape(re.sub(r",(?! )", ", ", cell)) for cell in row))
    console = Console()
    console.print(table)
    console.print(
        f"shared: one number for all channel topics, {topics.partitions.cluster} on a cluster, "
        f"{topics.partitions.embedded} on the embedded broker, fixed when they are made"
    )
