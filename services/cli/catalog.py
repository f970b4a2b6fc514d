"""`odradek catalog`: check the models that ship with Odradek, and bring the catalog's database to a revision."""

from typing import Annotated

import typer

from services.cli.options import Json

_HELP = """Check the catalog's models, and migrate its database (ODRADEK_DATABASE_URL).

\b
Examples:
  odradek catalog upgrade
  odradek catalog check
"""
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=_HELP,
)


@app.command()
def check(
    database: Annotated[
        bool, typer.Option("--database/--no-database", help="Check the database's rows and revision too.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Check that each provider has one default, a smartest model, unique codenames and the strict flags it demands.

    One line for each violation. Exits with 0 if there is none, with 1 if there is.

    \b
    Examples:
      odradek catalog check
      odradek catalog check --no-database
      odradek catalog check --json | jq -r '.[].rule'
    """
    from services.cli import catalog_commands

    catalog_commands.check(with_database=database, as_json=as_json)


@app.command()
def upgrade(
    revision: Annotated[
        str, typer.Argument(metavar="[REVISION]", help="Up to this one; the newest if not given.")
    ] = "head",
) -> None:
    """Run the migrations that are missing, and write the models that ship with Odradek.

    Run it before the workers of a new version start. A SQLite file is brought up to date by whatever opens it.

    \b
    Examples:
      odradek catalog upgrade
      ODRADEK_DATABASE_URL=postgresql://odradek:...@db.example/odradek odradek catalog upgrade
      odradek catalog upgrade 025_strict_chat_compat_flags
    """
    from services.cli import catalog_commands

    catalog_commands.upgrade(revision)


@app.command()
def downgrade(
    revision: Annotated[str, typer.Argument(metavar="REVISION", help="Undo what came after it; `base` undoes all.")],
) -> None:
    """Undo migrations, for a return to older code. What the dropped columns and tables held is gone.

    \b
    Examples:
      odradek catalog downgrade 083_verbatim_tool_calling
    """
    from services.cli import catalog_commands

    catalog_commands.downgrade(revision)
