"""`odradek bench`: what the pipeline adds, how fast stops are, how many turns run at once, what a hostile channel does."""

import contextlib
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

if TYPE_CHECKING:
    from services.cli.bench_crew import SupervisedCrew
    from services.sandbox.benchmark.stage import Stage
    from services.sandbox.provider.neutral import DialectName

Report = TypeVar("Report")

_HELP = """Measure whole turns on this machine.

\b
Examples:
  odradek bench turns
"""
app = typer.Typer(help=_HELP, no_args_is_help=True)

BenchKafka = Annotated[
    str | None,
    typer.Option("--kafka", metavar="HOST:PORT", help="Use this cluster instead of starting Kafka on this machine."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Rate = Annotated[float, typer.Option("--rate", min=0.1, help="Deltas a second of each turn.")]
Seconds = Annotated[float, typer.Option("--seconds", min=3, help="How long each load is measured.")]
Partitions = Annotated[
    int, typer.Option("--partitions", min=1, help="Partitions of the topics (topics.yaml's 64 take 15 s to make).")
]
DialectOption = Annotated[
    Literal["openai-chat", "anthropic"], typer.Option("--dialect", help="The provider's language.")
]
MaxTurns = Annotated[int, typer.Option("--max-turns", min=1, help="The upper bound of the search.")]


@app.command("turns")
def turns(
    at_once: Annotated[int, typer.Option("--turns", min=1, help="Turns at once.")] = 20,
    rate: Rate = 20.0,
    seconds: Seconds = 30.0,
    races: Annotated[int, typer.Option("--races", min=0, help="How often each stop race is run.")] = 20,
    max_turns: MaxTurns = 400,
    skip_search: Annotated[bool, typer.Option("--skip-search", help="Leave out the most turns at once.")] = False,
    dialect: DialectOption = "openai-chat",
    partitions: Partitions = 16,
    kafka: BenchKafka = None,
    json: Json = False,
) -> None:
    """Compare turns through the pipeline with turns through one process without a broker, and race stops against them.

    Examples:

      odradek bench turns

      odradek bench turns --turns 5 --seconds 10 --races 3 --skip-search --json
    """
    from services.sandbox.benchmark.report import turns_report
    from services.sandbox.benchmark.turns import TurnsReport, Wishes, measure_turns

    wishes = Wishes(
        turns=at_once, rate=rate, seconds=seconds, races=races, most=max(max_turns, at_once), search=not skip_search
    )

    async def run() -> TurnsReport:
        async with _stage(kafka, dialect, partitions) as (stage, crew):
            return await measure_turns(stage, crew, wishes, command=_command(), say=_say)

    _print(_run(run()), turns_report, json=json)


@app.command("scale")
def scale(
    kind: Annotated[
        Literal["provider", "normalizer", "orchestrator", "context", "delivery"],
        typer.Option("--kind", help="The kind of worker of which more processes are run."),
    ] = "provider",
    cpu: Annotated[float, typer.Option("--cpu", min=0.02, max=1, help="The share of a core of each process.")] = 0.1,
    streams: Annotated[int, typer.Option("--streams", min=1, help="Streams that a provider process may hold.")] = 12,
    rate: Rate = 20.0,
    seconds: Seconds = 15.0,
    max_turns: MaxTurns = 200,
    dialect: DialectOption = "openai-chat",
    partitions: Partitions = 16,
    kafka: BenchKafka = None,
    json: Json = False,
) -> None:
    """Find the turns at once that 1, 2 and 4 processes of a kind hold, each capped, so that the machine is not the limit.

    Example: odradek bench scale --kind provider --seconds 15
    """
    from services.sandbox.benchmark.report import scale_report
    from services.sandbox.benchmark.scale import Wishes, measure_scale

    wishes = Wishes(kind=kind, share=cpu, streams=streams, rate=rate, seconds=seconds, most=max_turns)
    measured = measure_scale(lambda: _stage(kafka, dialect, partitions), wishes, command=_command(), say=_say)
    _print(_run(measured), scale_report, json=json)


@app.command("fairness")
def fairness(
    channels: Annotated[int, typer.Option("--channels", min=1, help="Channels beside the hostile one.")] = 10,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="Quiet and hostile phases of each hostility, in alternation.")
    ] = 4,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long each phase is.")] = 5.0,
    every: Annotated[
        float, typer.Option("--every", min=0.5, help="Seconds from a question of a channel to its next one, at least.")
    ] = 2.0,
    first_byte: Annotated[
        float, typer.Option("--first-byte", min=0, help="Seconds that the provider takes to its first byte.")
    ] = 0.5,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="NAME", help="Only this hostility.")] = None,
    dialect: DialectOption = "openai-chat",
    partitions: Partitions = 16,
    kafka: BenchKafka = None,
    json: Json = False,
) -> None:
    """Measure how long channels wait for their first text beside a hostile channel, against quiet phases of the same run.

    Examples:

      odradek bench fairness --json

      odradek bench fairness --only flood_by_one --rounds 2
    """
    from services.sandbox.benchmark.fairness import FairnessReport, Wishes, measure_fairness
    from services.sandbox.benchmark.hostile import HOSTILITIES
    from services.sandbox.benchmark.report import fairness_report

    names = [one.name for one in HOSTILITIES]
    unknown = [name for name in only or () if name not in names]
    if unknown:
        raise typer.BadParameter(f"there is no {unknown[0]}; there are {', '.join(names)}", param_hint="--only")
    if partitions < 2:
        raise typer.BadParameter("channels in other partitions need two at least", param_hint="--partitions")
    wishes = Wishes(channels, rounds, seconds, every, first_byte, tuple(only or ()))

    async def run() -> FairnessReport:
        async with _stage(kafka, dialect, partitions, limits=True) as (stage, crew):
            return await measure_fairness(stage, crew, wishes, command=_command(), say=_say)

    _print(_run(run()), fairness_report, json=json)


