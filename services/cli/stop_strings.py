"""`odradek model stop-strings`: at which texts the replies of a server's models end."""

from typing import Annotated

import typer

from services.cli.catalog_options import ServerId
from services.cli.options import Json

_HELP = """List, add and remove a server's stop strings.

\b
Examples:
  odradek model stop-strings add '###' --server 123
  odradek model stop-strings list --server 123
"""
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=_HELP)
Texts = Annotated[
    list[str],
    typer.Argument(metavar="TEXT", help="Each 1 to 200 characters; \\n, \\r and \\t are escapes, \\\\ is \\."),
]


@app.command("list")
def show(server: ServerId = None, as_json: Json = False) -> None:
    """Show the stop strings, one a line, as `add` and `remove` take them. With --json they have JSON's escapes.

    \b
    Examples:
      odradek model stop-strings list --server 123
      odradek model stop-strings list --server 123 --json | jq length
    """
    from services.cli import stop_string_commands

    stop_string_commands.show(server=server, as_json=as_json)


@app.command()
def add(texts: Texts, server: ServerId = None) -> None:
    """Add stop strings: a reply ends where its model would write one. 40 at most; a provider may take fewer.

    They hold for every model that answers in the server, also for people's own. Those that come first go first where a
    provider takes fewer.

    \b
    Examples:
      odradek model stop-strings add '###' '\\nUser:' --server 123
      odradek model stop-strings add --server 123 -- '---'
    """
    from services.cli import stop_string_commands

    stop_string_commands.change(server=server, add=texts)


@app.command()
def remove(texts: Texts, server: ServerId = None) -> None:
    """Remove stop strings, as `list` shows them.

    \b
    Examples:
      odradek model stop-strings remove '\\nUser:' --server 123
    """
    from services.cli import stop_string_commands

    stop_string_commands.change(server=server, remove=texts)
