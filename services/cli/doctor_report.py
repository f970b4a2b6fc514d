"""All checks of the doctor at once, each within its bound of time, and how they are told."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict

import typer

from services.cli.doctor_catalog import check_catalog
from services.cli.doctor_checks import Check, Finding, check_broker, check_machine, check_port, check_variables
from services.cli.doctor_discord import check_discord
from services.cli.doctor_provider import check_provider
from services.cli.environment import CORRECT_IT, read_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.runtime.settings import Settings

BOUND_S = 5.0
CHECKS: tuple[Check, ...] = (
    Check("settings", check_variables, asks=False),
    Check("broker", check_broker, asks=True),
    Check("discord", check_discord, asks=True),
    Check("provider", check_provider, asks=True),
    Check("catalog", check_catalog, asks=True),
    Check("port", check_port, asks=False),
    Check("machine", check_machine, asks=False),
)
_COLOURS = {"ok": "\x1b[32m", "info": "\x1b[36m", "warn": "\x1b[33m", "FAIL": "\x1b[31m"}


def examine(*, kafka: str | None, prefix: str | None, as_json: bool) -> None:
    """Print all findings; exits with 1 where one is a FAIL."""
    read = read_settings(kafka=kafka, prefix=prefix)
    findings = [
        Finding("settings", "FAIL", problem, f"{CORRECT_IT} The rest is examined with its default.")
        for problems in read.problems.values()
        for problem in problems
    ]
    findings += run(read.settings, examine_all(read.settings))
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for line in lines(findings, colours=sys.stdout.isatty() and "NO_COLOR" not in os.environ):
            print(line)
    if any(finding.state == "FAIL" for finding in findings):
        raise typer.Exit(1)


async def examine_all(
    settings: Settings, checks: Sequence[Check] = CHECKS, *, within_s: float = BOUND_S
) -> list[Finding]:
    """The findings of all checks, in the order of the checks; they run at the same time, each for `within_s` at most."""
    found = await asyncio.gather(*(_bounded(check, settings, within_s) for check in checks))
    return [finding for findings in found for finding in findings]


async def _bounded(check: Check, settings: Settings, within_s: float) -> list[Finding]:
    found: list[Finding] = []
    try:
        async with asyncio.timeout(within_s):
            async for finding in check.run(settings):
                found.append(finding)  # noqa: PERF401 - what was found before the time is up counts
    except TimeoutError:
        found.append(_late(check, within_s))
    return found


def _late(check: Check, within_s: float) -> Finding:
    if check.asks:
        return Finding(check.name, "FAIL", f"no answer within {within_s:g} s", "check the address and the network")
    return Finding(
        check.name, "info", f"not known after {within_s:g} s, since this machine is busy; run it again later"
    )


def lines(findings: Sequence[Finding], *, colours: bool) -> list[str]:
    """The findings for people: state, what, detail; below it what to do."""
    told: list[str] = []
    for finding in findings:
        state = f"{finding.state:<4}"
        if colours:
            state = f"{_COLOURS[finding.state]}{state}\x1b[0m"
        told.append(f"{state}  {finding.what}: {printable(finding.detail)}")
        if finding.remedy:
            told.append(f"      what to do: {printable(finding.remedy)}")
    return told
