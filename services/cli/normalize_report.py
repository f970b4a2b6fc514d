"""The lines of `odradek normalize`: files through the normalizer, and what came out as JSON."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import orjson
from msgspec.structs import asdict

from schemas.chunks import Dialect, DoneMetadata, FunctionCall, Usage
from schemas.prompts import KnownTool
from services.cli.files import read_file
from services.cli.printable import printable_json
from services.normalizer.canonical import CanonicalStream
from services.normalizer.decode import UNREADABLE, is_array, word
from services.normalizer.endings import ConnectionReset, Ending, EndOfFile
from services.normalizer.reply import Reply
from services.normalizer.stream import StreamNormalizer
from services.runtime.errors import ConfigurationError

_MOST_DIGITS = 18
_SIZES = (1, 2, 3, 5, 17, 64, 300, 1021)

PROVIDERS: dict[str, Dialect] = {
    "openai": "openai-chat",
    "google": "google",
    "vertex": "google",
    "vertexexpress": "google",
    "openrouter": "openai-chat",
    "anthropic": "anthropic",
    "deepseek": "openai-chat",
    "zai": "openai-chat",
    "zaicoding": "openai-chat",
    "nvidia": "openai-chat",
    "novelai": "novelai",
    "custom": "openai-chat",
}
"""The providers by name, and the dialect that each speaks first of all."""


@dataclass(frozen=True, slots=True)
class Request:
    """How the files are to be read."""

    dialect: Dialect
    cut: Callable[[bytes], Iterator[bytes]]
    ending: Ending
    content_type: str
    provider: str
    known_tools: tuple[KnownTool, ...]
    guards: bool

    @classmethod
    def of(
        cls,
        *,
        dialect: str,
        split: str,
        then: str,
        content_type: str,
        guards: bool,
        known_tools: Path | None,
        provider: str | None,
    ) -> "Request":
        """The request that the options mean; raises ConfigurationError for one that means nothing."""
        endings: dict[str, Ending] = {"eof": EndOfFile(), "connection_reset": ConnectionReset()}
        chosen: Dialect = _one_of(dialect, {name: name for name in get_args(Dialect)}, "--dialect")
        own: str = {"openai-chat": "openai", "openai-responses": "openai"}.get(chosen, chosen)
        named: str = own if provider is None else _one_of(provider, {name: name for name in PROVIDERS}, "--provider")
        return cls(
            dialect=chosen,
            cut=_cutter(split),
            ending=_one_of(then, endings, "--then"),
            content_type=content_type,
            provider=named,
            known_tools=() if known_tools is None else _tools(known_tools),
            guards=guards,
        )


def report(request: Request, files: Iterable[str], *, events: bool) -> Iterator[str]:
    """A line a file, or a line an event. Raises ConfigurationError for a file that cannot be read."""
    for name in files:
        data = read_file(name)
        shown = name.encode("utf-8", "replace").decode()
        if events:
            yield from _events(request, shown, data)
        else:
            yield _line({"file": shown, **_result(request, data)})


def _result(request: Request, data: bytes) -> dict[str, Any]:
    stream = StreamNormalizer(
        request.dialect,
        "",
        content_type=request.content_type,
        provider=request.provider,
        known_tools=request.known_tools,
        guards=request.guards,
    )
    reply = Reply()
    for piece in request.cut(data):
        reply.take(stream.feed(piece))
    reply.take(stream.flush(request.ending))
    metadata = reply.metadata or DoneMetadata()
    return {
        "text": reply.text,
        "thinking": reply.thinking,
        "thinking_signature": metadata.thought_signature,
        "tool_calls": [_call(call) for call in reply.calls],
        "server_tool_calls": [asdict(call) for call in metadata.server_tool_calls],
        "finish_reason": metadata.finish_reason,
        "finish_reason_raw": metadata.finish_reason_raw,
        "usage": asdict(reply.usage or Usage()),
        "model": metadata.model,
        "error": None if reply.error is None else reply.error.model_dump(exclude={"original"}),
        "serving_provider": reply.serving_provider,
        "batches": reply.batches,
    }


def _call(call: FunctionCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.args if call.args or not call.arguments_truncated else None,
        "arguments_truncated": call.arguments_truncated,
        "arguments_raw": call.raw_arguments,
        "thought_signature": call.thought_signature,
    }


def _events(request: Request, name: str, data: bytes) -> Iterator[str]:
    stream = CanonicalStream(request.dialect, "", provider=request.provider, content_type=request.content_type)
    for piece in request.cut(data):
        for event in stream.feed(piece):
            yield _line({"file": name, **event})
    for event in stream.flush(request.ending):
        yield _line({"file": name, **event})


def _cutter(split: str) -> Callable[[bytes], Iterator[bytes]]:
    def pieces(sizes: Iterator[int], data: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(data):
            size = next(sizes)
            yield data[at : at + size]
            at += size

    kind, _, seed = split.partition(":")
    if split == "whole":
        return lambda data: iter([data])
    if kind == "random" and seed and seed.isprintable():
        return lambda data: pieces(_dice(random.Random(seed)), data)
    if split.isdecimal() and len(split) <= _MOST_DIGITS and int(split) > 0:
        return lambda data: pieces(_always(int(split)), data)
    raise ConfigurationError(f"--split cannot be {split!r}", remedy="give whole, a number of bytes, or random:SEED")


def _dice(dice: random.Random) -> Iterator[int]:
    while True:
        yield dice.choice(_SIZES)


def _always(size: int) -> Iterator[int]:
    while True:
        yield size


def _one_of(name: str, known: dict[str, Any], option: str) -> Any:
    if name not in known:
        raise ConfigurationError(f"{option} cannot be {name!r}", remedy=f"give one of {', '.join(known)}")
    return known[name]


def _tools(path: Path) -> tuple[KnownTool, ...]:
    try:
        tools: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}", remedy="--known-tools wants a readable file") from error
    except UNREADABLE as error:
        raise ConfigurationError(f"{path}: {error}", remedy="--known-tools wants a JSON list") from error
    if not is_array(tools) or not all(word(one, "name") for one in tools):
        raise ConfigurationError(f"{path}: not a list of tools", remedy="give [{name, description, parameters}, ...]")
    return tuple(KnownTool.of(tool["name"], tool.get("parameters")) for tool in tools)


def _line(value: dict[str, Any]) -> str:
    try:
        line = orjson.dumps(value).decode()
    except TypeError:  # a whole number beyond 64 bits, which a tool's argument may be
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return printable_json(line)
