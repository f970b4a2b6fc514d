"""The command line as a person runs it: a process of its own, with an environment of its own."""

import asyncio
import io
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import discord
import pytest
import structlog

from services.cli.main import main
from services.runtime.settings import Settings

_RUN = ("-c", "from services.cli.main import main; main()")


@dataclass(frozen=True, slots=True)
class Completed:
    """How a run ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Odradek = Callable[..., Completed]
Running = Callable[..., AbstractAsyncContextManager[asyncio.subprocess.Process]]


def environment(**variables: object) -> dict[str, str]:
    """This process's environment without settings of ours or of providers, and with these."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ODRADEK_") and name not in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    }
    return kept | {name: str(value) for name, value in variables.items()}


@pytest.fixture
def odradek() -> Odradek:
    """Runs a command to its end: ``odradek("topics", "show", ODRADEK_PREFIX="x-")``."""

    def run(*arguments: str, **variables: object) -> Completed:
        done = subprocess.run(
            [sys.executable, *_RUN, *arguments],
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Completed(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def running() -> Running:
    """Starts a command and leaves it running: ``async with running("topics", "tail") as process``."""

    @asynccontextmanager
    async def start(*arguments: str, **variables: object) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *_RUN,
            *arguments,
            env=environment(**variables),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    return start


@pytest.fixture
def make_settings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    """Settings from these values alone; Discord's address in discord.py is put back at the end."""
    for name in os.environ:
        if name.startswith("ODRADEK_") or name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(discord.http.Route, "BASE", discord.http.Route.BASE)
    monkeypatch.setattr(
        discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY
    )
    return Settings


KEY = "sk-very-secret-0123456789"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Runs a command on a catalog of the test's own: ``command("provider", "list", "--server", "1", stdin=KEY)``.

    In this process, since starting one for each of the many commands would be most of the test's time.
    """
    for name in os.environ:
        if name.startswith("ODRADEK_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ODRADEK_DATABASE_URL", f"sqlite:///{tmp_path}/catalog.db")
    monkeypatch.setenv("ODRADEK_CRYPTO_SECRET_V1", "0123456789abcdef" * 2)
    root = logging.getLogger()
    handlers, level = root.handlers, root.level

    def run(*arguments: str, stdin: str | bytes = "", **variables: str) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["odradek", *arguments])
            piped = stdin.encode() if isinstance(stdin, str) else stdin
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped), encoding="utf-8"))
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = capsys.readouterr()
        assert KEY not in out + err
        return Done(int(ended.value.code or 0), out, err)

    yield run
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()
