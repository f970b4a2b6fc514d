"""`odradek sandbox`: the local Discord, the local provider and the page, each as a process of its own."""

from typing import Annotated

import typer

from services.cli.options import Kafka, Prefix

_HELP = """The local Discord, the local provider and the page that shows both.

\b
Examples:
  odradek sandbox discord --port 8650
  odradek sandbox provider --port 8651
"""
app = typer.Typer(help=_HELP, no_args_is_help=True)

Host = Annotated[str, typer.Option("--host", help="The address to listen on.")]
Port = Annotated[int, typer.Option("--port", help="The port to listen on.")]


@app.command("discord")
def discord(host: Host = "127.0.0.1", port: Port = 8650) -> None:
    """Serve a Discord of our own: REST, gateway, and a control API under /_sandbox/.

    Example: odradek sandbox discord --port 8650
    """
    from services.sandbox.discord.server import serve

    _run(serve(host, port), host, port)


@app.command("provider")
def provider(
    host: Host = "127.0.0.1",
    port: Port = 8651,
    pace_ms: Annotated[float, typer.Option("--pace-ms", help="The wait before each delta, in ms.")] = 22.0,
) -> None:
    """Serve an LLM provider of our own that speaks four dialects.

    Example: odradek sandbox provider --pace-ms 5
    """
    from services.sandbox.provider.server import SandboxConfig, serve

    _run(serve(host, port, SandboxConfig(pace_ms=pace_ms)), host, port)


@app.command("page")
def page(
    discord_url: Annotated[str, typer.Option("--discord-url", help="Where the sandbox Discord listens.")],
    host: Host = "127.0.0.1",
    port: Port = 8642,
    kafka: Kafka = None,
    prefix: Prefix = None,
) -> None:
    """Serve the page: a channel to type into, and the turn's records as they pass through the topics.

    Example: odradek sandbox page --discord-url http://127.0.0.1:8650 --kafka 127.0.0.1:9092
    """
    from services.cli.environment import load_settings
    from services.runtime.logs import configure_logs
    from services.sandbox.page.server import serve

    settings = load_settings(kafka=kafka, prefix=prefix)
    configure_logs(settings, service="page", instance="page")
    _run(serve(host, port, settings=settings, discord_url=discord_url), host, port)


def _run(serving: "object", host: str, port: int) -> None:
    import asyncio
    import signal
    from collections.abc import Coroutine
    from typing import cast

    from services.runtime.errors import ConfigurationError

    async def until_told() -> None:
        task = asyncio.create_task(cast(Coroutine[None, None, None], serving))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            return
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {host}:{port}: {error.strerror or error}", remedy="choose another port with --port"
            ) from error

    asyncio.run(until_told())
