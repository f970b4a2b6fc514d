"""What a serializer makes: a POST without its secret, where media stand as references, and what there is to say of it."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from schemas.context import BlobRef
from schemas.prompts import KnownTool

WarningCode = Literal[
    "image_skipped",
    "image_unsupported",
    "video_unsupported",
    "schema_rewritten",
    "parameter_dropped",
    "parameter_clamped",
    "stop_strings_cut",
    "tools_dropped",
    "history_truncated",
    "history_sanitized",
]


@dataclass(frozen=True, slots=True)
class RenderWarning:
    """Something of the context that the request does not say, or says otherwise. `place` names it: `items[3].parts[1]`."""

    code: WarningCode
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class BlobText:
    """Stands in a body for a text: `prefix` and then the blob's bytes in base64. The provider worker puts them in."""

    blob: BlobRef
    prefix: str = ""


NativeValue = JsonValue | BlobText | list["NativeValue"] | dict[str, "NativeValue"]
"""JSON in which a BlobText may stand for a string."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The request in a provider's words.

    `mandatory` are the body's keys without which the reply would be another one or none at all; `added` those that this
    system set unasked, in the order in which they may be given up before anything that a user chose. Both serve the
    attempts after a refusal. `skipped_images` are the Discord messages (ids) whose images could not be shown. `known_tools`
    are the tools whose calls are looked for in the reply's text.
    """

    url: str
    headers: dict[str, str]
    body: dict[str, NativeValue]
    warnings: tuple[RenderWarning, ...] = ()
    mandatory: frozenset[str] = frozenset()
    added: tuple[str, ...] = ()
    skipped_images: tuple[str, ...] = field(default=())
    known_tools: tuple[KnownTool, ...] = ()
