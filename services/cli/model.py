"""`odradek model`: which models there are, which one answers, which ones are tried after it, and how they generate."""

from typing import Annotated, Any

import typer

from schemas.sampling import ThinkingLevel
from services.catalog.parameters import RANGES, Number
from services.cli.catalog_options import ServerId, UserId
from services.cli.options import Json
from services.cli.stop_strings import app as stop_strings

Provider = Annotated[str, typer.Argument(metavar="PROVIDER", help="Its name, an alias, or an endpoint's custom:N.")]


def _number(name: Number, text: str) -> Any:
    """The option that sets the number. The catalog holds its range, whose complaint shows the number too."""
    return typer.Option(help=f"{text} {RANGES[name].least} to {RANGES[name].most}.", metavar="N")


_HELP = """List models, choose one, and set how they answer.

\b
Examples:
  odradek model list --provider anthropic
  odradek model set anthropic claude-opus-4-7 --server 123
  odradek model parameters anthropic --server 123
"""
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=_HELP,
)
app.add_typer(stop_strings, name="stop-strings")


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
    provider: Provider,
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


@app.command()
def parameters(
    provider: Provider,
    server: ServerId = None,
    user: UserId = None,
    temperature: Annotated[float | None, _number("temperature", "How much chance there is in a reply,")] = None,
    top_p: Annotated[float | None, _number("top_p", "The share of the likeliest tokens to choose from,")] = None,
    top_k: Annotated[
        int | None, _number("top_k", "How many of the likeliest tokens to choose from, 0 for all:")
    ] = None,
    frequency_penalty: Annotated[
        float | None, _number("frequency_penalty", "How much less likely tokens become each time they are said,")
    ] = None,
    presence_penalty: Annotated[
        float | None, _number("presence_penalty", "How much less likely tokens become once they are said,")
    ] = None,
    min_p: Annotated[float | None, _number("min_p", "How likely a token must be beside the likeliest one,")] = None,
    max_output_tokens: Annotated[int | None, _number("max_output_tokens", "The longest reply in tokens,")] = None,
    thinking_level: Annotated[ThinkingLevel | None, typer.Option(help="How much the model thinks first.")] = None,
    disable: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Never send this one; may be repeated.")
    ] = None,
    enable: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Send it again; may be repeated.")] = None,
    reset: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Set this one no more, or `all` of them; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Set how the models of a provider sample and think. What is not given stays; no option shows what is set.

    What is not set is as the workers' settings say, or else as the provider does it. Names have underscores: top_p.

    \b
    Examples:
      odradek model parameters anthropic --server 123
      odradek model parameters anthropic --server 123 --temperature 0.7 --thinking-level low
      odradek model parameters custom:7 --user 456 --disable repetition_penalty --reset top_p
      odradek model parameters anthropic --server 123 --reset all
    """
    from services.cli import parameter_commands

    numbers: dict[Number, float | None] = {
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "frequency_penalty": frequency_penalty,
        "presence_penalty": presence_penalty,
        "min_p": min_p,
        "max_output_tokens": max_output_tokens,
    }
    parameter_commands.parameters(
        provider,
        server=server,
        user=user,
        numbers={name: value for name, value in numbers.items() if value is not None},
        thinking_level=thinking_level,
        disable=disable or (),
        enable=enable or (),
        reset=reset or (),
        as_json=as_json,
    )
