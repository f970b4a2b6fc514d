"""Names of tools as every provider takes them, and the way back.

Letters, digits, underscores and dashes, at most 64, not a digit or a dash first, is what the providers have in common:
https://platform.openai.com/docs/api-reference/chat/create, https://docs.claude.com/en/docs/agents-and-tools/tool-use,
https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration.
"""

import re
from collections.abc import Iterable
from hashlib import sha256

MOST_LENGTH = 64
_TAKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST = 8


def wire_name(name: str) -> str:
    """The name as providers are told it: itself if they take it, else a readable form that ends in its digest.

    It depends on the name alone, so calls of the past bear the same name as today's declaration.
    """
    if _TAKEN.fullmatch(name):
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    readable = _REFUSED.sub("_", name)[: MOST_LENGTH - _DIGEST - 2]
    if not _TAKEN.fullmatch(readable):
        readable = f"_{readable}"
    return f"{readable}_{digest}"


def names_by_wire_name(names: Iterable[str]) -> dict[str, str]:
    """The tools' own names by the names that a model calls them by; of two with one wire name the first."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(wire_name(name), name)
    return found