@app.command("streams")
def streams(
    idle: Annotated[int, typer.Option("--idle", min=1, help="Idle streams at once.")] = 1_000,
    stops: Annotated[int, typer.Option("--stops", min=1, help="How many of them are stopped and timed.")] = 100,
    flood: Annotated[int, typer.Option("--flood", min=1, help="Streams that one guild asks for at once.")] = 500,
    asks: Annotated[int, typer.Option("--asks", min=1, help="Streams of the other guild, one after another.")] = 20,
    first_byte: Annotated[
        float, typer.Option("--first-byte", min=0, help="Seconds that the provider takes to its first byte.")
    ] = 0.5,
    kafka: Annotated[
        str | None, typer.Option("--kafka", metavar="HOST:PORT", help="Use this cluster, not the embedded broker.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure one provider process: memory and stops with many idle streams, and a guild's wait beside a greedy one.

    Example: odradek bench streams --json
    """
    from services.cli.bench_crew import SupervisedCrew
    from services.sandbox.benchmark.report import streams_report
    from services.sandbox.benchmark.streams import StreamsReport, Wishes, measure_streams

    wishes = Wishes(idle=idle, stops=stops, flood=flood, asks=asks, first_byte_s=first_byte)

    async def run() -> StreamsReport:
        directory = Path(tempfile.mkdtemp(prefix="odradek-bench-"))
        _say(f"the log of the process: {directory}")
        crew = SupervisedCrew(directory, _say)
        try:
            return await measure_streams(crew, wishes, kafka=kafka, command=_command(), say=_say)
        finally:
            await crew.end()

    _print(_run(run()), streams_report, json=json)


@app.command("normalize")
def normalize(
    streams: Annotated[
        Path, typer.Argument(metavar="DIR", help="Recorded streams, as DIALECT/NAME.sse.", show_default=True)
    ] = Path("tests/data/normalizer"),
    json: Json = False,
) -> None:
    """Measure the normalizer alone, in this process: one read an event, guards on, the final object built.

    Its time is compared with the floor (split lines, load each payload's JSON) and, where they are installed
    (pip install 'odradek[bench]'), with the official SDKs' accumulators, on the same streams.

    Example: odradek bench normalize --json
    """
    from services.sandbox.benchmark.normalizing.measure import measure_normalizing
    from services.sandbox.benchmark.normalizing.report import normalize_report

    _print(measure_normalizing(streams, command=_command(), say=_say), normalize_report, json=json)


@app.command("context")
def context(json: Json = False) -> None:
    """Measure the context worker's own work, in this process: a channel of 100 messages becomes a provider's request.

    Building, recording what was read, and rendering are timed apart and together, as CPU time, beside the time in which the
    same messages become JSON; then how the work grows with their number, and what hostile texts cost.

    Example: odradek bench context --json
    """
    from services.sandbox.benchmark.assembling.measure import measure_assembling
    from services.sandbox.benchmark.assembling.report import context_report

    _print(measure_assembling(command=_command(), say=_say), context_report, json=json)


@contextlib.asynccontextmanager
async def _stage(
    kafka: str | None, dialect: "DialectName", partitions: int, *, limits: bool = False
) -> "AsyncGenerator[tuple[Stage, SupervisedCrew]]":
    """A stage and an empty crew; at the end all processes are gone."""
    from services.cli.bench_crew import SupervisedCrew
    from services.sandbox.benchmark.stage import open_stage

    directory = Path(tempfile.mkdtemp(prefix="odradek-bench-"))
    _say(f"the logs of all processes: {directory}")
    async with open_stage(
        directory, kafka=kafka, dialect=dialect, partitions=partitions, say=_say, limits=limits
    ) as stage:
        crew = SupervisedCrew(directory, _say)
        try:
            yield stage, crew
        finally:
            await crew.end()


def _run(measuring: "Coroutine[None, None, Report]") -> "Report":
    import asyncio
    import logging
    import signal

    import uvloop

    async def until_told_to_end() -> Report:
        work = asyncio.ensure_future(measuring)
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        return await work

    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # new topics have no leaders for a moment
    try:
        return uvloop.run(until_told_to_end())
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise typer.Exit(130) from None


def _print(report: "Report", as_text: "Callable[[Report], str]", *, json: bool) -> None:
    if json:
        import orjson

        print(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
    else:
        print(as_text(report))


def _command() -> str:
    return " ".join(["odradek", *sys.argv[1:]])


def _say(line: str) -> None:
    print(f"odradek: {line}", file=sys.stderr, flush=True)
