"""`odradek simulate`: the workers' own code in simulated worlds, one a seed, checked against the invariants."""

from typing import Annotated

import typer

from services.cli.options import Json


def run(
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.")] = 200,
    first: Annotated[int, typer.Option("--from", min=0, metavar="SEED", help="The first seed.")] = 0,
    fault: Annotated[
        list[str] | None, typer.Option("--fault", help="Only this fault; may be given several times. All if left out.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Processes; one a core if left out.")
    ] = None,
    json: Json = False,
) -> None:
    """Run whole turns with kills, freezes, lost acknowledgements and absences in virtual time, and check what came out.

    A seed always gives the same run, on every machine. One seed that fails is told as a story.

    Faults: kill, sigterm, sigstop, evict, ack-lost, broker-away, skew, discord-away, code-change.

    Examples:

      odradek simulate --seeds 10000

      odradek simulate --seeds 1 --from 4711

      odradek simulate --seeds 500 --fault kill --fault ack-lost --json
    """
    import sys
    import time
    from collections import Counter
    from typing import cast

    from services.runtime.errors import ConfigurationError
    from services.sandbox.checking.checks import INVARIANTS
    from services.sandbox.checking.story import tell
    from services.sandbox.simulation.campaign import play, quiet, run_campaign
    from services.sandbox.simulation.faults import FAULTS, FaultName

    wrong = [name for name in fault or () if name not in FAULTS]
    if wrong:
        raise ConfigurationError(f"no fault {wrong[0]!r}; there are {', '.join(FAULTS)}")
    faults = frozenset(cast("list[FaultName]", fault)) if fault else frozenset(FAULTS)
    began = time.monotonic()
    said = began
    found: Counter[int] = Counter()
    first_seeds: dict[int, int] = {}
    violations: list[dict[str, int | str | None]] = []
    defects: list[tuple[int, str]] = []
    campaign = run_campaign(range(first, first + seeds), faults, processes=processes)
    for done, result in enumerate(campaign, start=1):
        for number in {violation.invariant for violation in result.violations}:
            found[number] += 1
            first_seeds[number] = min(result.seed, first_seeds.get(number, result.seed))
        violations += [
            {"seed": result.seed, "invariant": v.invariant, "what": v.what, "turn": v.turn} for v in result.violations
        ]
        if result.defect:
            defects.append((result.seed, result.defect))
            violations.append({"seed": result.seed, "invariant": None, "what": result.defect, "turn": None})
        if time.monotonic() - said >= 5 or done == seeds:
            said = time.monotonic()
            rate = done / (said - began)
            broken = sum(found.values()) + len(defects)
            print(
                f"{done}/{seeds} seeds, {rate:.1f} a second, {(seeds - done) / rate:.0f} s left, {broken} broken",
                file=sys.stderr, flush=True,
            )  # fmt: skip
    if json:
        import orjson

        print(
            orjson.dumps({"seeds": seeds, "from": first, "faults": sorted(faults), "violations": violations}).decode()
        )
    else:
        print(f"{seeds} seeds from {first}, {time.monotonic() - began:.0f} s, faults: {', '.join(sorted(faults))}")
        for number, count in sorted(found.items()):
            print(
                f"invariant {number} broken in {count} seeds, first in {first_seeds[number]}: {INVARIANTS[number][0]}"
            )
        for seed, defect in sorted(defects)[:3]:
            print(f"seed {seed} failed:\n{defect}")
        if not violations:
            print("no invariant broken")
    if found and not json:
        seed = min(first_seeds.values())
        quiet()
        result, history = play(seed, faults)
        if history is not None and result.violations:
            print(f"\nSeed {seed}:\n{tell(history, result.violations[0])}")
            print(f"\nagain: odradek simulate --seeds 1 --from {seed}")
    raise typer.Exit(1 if violations else 0)
