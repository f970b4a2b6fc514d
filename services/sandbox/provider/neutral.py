"""What all dialects have in common: a prompt of messages, and a reply's finish reason and usage."""

from dataclasses import dataclass
from typing import Literal

DialectName = Literal["openai-chat", "openai-responses", "anthropic", "google"]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt; `text` joins its text parts, other parts are left out."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A native request reduced to what a reply depends on.

    `wants_usage` is false only where the dialect sends usage on demand (chat's `stream_options.include_usage`).
    """

    model: str
    messages: tuple[ChatMessage, ...]
    wants_usage: bool = True


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one reply; `output_tokens` includes `thinking_tokens`."""

    input_tokens: int
    output_tokens: int
    thinking_tokens: int = 0
