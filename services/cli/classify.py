"""`odradek classify`: what class of error an answer of a provider is, and what a user would read of it."""

import json
import sys
from typing import Annotated

import typer


def run(
    body: Annotated[str, typer.Argument(metavar="BODYFILE", help="The answer's body; - is standard input.")],
    dialect: Annotated[str, typer.Option(help="openai-chat, openai-responses, anthropic, google or novelai.")],
    status: Annotated[int, typer.Option(min=100, max=599, help="The answer's HTTP status.")],
    provider: Annotated[
        str, typer.Option(help="Whose answer it is (openrouter, zai, nvidia, ...); the dialect's own if unset.")
    ] = "",
    header: Annotated[
        list[str] | None, typer.Option(metavar="NAME:VALUE", help="A header of the answer; may be repeated.")
    ] = None,
    credential_source: Annotated[
        str, typer.Option(metavar="server|personal", help="Whose key the request was made with.")
    ] = "server",
    fallback: Annotated[
        bool, typer.Option("--fallback", help="Other models are configured to fall back on, so no hint at them.")
    ] = False,
    locale: Annotated[str, typer.Option(metavar="en|ja", help="The language of the presentation.")] = "en",
) -> None:
    """Say what class of error an answer of a provider is, and what a user would read of it, as JSON.

    Prints {error, classifiers, presentation}. A body with a status of 200 to 299 is read as the stream that it should be;
    all three are null, empty and null where it is a whole one.

    Exits with 0 also where there is no error, and with 2 for wrong usage.

    \b
    Examples:
      odradek classify --dialect openai-chat --provider openrouter --status 402 body.json
      odradek classify --dialect openai-chat --status 429 --header 'retry-after: 20' --fallback body.json
      curl -s https://... | odradek classify --dialect anthropic --status 529 --credential-source personal -
      odradek classify --dialect google --status 200 --header 'content-type: text/event-stream' stream.sse
    """
    from services.cli.classify_report import Answer, report
    from services.cli.printable import printable_json

    answer = Answer.of(
        body=body,
        dialect=dialect,
        status=status,
        provider=provider,
        headers=header or [],
        source=credential_source,
        fallback=fallback,
        locale=locale,
    )
    text = printable_json(json.dumps(report(answer), ensure_ascii=False, indent=2))
    sys.stdout.buffer.write(f"{text}\n".encode())
