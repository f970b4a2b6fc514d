"""Gemma's notation of a tool call, written as a name and JSON.

`call:name{key:value,...}`, where a key is a bare word and a string stands between two quoting tokens: `<|"|>` since Gemma 4
(https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4), `<escape>` in FunctionGemma
(https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices). Numbers, booleans, null, lists and objects
are as in JSON, and so are strings of models that fall back to its quotes.
"""

import json
import re

from services.normalizer.json_prefix import JsonPrefix

_HEAD = re.compile(r"\s*call:\s*([A-Za-z_][A-Za-z0-9_.-]{0,127})\s*(?=\{)")
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*+"?)"""
    r"|(?P<word>[A-Za-z_$][A-Za-z0-9_$.-]*+)(?P<colon>\s*:)?"
    r"|(?P<other>[-+0-9.eE]+|[{}\[\]:,\s]+)"
)


def written_as_json(body: str, quote: str) -> tuple[str, str] | None:
    """The name and the arguments' JSON text of what stands between the call's tokens; `quote` is the quoting token.

    None when it is malformed. A body that was cut off gives JSON text that is cut off in the same place.
    """
    head = _HEAD.match(body)
    if head is None:
        return None
    text = _arguments(body, head.end(), quote)
    if text is None:
        return None
    prefix = JsonPrefix()
    end = prefix.feed(text)
    if prefix.malformed or text[end:].strip():
        return None
    return head[1], text


def _arguments(body: str, at: int, quote: str) -> str | None:
    written: list[str] = []
    while at < len(body):
        if body.startswith(quote, at):
            start = at + len(quote)
            end = body.find(quote, start)
            closed = end >= 0
            text = json.dumps(body[start : end if closed else len(body)], ensure_ascii=False)
            written.append(text if closed else text[:-1])
            at = end + len(quote) if closed else len(body)
            continue
        token = _TOKEN.match(body, at)
        if token is None:
            # The start of a quoting token at the very end says nothing yet.
            return "".join(written) if quote.startswith(body[at:]) else None
        at = token.end()
        word = _word(token, last=at == len(body)) if token["word"] else token[0]
        if word is None:
            return None
        written.append(word)
    return "".join(written)


def _word(token: re.Match[str], *, last: bool) -> str | None:
    """A key gets its quotes; a word at the very end may go on, and is left open like a string. None for another word."""
    word = token["word"]
    if token["colon"]:
        return f'"{word}":'
    if last:
        return f'"{word}'
    return word if word in ("true", "false", "null") else None
