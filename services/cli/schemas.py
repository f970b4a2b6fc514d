"""`odradek schemas`: the JSON Schemas of the record types, for readers in other languages."""

from pathlib import Path
from typing import Annotated

import typer

_HELP = """Export the record types as JSON Schemas.

\b
Examples:
  odradek schemas export
"""
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=_HELP)

Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="PATH", help="Where the files are; schemas/json of this code if unset."),
]


@app.command()
def export(folder: Folder = None) -> None:
    """Write the JSON Schema of each record type, as <Type>.v<version>.json. Files of older versions stay.

    \b
    Examples:
      odradek schemas export
      odradek schemas export --folder /tmp/schemas
    """
    from schemas.export import FOLDER, BreakingChange, write
    from services.runtime.errors import OdradekError

    try:
        written = write(folder or FOLDER)
    except BreakingChange as error:
        raise OdradekError(str(error), remedy="see schemas/upcasters.py") from error
    for path in written:
        print(f"wrote {path}")
    if not written:
        print("all exported schemas are fresh")


@app.command()
def check(folder: Folder = None) -> None:
    """Say which exported files are not what the code would export, and what a reader could not stand in the difference.

    Exits with 0 if none, with 1 if some are.

    \b
    Example:
      odradek schemas check
    """
    from schemas.export import FOLDER, problems

    found = problems(folder or FOLDER)
    for line in found:
        print(line)
    if found:
        raise typer.Exit(1)
    print("all exported schemas are fresh")
