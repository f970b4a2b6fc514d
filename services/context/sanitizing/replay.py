"""What of a model's own parts goes back to a target: reasoning and signatures that it can read, nothing of others.

A reader refuses another model's signatures, and another model's thoughts in visible text would be taken for speech. So
foreign reasoning is left out; nobody saw it. What a reader would have seen, text that only the parts hold, stays.
"""

from collections.abc import Sequence
from typing import Literal, assert_never

from pydantic import JsonValue

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange, Origin
from services.catalog.target import ProviderName, Target

Kinship = Literal["same model", "same provider", "foreign"]

_PLAIN_REASONING: frozenset[ProviderName] = frozenset({"deepseek", "zai", "zaicoding"})
"""Providers that read `reasoning_content`, which is text without a signature, whichever model wrote it.

https://api-docs.deepseek.com/guides/thinking_mode, https://docs.z.ai/guides/capabilities/thinking-mode
"""

Part = dict[str, JsonValue]


def kinship(origin: Origin | None, target: Target) -> Kinship:
    """How near the target is to whoever said something; what nobody knows the origin of is foreign."""
    if origin is None or origin.dialect != target.dialect or origin.provider != target.provider:
        return "foreign"
    return "same model" if origin.model == target.model.codename else "same provider"


def usable_replay(
    exchange: FunctionExchange, calls: Sequence[FunctionCall], target: Target, kin: Kinship
) -> tuple[Part, ...]:
    """The parts that the target can read again, in their order. `calls` are the exchange's as they will be told."""
    parts = exchange.replay
    match target.dialect:
        case "anthropic":
            # Claude models may not read all of each other's thoughts, but the provider leaves those out itself:
            # https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
            near = kin == "same model" or (kin == "same provider" and target.provider == "anthropic")
            return tuple(part for part in parts if near and _is_signed(part))
        case "google":
            return _with_calls(parts, exchange.calls, calls) if kin == "same model" else ()
        case "openai-responses":
            return tuple(part for part in parts if kin == "same model" and part.get("type") == "reasoning")
        case "openai-chat":
            if kin == "same model":
                return tuple(part for part in parts if _is_chat_reasoning(part))
            readable = target.provider in _PLAIN_REASONING
            return tuple(part for part in parts if readable and part.get("type") == "reasoning_content")
        case "novelai":
            return ()
        case _:
            assert_never(target.dialect)


def visible_text(exchange: FunctionExchange) -> str:
    """The text that stands in the parts alone, as Google's do, without thoughts."""
    texts = [part.get("text") for part in exchange.replay if "type" not in part and part.get("thought") is not True]
    return "".join(text for text in texts if isinstance(text, str))


def _is_signed(part: Part) -> bool:
    """Whether it is a whole thinking block; one that was cut off has no signature, and would be refused."""
    key = {"thinking": "signature", "redacted_thinking": "data"}.get(str(part.get("type")))
    return key is not None and isinstance(part.get(key), str) and part[key] != ""


def _is_chat_reasoning(part: Part) -> bool:
    kind = str(part.get("type"))
    return kind in ("reasoning_content", "thinking") or kind.startswith("reasoning.")


def _with_calls(
    parts: Sequence[Part], before: Sequence[FunctionCall], calls: Sequence[FunctionCall]
) -> tuple[Part, ...]:
    """Google's parts, whose calls say what `calls` say; none if they are not the same calls.

    A part whose call stays as it was stays as it was, since its signature may cover it.
    """
    called = [(index, own) for index, part in enumerate(parts) if isinstance(own := part.get("functionCall"), dict)]
    if len(called) != len(calls):
        return ()
    out = list(parts)
    for (index, own), old, call in zip(called, before, calls, strict=True):
        if own.get("name") not in (old.name, call.name):
            return ()
        if call.arguments_truncated or own["name"] != call.name:
            out[index] = {**out[index], "functionCall": {**own, "name": call.name, "args": call.args}}
    return tuple(out)
