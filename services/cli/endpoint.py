"""`odradek endpoint`: custom endpoints, which are servers that somebody brings."""

from typing import Annotated

import typer

from services.catalog.endpoint import LEAST_CONTEXT, MOST_CONTEXT, ApiStyle, Endpoint
from services.cli.catalog_options import KeyVariable, ServerId, UserId
from services.cli.options import Json

_HELP = """Add, list and remove custom endpoints.

\b
Examples:
  odradek endpoint add home --url https://llm.example/v1 --model llama3.2 --server 123 < key.txt
  odradek endpoint list --server 123
"""
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=_HELP)
Label = Annotated[str, typer.Argument(metavar="LABEL", help="1 to 40 letters a-z, digits, - and _.")]


@app.command()
def add(
    label: Label,
    url: Annotated[str, typer.Option(metavar="URL", help="Its base URL; a bare host gets /v1.")],
    model: Annotated[str, typer.Option(metavar="NAME", help="The model, as the endpoint calls it.")],
    server: ServerId = None,
    user: UserId = None,
    key_env: KeyVariable = None,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="It needs no key, so none is read.")] = False,
    style: Annotated[ApiStyle, typer.Option(help="What it speaks.")] = "openai-compatible",
    num_ctx: Annotated[
        int | None,
        typer.Option(min=LEAST_CONTEXT, max=MOST_CONTEXT, metavar="N", help="The size of its context, in tokens."),
    ] = None,
    tools: Annotated[bool, typer.Option("--tools", help="The model calls tools.")] = False,
    images: Annotated[bool, typer.Option("--images", help="The model sees images.")] = False,
    videos: Annotated[bool, typer.Option("--videos", help="The model sees videos.")] = False,
    structured: Annotated[bool, typer.Option("--structured", help="The model keeps to a JSON Schema.")] = False,
    verbatim_tools: Annotated[bool, typer.Option("--verbatim-tools", help="It writes its calls as text.")] = False,
    alternation: Annotated[
        bool | None,
        typer.Option(
            "--strict-role-alternation/--no-strict-role-alternation",
            help="Its backend wants user and assistant to take turns.",
        ),
    ] = None,
    prefix: Annotated[
        bool | None,
        typer.Option(
            "--prefix-completion/--no-prefix-completion", help="Its backend continues a marked assistant turn."
        ),
    ] = None,
) -> None:
    """Add a custom endpoint, or change the one of this label. It becomes the model that answers if none is chosen yet.

    It must lie on the public internet, unless ODRADEK_PRIVATE_ENDPOINTS=1 allows your own network for a server.

    \b
    Examples:
      ODRADEK_PRIVATE_ENDPOINTS=1 odradek endpoint add home --url http://localhost:11434 --model qwen --no-auth --server 123
      odradek endpoint add proxy --url https://llm.example/v1 --model claude --strict-role-alternation --server 123 < key.txt
    """
    from services.cli import endpoint_commands

    endpoint_commands.add(
        Endpoint(
            label,
            url,
            model,
            style,
            num_ctx,
            requires_auth=not no_auth,
            has_tools=tools,
            sees_images=images,
            sees_videos=videos,
            supports_structured_output=structured,
            verbatim_tool_calling=verbatim_tools,
            strict_role_alternation=alternation,
            supports_prefix_completion=prefix,
        ),
        server=server,
        user=user,
        key_env=key_env,
    )


@app.command("list")
def show(server: ServerId = None, user: UserId = None, as_json: Json = False) -> None:
    """Show a server's or a person's endpoints.

    \b
    Examples:
      odradek endpoint list --server 123
    """
    from services.cli import endpoint_commands

    endpoint_commands.show(server=server, user=user, as_json=as_json)


@app.command()
def remove(label: Label, server: ServerId = None, user: UserId = None) -> None:
    """Remove an endpoint with its key, its model, and whatever points to it.

    \b
    Examples:
      odradek endpoint remove home --server 123
    """
    from services.cli import endpoint_commands

    endpoint_commands.remove(label, server=server, user=user)
