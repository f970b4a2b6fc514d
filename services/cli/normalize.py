"""`odradek normalize`: what the normalizer makes of recorded streams, one JSON object a file."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Recorded streams; - is standard input.")],
    dialect: Annotated[str, typer.Option(help="openai-chat, openai-responses, anthropic, google or novelai.")],
    split: Annotated[
        str, typer.Option(metavar="whole|N|random:SEED", help="How the bytes are cut: not, every N, or by dice.")
    ] = "whole",
    then: Annotated[str, typer.Option(help="How the stream ends: eof or connection_reset.")] = "eof",
    content_type: Annotated[str, typer.Option(help="What the answer's head says.")] = "text/event-stream",
    guards: Annotated[bool, typer.Option("--guards/--no-guards", help="Repair leaked reasoning and calls.")] = True,
    known_tools: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A JSON list of {name, description, parameters}: the tools on offer."),
    ] = None,
    provider: Annotated[str | None, typer.Option(help="Whose stream it is; the dialect's own if unset.")] = None,
    events: Annotated[bool, typer.Option("--events", help="Print the canonical events, one a line.")] = False,
) -> None:
    """Normalize recorded provider streams, and print one JSON object a file.

    Each object has text, thinking, thinking_signature, tool_calls, server_tool_calls, finish_reason, finish_reason_raw,
    usage, model, error, serving_provider and batches (how many reads gave something). With
    --events each line is one canonical event, before the guards, and its file: start, text_delta, thinking_delta,
    toolcall_delta, server_toolcall, then done or error.

    Exits with 0 also where a stream holds an error, and with 2 for wrong usage.

    \b
    Examples:
      odradek normalize --dialect openai-chat reply.sse
      curl -N https://... | odradek normalize --dialect anthropic -
      odradek normalize --dialect google --split random:7 --events a.sse b.sse
      odradek normalize --dialect openai-chat --provider custom --known-tools tools.json reply.sse
    """
    from services.cli.normalize_report import Request, report

    request = Request.of(
        dialect=dialect,
        split=split,
        then=then,
        content_type=content_type,
        guards=guards,
        known_tools=known_tools,
        provider=provider,
    )
    for line in report(request, files, events=events):
        print(line)
