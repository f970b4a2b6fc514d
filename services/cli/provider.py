"""`odradek provider`: set up providers for servers and people, and see whether their keys are taken."""

from typing import Annotated

import typer

from services.cli.catalog_options import KeyVariable, ServerId, UserId
from services.cli.options import Json

_HELP = """Set up providers for servers and people. Keys come from stdin or the environment, and are kept encrypted.

\b
Examples:
  odradek provider add anthropic --server 123 < key.txt
  odradek provider test anthropic --server 123
  odradek provider list --server 123
"""
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=_HELP,
)
Provider = Annotated[str, typer.Argument(metavar="PROVIDER", help="Its name, an alias, or an endpoint's custom:N.")]


@app.command()
def add(
    provider: Provider,
    server: ServerId = None,
    user: UserId = None,
    key_env: KeyVariable = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="CODENAME", help="Choose this model; else the default one if none is chosen yet."),
    ] = None,
    pool: Annotated[
        bool, typer.Option("--pool", help="Add the key to the server's pool, which takes turns with the main key.")
    ] = False,
) -> None:
    """Set up a provider with a key, or put another key in the place of its key.

    The key is read from stdin, or from a variable that you name. For vertex it is PROJECT::LOCATION.

    \b
    Examples:
      odradek provider add anthropic --server 123 < key.txt
      odradek provider add openrouter --user 456 --key-env OPENROUTER_API_KEY --model z-ai/glm-5
      pass show second-key | odradek provider add anthropic --server 123 --pool
      echo my-project::global | odradek provider add vertex --server 123
    """
    from services.cli import provider_commands

    provider_commands.add(provider, server=server, user=user, key_env=key_env, model=model, pool=pool)


@app.command("list")
def show(server: ServerId = None, user: UserId = None, as_json: Json = False) -> None:
    """Show what a server or a person has set up: providers, keys without their values, models.

    \b
    Examples:
      odradek provider list --server 123
      odradek provider list --user 456 --json | jq -r '.[].provider'
    """
    from services.cli import provider_commands

    provider_commands.show(server=server, user=user, as_json=as_json)


@app.command("test")
def try_keys(provider: Provider, server: ServerId = None, user: UserId = None) -> None:
    """Ask the provider whether it takes the keys: by a list where it has one, else by a request for one token.

    Vertex has no key: the application default credentials of this machine are tried in the project and location.
    Exits with 0 if all are taken, with 1 if one is refused or nothing can be said.

    \b
    Examples:
      odradek provider test anthropic --server 123
      odradek provider test custom:7 --user 456
    """
    from services.cli import provider_trial

    provider_trial.try_keys(provider, server=server, user=user)


@app.command()
def remove(
    provider: Provider,
    server: ServerId = None,
    user: UserId = None,
    pool: Annotated[
        bool, typer.Option("--pool", help="Remove the keys of the pool alone; the main key stays.")
    ] = False,
) -> None:
    """Forget a provider with its keys, or its pool alone.

    \b
    Examples:
      odradek provider remove anthropic --server 123
      odradek provider remove anthropic --server 123 --pool
    """
    from services.cli import provider_commands

    provider_commands.remove(provider, server=server, user=user, pool=pool)


@app.command()
def policy(
    server: ServerId = None,
    byok: Annotated[
        bool | None, typer.Option("--byok/--no-byok", help="Everybody must bring a key of their own.")
    ] = None,
    personal_fallback: Annotated[
        bool | None,
        typer.Option(
            "--personal-fallback/--no-personal-fallback",
            help="The server's models answer where a person's own have all failed.",
        ),
    ] = None,
    randomizer: Annotated[
        bool | None, typer.Option("--randomizer/--no-randomizer", help="Each turn begins with any model of the chain.")
    ] = None,
    tools: Annotated[bool | None, typer.Option("--tools/--no-tools", help="Models are offered tools.")] = None,
    verbatim_tools: Annotated[
        bool | None,
        typer.Option("--verbatim-tools/--no-verbatim-tools", help="Every custom endpoint writes its calls as text."),
    ] = None,
    speaker_stop: Annotated[
        bool | None,
        typer.Option(
            "--speaker-stop/--no-speaker-stop", help="A reply ends where the persona would begin another one."
        ),
    ] = None,
) -> None:
    """Set who pays in a server, and what holds for all of its models. What is not given stays; no option shows what holds.

    \b
    Examples:
      odradek provider policy --server 123
      odradek provider policy --server 123 --byok --no-personal-fallback
    """
    from services.cli import provider_commands

    provider_commands.policy(
        server=server,
        changes={
            "user_byok_mode": byok,
            "personal_server_fallback_enabled": personal_fallback,
            "model_randomizer_enabled": randomizer,
            "tool_use_enabled": tools,
            "verbatim_tool_calling": verbatim_tools,
            "llm_stop_speaker_pattern_enabled": speaker_stop,
        },
    )
