"""Ids of calls in the form that a target takes, unique in the request."""

import re
from hashlib import sha256
from typing import assert_never

from services.catalog.target import Target

_ANTHROPIC = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CHAT = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MISTRAL = re.compile(r"[A-Za-z0-9]{9}")
_ANY = re.compile(r"[!-~]{1,64}")
_MISTRAL_MODELS = re.compile(r"mistral|mixtral|magistral|codestral|devstral|pixtral|voxtral", re.IGNORECASE)


class CallIds:
    """The ids of one request. A new one depends only on the old one and its place, so that a prompt's cache holds."""

    def __init__(self, target: Target) -> None:
        self._form = _form(target)
        self._keeps_own = target.provider != "openai" and target.dialect == "openai-chat" and self._form is _CHAT
        self._taken: set[str] = set()

    def taken(self, call_id: str, place: str, *, own: bool) -> str:
        """The id, if the target takes it and no call has it yet, else a new one.

        `own`: the target made it. A server of chat completions gets its own ids back even if others would refuse them,
        since a model may read them: https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md
        """
        form = _ANY if own and self._keeps_own else self._form
        tries, found = 0, call_id
        while found in self._taken or not form.fullmatch(found):
            found = self._made(f"{place} {call_id} {tries}")
            tries += 1
        self._taken.add(found)
        return found

    def _made(self, seed: str) -> str:
        digest = sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
        return digest[:9] if self._form is _MISTRAL else f"call_{digest[:24]}"


def _form(target: Target) -> re.Pattern[str]:
    match target.dialect:
        case "anthropic":
            # https://docs.claude.com/en/api/messages; longer ids are refused in practice
            return _ANTHROPIC
        case "openai-responses":
            return _ANTHROPIC
        case "openai-chat":
            # Mistral: https://docs.mistral.ai/capabilities/function_calling; OpenAI's chat completions take 40 characters
            return _MISTRAL if _MISTRAL_MODELS.search(target.model.codename) else _CHAT
        case "google" | "novelai":
            return _ANY
        case _:
            assert_never(target.dialect)
