"""`odradek up`: everything on one machine, with a first message and its reply in the terminal."""

from typing import Annotated, Literal

import typer

from services.cli.options import Prefix


def run(
    once: Annotated[bool, typer.Option("--once", help="End after the reply to the first message.")] = False,
    message: Annotated[
        str, typer.Option("--message", metavar="TEXT", help="The first message.")
    ] = "Hello Odradek, what happens to this message?",
    dialect: Annotated[
        Literal["openai-chat", "anthropic"] | None,
        typer.Option("--dialect", help="The provider's language, instead of ODRADEK_DIALECT."),
    ] = None,
    kafka: Annotated[
        str | None,
        typer.Option("--kafka", metavar="HOST:PORT", help="Use this cluster instead of the embedded broker."),
    ] = None,
    discord: Annotated[bool, typer.Option("--discord", help="Use the real Discord (ODRADEK_DISCORD_TOKEN).")] = False,
    real: Annotated[
        bool, typer.Option("--real", help="Ask the real provider (ODRADEK_MODEL and its key) instead of the sandbox's.")
    ] = False,
    processes: Annotated[int, typer.Option("--processes", min=1, help="Processes of each kind of worker.")] = 1,
    page_port: Annotated[
        int, typer.Option("--page-port", min=0, max=65535, help="Port of the page; 0 picks one.")
    ] = 8642,
    prefix: Prefix = None,
) -> None:
    """Start a broker, a local Discord, a local provider and every worker; post a message and show the reply.

    Without options nothing is needed: no Docker, no Java, no tokens. What the embedded broker holds is gone when it ends.

    Examples:

      odradek up

      odradek up --once --message "Tell me about stops" --dialect anthropic

      odradek up --kafka localhost:9092 --discord --real
    """
    import asyncio

    from services.cli.session import Wishes, run_session

    wishes = Wishes(
        once=once,
        message=message,
        dialect=dialect,
        kafka=kafka,
        discord=discord,
        real=real,
        processes=processes,
        page_port=page_port,
        prefix=prefix,
    )
    raise typer.Exit(asyncio.run(run_session(wishes)))
