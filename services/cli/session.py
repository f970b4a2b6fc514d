"""One run of `odradek up`: what is started, in which order, and what the terminal shows of it."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from schemas.topics import load_topics
from services.cli.environment import load_settings, unknown_variables
from services.cli.first_turn import FirstTurn
from services.cli.supervisor import Command, Supervisor
from services.gateway.commands import register_commands
from services.runtime.discord import rest_client
from services.runtime.errors import ConfigurationError
from services.runtime.kafka.admin import provision
from services.runtime.settings import Settings
from services.sandbox.brokers.embedded import EmbeddedBroker
from services.sandbox.brokers.errors import PortInUse
from services.sandbox.brokers.ports import claim, free_port

WORKERS = ("orchestrator", "context", "provider", "normalizer", "delivery", "gateway")
SANDBOX_TOKEN = "sandbox-token"  # noqa: S105 - the local Discord's own, no secret
SANDBOX_KEY = "sandbox-key"
STOP_WITHIN_S = 3.5


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asked for."""

    once: bool
    message: str
    dialect: str | None
    kafka: str | None
    discord: bool
    real: bool
    processes: int
    page_port: int
    prefix: str | None


async def run_session(wishes: Wishes) -> int:
    """Run until Ctrl-C, or with `once` until the first reply; returns the exit code."""
    # The clients' own words about what they cannot reach come beside our message, which says what to do.
    for library in ("aiokafka", "discord"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    settings = _settings(wishes)
    page_port = 0 if wishes.discord else _page_port(wishes)
    for name, meant in unknown_variables().items():
        _say(f"there is no setting {name}" + (f"; is {meant} meant?" if meant else ""))
    directory = _directory()
    async with contextlib.AsyncExitStack() as stack:
        session = _Session(wishes, settings, directory, stack, page_port)
        work = asyncio.create_task(session.run())
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            _say("stopping")
            return 130 if wishes.once else 0
        finally:
            stopped.cancel()
            work.cancel()
            await asyncio.wait({work})


def _settings(wishes: Wishes) -> Settings:
    if wishes.discord and wishes.once:
        raise ConfigurationError("--once posts a message in the sandbox Discord; it does not go with --discord")
    settings = load_settings(dialect=wishes.dialect, kafka=wishes.kafka, prefix=wishes.prefix)
    if wishes.discord and settings.discord_token is None:
        raise ConfigurationError(
            "--discord needs the bot's token", remedy="set ODRADEK_DISCORD_TOKEN; `odradek doctor` checks it"
        )
    if wishes.real:
        _check_real(settings)
    if settings.dialect not in ("openai-chat", "anthropic"):
        raise ConfigurationError(
            f"dialect {settings.dialect!r} has no context yet", remedy="use openai-chat or anthropic"
        )
    return settings


def _page_port(wishes: Wishes) -> int:
    """The page's port, looked at before anything is started; with `once` nobody will see the page, so any does."""
    try:
        return claim(0 if wishes.once else wishes.page_port)
    except PortInUse as error:
        raise ConfigurationError(
            f"port {wishes.page_port}, where the page would be, is in use; another `odradek up` may be running",
            remedy="stop it, or let a free port be picked: odradek up --page-port 0 (make up ARGS='--page-port 0')",
        ) from error


def _check_real(settings: Settings) -> None:
    if settings.model.startswith("sandbox-"):
        raise ConfigurationError(
            f"--real needs a model of the provider, not {settings.model!r}", remedy="set ODRADEK_MODEL to its name"
        )
    key = settings.anthropic_api_key if settings.dialect == "anthropic" else settings.openai_api_key
    if key is None and settings.provider_url is None:
        name = "ANTHROPIC_API_KEY" if settings.dialect == "anthropic" else "OPENAI_API_KEY"
        raise ConfigurationError(f"--real needs {name} or ODRADEK_PROVIDER_URL for dialect {settings.dialect}")


def _directory() -> Path:
    base = Path(tempfile.gettempdir()) / f"odradek-{os.getuid()}"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=time.strftime("up-%H%M%S-"), dir=base))


def _say(line: str) -> None:
    print(f"odradek: {line}", file=sys.stderr, flush=True)


