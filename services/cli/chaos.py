"""`odradek chaos`: faults on real processes and a real Kafka while people chat, and the verdict on what is left."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.options import Json

if TYPE_CHECKING:
    from services.sandbox.chaos.campaign import Report
    from services.sandbox.chaos.wishes import Wishes
    from services.sandbox.checking.history import History


def run(
    scenario: Annotated[
        str,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help="Who chats and what strikes; `--scenario list` lists them.",
            show_default=True,
        ),
    ] = "mixed",
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            min=10,
            help="How long people chat and faults strike; with rolling and rules-raised how long they chat before it.",
        ),
    ] = 60.0,
    kills: Annotated[
        int, typer.Option("--kills", min=0, help="SIGKILLs; the other faults come in proportion to them.")
    ] = 10,
    turns: Annotated[
        int | None, typer.Option("--turns", min=1, help="Turns at once, in scenarios that keep a number of them going.")
    ] = None,
    away: Annotated[
        float | None, typer.Option("--away", min=1, help="Seconds that an outage lasts, in scenarios that have one.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of what strikes when, and of what people do.")] = 1,
    restart: Annotated[
        bool,
        typer.Option("--restart/--no-restart", help="Whether a killed process comes back, or others take over for it."),
    ] = True,
    processes: Annotated[int, typer.Option("--processes", min=1, help="Processes of each kind.")] = 2,
    partitions: Annotated[int, typer.Option("--partitions", min=1, help="Partitions of the topics.")] = 8,
    kafka: Annotated[
        str | None,
        typer.Option("--kafka", metavar="HOST:PORT", help="Use this cluster; it is not killed. Else one is started."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep all logs and the history of the run here.")
    ] = None,
    json: Json = False,
) -> None:
    """Let faults strike worker processes and what they depend on in the midst of turns, and check that all is well.

    Exits 1 if an invariant is broken, a process fell, or the scenario's own verdict is bad. A seed gives the same plan of
    faults, but on a real machine never quite the same run.

    Examples:

      odradek chaos --seconds 180 --kills 30

      odradek chaos --seconds 60 --kills 10 --no-restart --json

      odradek chaos --scenario broker-away --away 50

      odradek chaos --scenario rolling --turns 50

      odradek chaos --scenario rules-raised --turns 30 --json

      odradek chaos --scenario soak --seconds 1200 --kills 60

      odradek chaos --kafka broker-1:9092 --keep ./chaos
    """
    import shutil
    import tempfile

    from services.sandbox.chaos.scenarios.table import SCENARIOS
    from services.sandbox.chaos.wishes import Wishes

    if scenario == "list":
        for name, kind in SCENARIOS.items():
            print(f"{name:16}{kind.about}")
        return
    if scenario not in SCENARIOS:
        raise typer.BadParameter(f"{scenario!r} is none of {', '.join(SCENARIOS)}", param_hint="--scenario")
    wishes = Wishes(
        scenario=scenario,
        seconds=seconds,
        kills=kills,
        seed=seed,
        kafka=kafka,
        restart=restart,
        processes=processes,
        partitions=partitions,
        turns=turns,
        away_s=away,
    )
    directory = keep or Path(tempfile.mkdtemp(prefix="odradek-chaos-"))
    directory.mkdir(parents=True, exist_ok=True)
    finished = False
    try:
        outcome = _play(wishes, directory)
        finished = outcome is not None and outcome[0].good
    finally:
        if finished and keep is None:
            shutil.rmtree(directory, ignore_errors=True)
        else:
            _say(f"the logs of all processes: {directory}")
    if outcome is None:
        raise typer.Exit(130)
    report, history = outcome
    _tell(report, history)
    _print(report, json=json)
    raise typer.Exit(0 if report.good else 1)


def _play(wishes: "Wishes", directory: Path) -> "tuple[Report, History] | None":
    """The outcome; None if a signal ended the run. No process is left either way."""
    import asyncio
    import logging
    import signal

    import structlog
    import uvloop

    from services.sandbox.chaos.campaign import run_campaign

    # What our own clients say of a broker that we killed is no news.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    for library in ("aiokafka", "aiohttp", "discord"):
        logging.getLogger(library).setLevel(logging.CRITICAL)

    async def until_signal() -> "tuple[Report, History] | None":
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        work = asyncio.create_task(run_campaign(wishes, directory, _say))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            _say("stopping")
            return None
        finally:
            stopped.cancel()
            work.cancel()
            await asyncio.wait({work, stopped})

    return uvloop.run(until_signal())


def _tell(report: "Report", history: "History") -> None:
    import sys

    from services.sandbox.checking.story import tell

    for failure in report.failures:
        _say(failure)
    if report.violations:
        print(f"\n{tell(history, report.violations[0])}\n", file=sys.stderr)
    for violation in report.violations[1:]:
        _say(f"invariant {violation.invariant}: {violation.what}")


def _print(report: "Report", *, json: bool) -> None:
    if json:
        import dataclasses

        import orjson

        told = {field.name: getattr(report, field.name) for field in dataclasses.fields(report)}
        own = told.pop("own")
        if own is not None:
            told[report.scenario] = own.report
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(report.faults.items())) or "none"
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(report.statuses.items()))
    recovery, alone = report.recovery_s, report.recovery_alone_s
    print(f"scenario      {report.scenario}")
    print(f"faults        {faults}")
    print(f"turns         {report.turns}, {report.ended} ended ({statuses}), {report.lost} lost")
    print(f"shown twice   {report.duplicated} characters")
    print(f"calls         {report.calls}, {report.calls_repeated} repeated without a logged end")
    if report.kills:
        beyond = report.beyond_startup_s
        print(
            f"recovery      {_seconds(recovery.p50)} median, {_seconds(recovery.max)} at most, {recovery.count} kills"
        )
        print(f"  undisturbed {_seconds(alone.p50)} median, {_seconds(alone.max)} at most, {alone.count} kills")
        print(f"  without the start-up {_seconds(beyond.p50)} median, {_seconds(beyond.max)} at most")
    print(f"start-up      {_seconds(report.startup_s.p50)} median, {_seconds(report.startup_s.max)} at most")
    lines = report.log_lines
    print(
        f"log           {lines.mean} lines a second a process, {lines.most} of {lines.of}; {lines.peak} in one second"
    )
    for line in () if report.own is None else report.own.lines:
        print(line)
    print(f"violations    {len(report.violations) or 'none'}")
    for failure in report.failures:
        print(f"failure       {failure}")


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def _say(line: str) -> None:
    import sys

    print(f"odradek: {line}", file=sys.stderr, flush=True)
