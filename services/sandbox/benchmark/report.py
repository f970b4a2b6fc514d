"""The reports as text for a terminal."""

from collections.abc import Sequence

from services.sandbox.benchmark.fairness import FairnessReport
from services.sandbox.benchmark.machine import Machine
from services.sandbox.benchmark.quantiles import Quantiles
from services.sandbox.benchmark.scale import ScaleReport
from services.sandbox.benchmark.streams import StreamsReport
from services.sandbox.benchmark.turns import TurnsReport


def turns_report(report: TurnsReport) -> str:
    """The report of `bench turns`."""
    lines = [
        *_where(report.machine, report.broker, report.partitions, report.discord),
        f"load      {report.turns} turns at once, {report.rate:g} deltas a second each, {report.seconds:g} s measured; "
        f"a turn is {report.deltas_a_turn} deltas and {report.segments_a_turn} messages",
        "",
        *_table(
            ("ms", "segments", "p50", "p99", "most"),
            (
                ("added latency", *_cells(report.added_latency_ms)),
                ("added latency, first segment", *_cells(report.first_token_added_ms)),
                ("pipeline", *_cells(report.pipeline_ms)),
                ("pipeline, first segment", *_cells(report.pipeline_first_ms)),
                ("reference without a broker", *_cells(report.reference_ms)),
                ("reference, first segment", *_cells(report.reference_first_ms)),
            ),
        ),
        "",
        f"the lag {'stays flat' if report.not_flat is None else f'does not stay flat: {report.not_flat}'}",
        f"CPU a turn (workers only) {report.cpu_ms_per_turn:g} ms ({report.cores_used:g} cores): "
        + ", ".join(f"{kind} {ms:g}" for kind, ms in report.cpu_ms_per_turn_of.items()),
        f"records a turn {report.records_per_turn:g}: "
        + ", ".join(f"{topic} {count:g}" for topic, count in report.records_per_turn_of.items()),
    ]
    if report.max_turns is not None:
        lines.append(f"most turns at once with a flat lag: {report.max_turns}")
        lines += [f"  {one.turns}: {'flat' if one.why is None else one.why}" for one in report.search]
    if report.stop_races:
        rows = [
            (row.race, str(row.times), *_pair(row.to_closed_ms), *_pair(row.to_last_visible_ms), str(row.never_called))
            for row in report.stop_races
        ]
        head = ("stop, ms from Discord's event", "times", "closed p50", "p99", "last text p50", "p99", "never called")
        lines += ["", *_table(head, rows)]
        lines += [
            f"first message of the next turn: p50 {row.next_first_shown_ms.p50:g} ms after the stop"
            for row in report.stop_races
            if row.next_first_shown_ms is not None and row.next_first_shown_ms.p50 is not None
        ]
        closed = report.stop_to_closed_ms
        lines.append(f"stop to closed connection, all races: p50 {_cell(closed.p50)} ms, p99 {_cell(closed.p99)} ms")
    return "\n".join(lines)


def scale_report(report: ScaleReport) -> str:
    """The report of `bench scale`."""
    return "\n".join(
        (
            *_where(report.machine, report.broker, report.partitions, report.discord),
            f"load      {report.rate:g} deltas a second and turn, {report.seconds:g} s measured; "
            f"channels spread evenly over the partitions",
            f"caps      {report.kind}: {report.share_of_a_core:g} of a core a process; "
            f"{report.streams_a_process} streams a provider process; one process of every other kind, not capped",
            "",
            *_table(
                (f"{report.kind} processes", "turns at once", "times one", "lag p50 ms", "p99"),
                [
                    (str(step.processes), str(step.max_turns), _cell(step.times_one), *_pair(step.lag_ms))
                    for step in report.steps
                ],
            ),
        )
    )


def fairness_report(report: FairnessReport) -> str:
    """The report of `bench fairness`."""
    rows = [
        (
            row.hostility,
            str(row.quiet_ms.turns),
            str(row.hostile_ms.turns),
            *(_cell(value) for value in (row.quiet_ms.p50, row.hostile_ms.p50, row.quiet_ms.p95, row.hostile_ms.p95)),
            *("-" if ratio is None else f"{ratio:.2f}" for ratio in (row.ratio.p50, row.ratio.p95)),
            "yes" if row.within_20_percent else "no",
        )
        for row in report.hostilities
    ]
    head = ("ms to first text", "turns quiet", "hostile", "p50 quiet", "hostile", "p95 quiet", "hostile", "p50 ratio")
    return "\n".join(
        (
            *_where(report.machine, report.broker, report.partitions, report.discord),
            f"load      {report.channels} channels beside the hostile one, each asks every {report.every_s:g} s; "
            f"the provider takes {report.provider_first_byte_ms:g} ms to its first byte; "
            f"{report.rounds} times {report.seconds:g} s quiet and as long hostile",
            "",
            *_table((*head, "p95 ratio", "within 20 %"), rows),
            "",
            *(f"{row.hostility}: {row.what}" for row in report.hostilities),
        )
    )


def streams_report(report: StreamsReport) -> str:
    """The report of `bench streams`."""
    idle, shares = report.idle, report.shares
    machine, *_ = _where(report.machine, report.broker, 0, "")
    return "\n".join(
        (
            machine,
            f"broker    {report.broker}",
            f"idle      {idle.streams} streams hold {idle.rss_mib:g} MiB, {idle.rss_before_mib:g} without them; "
            f"{idle.kib_a_stream:g} KiB a stream; all were open after {idle.all_open_s:g} s",
            f"stops     from the record to the closed connection: p50 {_cell(idle.stop_to_closed_ms.p50)} ms, "
            f"p99 {_cell(idle.stop_to_closed_ms.p99)} ms, most {_cell(idle.stop_to_closed_ms.most)} ms",
            "",
            *_table(
                (f"first byte, ms (provider: {report.provider_first_byte_ms:g})", "streams", "p50", "p99", "most"),
                (
                    ("alone", *_cells(shares.alone_ms)),
                    (f"beside a guild that asks for {shares.flood}", *_cells(shares.beside_ms)),
                ),
            ),
            f"{'within' if shares.within_20_percent else 'not within'} 20 %: {shares.ratio_p50:g} at the median, "
            f"{shares.ratio_most:g} at most",
        )
    )


def _where(machine: Machine, broker: str, partitions: int, discord: str) -> tuple[str, ...]:
    return (
        f"machine   {machine.processor}, {machine.cores} cores, {machine.memory_gib:g} GiB, {machine.system}, "
        f"Python {machine.python}; load average before the run {machine.load_before:g}",
        f"broker    {broker}, {partitions} partitions",
        f"Discord   {discord}",
    )


def _cells(of: Quantiles) -> tuple[str, ...]:
    return (str(of.count), _cell(of.p50), _cell(of.p99), _cell(of.most))


def _pair(of: Quantiles) -> tuple[str, str]:
    return _cell(of.p50), _cell(of.p99)


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, *rows)
    ]
