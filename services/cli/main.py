"""The entry point of `odradek`: the commands by name, and the one place where an expected error becomes a message.

Modules registered here import little more than typer at their top, since every worker starts through this file.
"""

import sys

import typer

from services.cli import (
    bench,
    catalog,
    chaos,
    classify,
    context,
    discord,
    doctor,
    endpoint,
    model,
    normalize,
    provider,
    sandbox,
    schemas,
    settings,
    simulate,
    topics,
    up,
    worker,
)
from services.cli.arguments import guard
from services.normalizer.compiled import stale

_HELP = """LLM chat turns for Discord, run as workers over Kafka.

\b
Examples:
  odradek up
  odradek doctor
  odradek settings
  odradek topics tail --from -5m
"""
app = typer.Typer(
    name="odradek",
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("up")(up.run)
app.command("worker")(worker.run)
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(bench.app, name="bench")
app.command("simulate")(simulate.run)
app.command("chaos")(chaos.run)
app.add_typer(topics.app, name="topics")
app.add_typer(catalog.app, name="catalog")
app.add_typer(provider.app, name="provider")
app.add_typer(model.app, name="model")
app.add_typer(endpoint.app, name="endpoint")
app.command("classify")(classify.run)
app.add_typer(context.app, name="context")
app.command("settings")(settings.show)
app.command("doctor")(doctor.examine)
app.command("normalize")(normalize.run)
app.add_typer(discord.app, name="discord")
app.add_typer(schemas.app, name="schemas")


def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage or configuration."""
    if changed := stale():
        names = ", ".join(changed)
        print(
            f"warning: changed since it was compiled, and not in use: {names}. Run make compile or make uncompile",
            file=sys.stderr,
        )
    try:
        guard(typer.main.get_command(app))()
    except Exception as error:
        from services.cli.failures import explain

        failure = explain(error)
        if failure is None:
            raise
        print(failure.text, file=sys.stderr)
        sys.exit(failure.exit_code)
