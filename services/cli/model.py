"""`odradek model`: which models there are, which one answers, and which ones are tried after it."""

from typing import Annotated

import typer

from services.cli.catalog_options import ServerId, UserId
from services.cli.options import Json

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="List models, choose one, and set the fallback chain."
)


@app.command("list")
def show(
    provider: Annotated[str | None, typer.Option(metavar="PROVIDER", help="Only this one's.")] = None,
    deprecated: Annotated[bool, typer.Option("--deprecated", help="Show those that are out of use too.")] = False,
    as_json: Json = False,
) -> None:
    """Show the models of the catalog, one line each: provider, codename, and what they can.

    \b
    Examples:
      odradek model list
      odradek model list --provider anthropic
      odradek model list --json | jq -r '.[] | select(.is_free) | .codename'
    """
    from services.cli import model_commands

    model_commands.show(provider=provider, deprecated=deprecated, as_json=as_json)


@app.command("set")
def choose(
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help="Its name, an alias, or an endpoint's custom:N.")],
    codename: Annotated[str, typer.Argument(metavar="CODENAME", help="As `odradek model list` shows it.")],
    server: ServerId = None,
    user: UserId = None,
    channel: Annotated[str | None, typer.Option(metavar="ID", help="Only for this channel of the server.")] = None,
    persona: Annotated[str | None, typer.Option(metavar="ID", help="Only for this persona of the server.")] = None,
) -> None:
    """Choose the model that answers: a server's, a person's own, a channel's or a persona's.

    A persona's model goes before its channel's, and that before the server's. The provider must be set up.

    \b
    Examples:
      odradek model set anthropic claude-opus-4-7 --server 123
      odradek model set deepseek deepseek-v4-flash --server 123 --channel 789
      odradek model set custom:7 home-text --user 456
    """
    from services.cli import model_commands

    model_commands.choose(provider, codename, server=server, user=user, channel=channel, persona=persona)


@app.command()
def unset(
    server: ServerId = None,
    channel: Annotated[str | None, typer.Option(metavar="ID", help="The channel.")] = None,
    persona: Annotated[str | None, typer.Option(metavar="ID", help="The persona.")] = None,
) -> None:
    """Take a channel's or a persona's own model away.

    \b
    Examples:
      odradek model unset --server 123 --channel 789
    """
    from services.cli import model_commands

    model_commands.unset(server=server, channel=channel, persona=persona)


@app.command()
def fallback(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROVIDER=CODENAME]...", help="In the order of the slots, five at most; none empties them."
        ),
    ] = None,
    server: ServerId = None,
    user: UserId = None,
) -> None:
    """Set the models that are tried, in this order, where the chosen one fails. They replace the chain of before.

    \b
    Examples:
      odradek model fallback openrouter=z-ai/glm-5 google=gemini-2.5-flash --server 123
      odradek model fallback --user 456
    """
    from services.cli import model_commands

    model_commands.fallback(models or [], server=server, user=user)