class _Session:
    """The parts of a run, each left behind in the exit stack so that they end in reverse order."""

    def __init__(
        self,
        wishes: Wishes,
        settings: Settings,
        directory: Path,
        stack: contextlib.AsyncExitStack,
        page_port: int,
    ) -> None:
        self._page_port = page_port
        self._wishes = wishes
        self._settings = settings
        self._directory = directory
        self._stack = stack
        self._started = time.monotonic()

    async def run(self) -> int:
        """Start everything, show the first turn, stay."""
        environment = await self._broker()
        supervisor = Supervisor(self._directory, _say)
        self._stack.push_async_callback(supervisor.stop, within_s=STOP_WITHIN_S)
        discord_url = page_url = None
        if not self._wishes.discord:
            discord_url = self._sandbox_discord(supervisor, environment)
            page_url = self._page(supervisor, environment, discord_url)
        if not self._wishes.real:
            self._sandbox_provider(supervisor, environment)
        self._workers(supervisor, environment)
        await supervisor.all_ready(within_s=60)
        if discord_url is not None:
            await self._register_commands(environment)
        took_s = time.monotonic() - self._started
        _say(f"{len(supervisor.children)} processes are ready after {took_s:.1f} s; their logs: {self._directory}")
        if discord_url is not None:
            settings = load_settings(**_overrides(environment))
            turn = FirstTurn(settings, discord_url, self._wishes.message)
            showing = asyncio.create_task(turn.show())
            await asyncio.wait({showing, supervisor.failed}, return_when=asyncio.FIRST_COMPLETED)
            if supervisor.failed.done():
                showing.cancel()
                supervisor.failed.result()
            failure = showing.result()
            if failure is not None:
                _say(f"no reply: {failure}")
            if self._wishes.once:
                return 0 if failure is None else 1
            self._say_where(environment, discord_url)
            print(f"\nThe page: {page_url}   (Ctrl-C ends everything)", flush=True)
        else:
            print(
                "\nMention the bot in a channel, or write it a direct message.   (Ctrl-C ends everything)", flush=True
            )
        await supervisor.failed
        return 1

    async def _register_commands(self, environment: dict[str, str]) -> None:
        """Make /kill known to the local Discord, as `odradek discord invite` does to the real one."""
        async with rest_client(load_settings(**_overrides(environment))) as client:
            await register_commands(client)

    def _say_where(self, environment: dict[str, str], discord_url: str) -> None:
        """What other terminals need to look at this run."""
        command = f"{Path(sys.argv[0])} topics tail --kafka {environment['ODRADEK_KAFKA']}"
        print(f"\nThe records, from another terminal: {command}")
        print(f"The local Discord: {discord_url}/_sandbox/state")
        if "ODRADEK_PROVIDER_URL" in environment:
            print(f"The local provider: {environment['ODRADEK_PROVIDER_URL']}/_sandbox/calls", flush=True)

    async def _broker(self) -> dict[str, str]:
        """Start the embedded broker, or take the cluster that was named, and make the topics that are missing."""
        settings = self._settings
        if self._wishes.kafka is None:
            broker = await EmbeddedBroker.start(self._directory)
            self._stack.push_async_callback(broker.kill)
            settings = settings.model_copy(update={"kafka": broker.bootstrap, "broker": "embedded"})
            _say(f"the embedded broker runs at {broker.bootstrap}; what it holds is gone when it ends")
        made = await provision(settings, load_topics(settings.topics_file))
        if made.created:
            _say(f"made {len(made.created)} topics")
        return {
            "ODRADEK_KAFKA": settings.kafka,
            "ODRADEK_BROKER": settings.broker,
            "ODRADEK_PREFIX": settings.prefix,
            "ODRADEK_DIALECT": settings.dialect,
            "ODRADEK_GRACE_S": str(min(settings.grace_s, 2.5)),
            # Whoever runs all on one machine is the one who names endpoints, and they are often on it too.
            "ODRADEK_PRIVATE_ENDPOINTS": os.environ.get("ODRADEK_PRIVATE_ENDPOINTS", "1"),
        }

    def _sandbox_discord(self, supervisor: Supervisor, environment: dict[str, str]) -> str:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        supervisor.start(
            Command("sandbox-discord", ("sandbox", "discord", "--port", str(port)), {}, f"{url}/_sandbox/health")
        )
        environment.update(
            ODRADEK_DISCORD_API=f"{url}/api/v10",
            ODRADEK_DISCORD_GATEWAY=f"ws://127.0.0.1:{port}/gateway/",
            ODRADEK_DISCORD_TOKEN=SANDBOX_TOKEN,
        )
        return url

    def _sandbox_provider(self, supervisor: Supervisor, environment: dict[str, str]) -> None:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        supervisor.start(
            Command("sandbox-provider", ("sandbox", "provider", "--port", str(port)), {}, f"{url}/_sandbox/health")
        )
        # All provider keys are replaced, so that no request can carry a real one.
        environment.update(
            ODRADEK_PROVIDER_URL=url,
            ODRADEK_OPENAI_API_KEY=SANDBOX_KEY,
            ODRADEK_ANTHROPIC_API_KEY=SANDBOX_KEY,
            ODRADEK_MODEL=self._settings.model if self._settings.model.startswith("sandbox-") else "sandbox-echo",
        )

    def _page(self, supervisor: Supervisor, environment: dict[str, str], discord_url: str) -> str:
        port = self._page_port
        url = f"http://127.0.0.1:{port}/"
        arguments = ("sandbox", "page", "--port", str(port), "--discord-url", discord_url)
        supervisor.start(Command("sandbox-page", arguments, environment, url))
        return url

    def _workers(self, supervisor: Supervisor, environment: dict[str, str]) -> None:
        count = self._wishes.processes
        for number in range(count):
            for name in WORKERS:
                port = free_port()
                own = {
                    **environment,
                    "ODRADEK_INSTANCE": f"{name}-{number}",
                    "ODRADEK_EXCLUSIVE_INSTANCE": "1",
                    "ODRADEK_HTTP_PORT": str(port),
                    "ODRADEK_DISCORD_SHARDS": f"{number}/{count}",
                }
                supervisor.start(Command(f"{name}-{number}", ("worker", name), own, f"http://127.0.0.1:{port}/readyz"))


def _overrides(environment: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix("ODRADEK_").lower(): value for name, value in environment.items()}
