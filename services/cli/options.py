"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Kafka = Annotated[
    str | None, typer.Option("--kafka", metavar="HOST:PORT", help="The cluster, instead of ODRADEK_KAFKA.")
]
Prefix = Annotated[str | None, typer.Option("--prefix", help="The prefix of topic names, instead of ODRADEK_PREFIX.")]
TopicsFile = Annotated[
    Path | None, typer.Option("--file", metavar="PATH", help="Another topics.yaml, instead of ODRADEK_TOPICS_FILE.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
