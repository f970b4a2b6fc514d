"""The figures of building contexts as text."""

from services.sandbox.benchmark.assembling.measure import ContextReport, Step

_WORST = 5
"""Hostile texts that are told, of all that are measured."""


def context_report(report: ContextReport) -> str:
    """One line a step, then growth and the worst texts."""
    machine = report.machine
    rows: list[tuple[str, Step]] = [
        ("build", report.build),
        ("record what was read", report.record),
        *((f"render, {dialect}", step) for dialect, step in report.render.items()),
        ("all three, openai-chat", report.together),
        ("all three, many authors", report.many_authors),
    ]
    lines = [
        f"machine    {machine.processor}, {machine.cores} cores, Python {machine.python}, load {machine.load_before}",
        f"channel    {report.messages} messages of {report.authors} people, {report.characters:,} characters",
        f"reference  {report.reference_ms.p50:.2f} ms, the messages as JSON",
        "",
        f"{'CPU time, ms':<27} {'p50':>6} {'p99':>6} {'most':>6} {'over the reference':>19}",
        *(
            f"{name:<27} {step.ms.p50:>6.2f} {step.ms.p99:>6.2f} {step.ms.most:>6.2f} {f'{step.ratio:g}x':>19}"
            for name, step in rows
        ),
        "",
        f"1,000 messages over 100, of {report.authors} people       {report.growth.few_authors:g}x",
        f"1,000 messages over 100, many authors    {report.growth.many_authors:g}x",
        "",
        f"{'a message of 4,000 of':<27} {'ms':>6} {'over 2,000':>11}",
    ]
    worst = sorted(report.hostile.items(), key=lambda row: row[1].ms, reverse=True)[:_WORST]
    lines += [f"{name:<27} {one.ms:>6.2f} {f'{one.doubled:g}x':>11}" for name, one in worst]
    return "\n".join(lines)
