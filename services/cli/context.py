"""`odradek context`: what a neutral context becomes for a provider, and the schema of the file that holds one."""

from typing import Annotated

import typer

_HELP = """See what a neutral context becomes for a provider, without asking it.

\b
Examples:
  odradek context schema
  odradek context render --provider deepseek --model deepseek-chat context.json
"""
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=_HELP,
)


@app.callback()
def group() -> None:
    """See what a neutral context becomes for a provider, without asking it."""


@app.command()
def render(
    file: Annotated[str, typer.Argument(metavar="FILE.json", help="The neutral context; - is standard input.")],
    dialect: Annotated[
        str | None,
        typer.Option(help="openai-chat, openai-responses, anthropic, google or novelai; the provider's own if unset."),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(
            help="Whose model it is (openai, deepseek, custom, ...), or an endpoint of the catalog, custom:N; "
            "the one of the dialect if unset."
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model's name; the provider's default if unset.")] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Another address than the provider's own; custom needs one.")
    ] = None,
    num_ctx: Annotated[
        int | None, typer.Option(min=1, help="The context size of a custom endpoint, in tokens.")
    ] = None,
    capabilities: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="What the model can do, if not what is known: tools, images, videos, youtube, reasoning; or none.",
        ),
    ] = None,
    context_window: Annotated[int | None, typer.Option(min=1, help="The model's window, in tokens.")] = None,
    max_output_tokens: Annotated[int | None, typer.Option(min=1, help="The most that the model writes.")] = None,
    supported_parameters: Annotated[
        str | None, typer.Option(metavar="LIST", help="The only parameters that the model takes.")
    ] = None,
    strict_role_alternation: Annotated[
        bool | None,
        typer.Option("--strict-role-alternation/--no-strict-role-alternation", help="Merge turns of one role."),
    ] = None,
    prefix_completion: Annotated[
        bool | None,
        typer.Option("--prefix-completion/--no-prefix-completion", help="Mark a trailing turn to be continued."),
    ] = None,
) -> None:
    """Print the request that a provider would get for a neutral context, as JSON. Nothing is sent.

    Prints {provider, dialect, model, method, url, headers, body, warnings, mandatory, added, skipped_images}. Secrets are
    shown as ********. Where the bytes of a medium belong that waits in the blob store, {"blob", "size", "prefix"} stands.
    What is known of a model comes from the models that ship with Odradek; of any other, tools and images are assumed.

    Exits with 0, or with 2 for a file that holds no context, for a context that cannot be sent and for wrong usage.

    \b
    Examples:
      odradek context render --dialect openai-chat context.json
      odradek context render --provider deepseek --model deepseek-chat context.json | jq .body.messages
      odradek context render --provider custom --base-url http://localhost:1234 --strict-role-alternation context.json
      odradek context render --provider custom:7 context.json
      echo '{"items": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}' | odradek context render -
    """
    from services.cli import context_report

    asked = context_report.asked_by(
        dialect=dialect,
        provider=provider,
        model=model,
        base_url=base_url,
        num_ctx=num_ctx,
        capabilities=capabilities,
        context_window=context_window,
        max_output_tokens=max_output_tokens,
        supported_parameters=supported_parameters,
        strict_role_alternation=strict_role_alternation,
        prefix_completion=prefix_completion,
    )
    context_report.print_request(file, asked)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the file that `odradek context render` reads.

    \b
    Example:
      odradek context schema > neutral-context.schema.json
    """
    from services.cli import context_report

    context_report.print_schema()
