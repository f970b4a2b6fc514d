"""`odradek topics`: make them, compare them with file and code, show them, follow what goes through them."""

from typing import Annotated

import typer

from services.cli.options import Json, Kafka, Prefix, TopicsFile

_HELP = """Make, check, show and follow the topics that topics.yaml declares.

\b
Examples:
  odradek topics create
  odradek topics check
  odradek topics tail --from -5m
"""
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=_HELP,
)


@app.command()
def create(
    kafka: Kafka = None,
    prefix: Prefix = None,
    file: TopicsFile = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, metavar="N", help="Partitions of the channel topics, instead of topics.yaml's."
        ),
    ] = None,
) -> None:
    """Make the topics that are missing, and wait until they have their leaders.

    Existing topics are not changed: how many partitions the channel topics have is fixed when the first is made.

    \b
    Examples:
      odradek topics create
      ODRADEK_REPLICATION_FACTOR=3 odradek topics create --kafka broker-1:9092,broker-2:9092
      odradek topics create --prefix test- --partitions 4
    """
    from services.cli import topics_commands

    topics_commands.create(kafka=kafka, prefix=prefix, file=file, partitions=partitions)


@app.command()
def check(
    kafka: Kafka = None,
    prefix: Prefix = None,
    file: TopicsFile = None,
    cluster: Annotated[bool, typer.Option("--cluster/--no-cluster", help="Compare with the cluster too.")] = True,
    as_json: Json = False,
) -> None:
    """Compare topics.yaml with the code and with the cluster; one line a difference.

    Exits with 0 if all agree, with 1 if not.

    \b
    Examples:
      odradek topics check
      odradek topics check --no-cluster --file changed-topics.yaml
    """
    from services.cli import topics_commands

    topics_commands.check(kafka=kafka, prefix=prefix, file=file, with_cluster=cluster, as_json=as_json)


@app.command()
def show(file: TopicsFile = None, as_json: Json = False) -> None:
    """Show what topics.yaml declares: a table in a terminal, tab-separated lines elsewhere.

    \b
    Examples:
      odradek topics show
      odradek topics show | cut -f1,3
      odradek topics show --json
    """
    from services.cli import topics_commands

    topics_commands.show(file=file, as_json=as_json)


@app.command()
def tail(
    topics: Annotated[list[str] | None, typer.Argument(metavar="[TOPIC]...", help="Which topics; all if none.")] = None,
    kafka: Kafka = None,
    prefix: Prefix = None,
    channel: Annotated[str | None, typer.Option(metavar="ID", help="Only records of this channel.")] = None,
    turn: Annotated[str | None, typer.Option(metavar="TURN", help="Only records of this turn.")] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="beginning|end|-5m",
            help="Where to start: the beginning, the end, or so long ago (s, m, h, d). "
            "The end if following, else the beginning.",
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow/--no-follow", help="Go on with what comes; Ctrl-C ends it.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a record, with the whole value.")
    ] = False,
) -> None:
    """Follow topics, one line a record: time, place, type, turn, generation, sequence, and a glance at the value.

    Records that are there already come in the order of their times, as far as 10,000 of them fit together; what follows
    comes as it is read. Control characters in values are shown as escapes.

    \b
    Examples:
      odradek topics tail
      odradek topics tail inbox raw --from -5m
      odradek topics tail --turn m1234567890 --no-follow
      odradek topics tail raw --from beginning --no-follow --json | jq -r .value
    """
    from services.cli import tail as tailing

    tailing.follow(
        topics or [],
        kafka=kafka,
        prefix=prefix,
        channel=channel,
        turn=turn,
        start=start,
        live=follow,
        as_json=as_json,
    )
