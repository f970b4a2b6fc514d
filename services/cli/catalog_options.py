"""The options that the commands of the catalog share; a key is none, since others see a program's arguments."""

from typing import Annotated

import typer

ServerId = Annotated[str | None, typer.Option("--server", metavar="ID", help="The Discord server that it is for.")]
UserId = Annotated[str | None, typer.Option("--user", metavar="ID", help="The person that it is for.")]
KeyVariable = Annotated[
    str | None,
    typer.Option("--key-env", metavar="NAME", help="Take the key from this environment variable, not from stdin."),
]
