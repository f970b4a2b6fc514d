"""The normalizer's figures as text."""

from services.sandbox.benchmark.normalizing.measure import NormalizeReport


def normalize_report(report: NormalizeReport) -> str:
    """One line a dialect, then the growth."""
    machine = report.machine
    lines = [
        f"machine    {machine.processor}, {machine.cores} cores, Python {machine.python}, load {machine.load_before}",
        f"normalizer {'compiled' if report.compiled else 'as Python; `make compile` makes it machine code'}",
        "",
        f"{'dialect':<17} {'streams':>7} {'events/s':>10} {'over the floor':>15} {'SDK over us':>12}",
    ]
    for dialect, one in report.dialects.items():
        sdk = "-" if one.ratio_to_sdk is None else f"{one.ratio_to_sdk:g}x"
        lines.append(
            f"{dialect:<17} {one.streams:>7} {one.events_per_s:>10,} {f'{one.ratio_to_floor:g}x':>15} {sdk:>12}"
        )
        if one.sdk_failed:
            lines.append(f"{'':<17} the SDK gives up {len(one.sdk_failed)} of these streams, which do not count for it")
    growth = report.growth
    lines += [
        "",
        f"a line of 2 MB in pieces of 4 KiB, over one piece            {growth.line_in_pieces:g}x",
        f"a line of 4 MB in pieces of 64 bytes, over one of 2 MB       {growth.line_doubled:g}x",
        f"tool arguments of 1 MB in 20,000 deltas, over half of that   {growth.arguments_doubled:g}x",
    ]
    return "\n".join(lines)
