"""Whether a call is let in: key, headers, body and model, in the order in which providers check them; pure."""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import msgspec

from services.sandbox.provider.dialects.base import BadRequestError, Dialect
from services.sandbox.provider.neutral import Prompt
from services.sandbox.provider.replies import MODELS


@dataclass(frozen=True, slots=True)
class Refusal:
    """The status and message of a native error."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Admission:
    """What was read of a call, and the prompt or the refusal that it comes to."""

    body: object
    model: str
    outcome: Prompt | Refusal


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """Knows the keys, and with each call the model names that scripts have added. `others`: keys by their holders."""

    key: str
    others: Mapping[str, str] = field(default_factory=dict[str, str])

    def shown_key_is_right(self, dialect: Dialect, headers: Mapping[str, str]) -> bool:
        """Whether lower-case headers carry a key where this dialect expects it."""
        shown = dialect.key(headers)
        return shown is not None and (_equal(shown, self.key) or self._holder(shown) is not None)

    def holder(self, dialect: Dialect, headers: Mapping[str, str]) -> str | None:
        """Who of `others` called, told by the key; None for anybody else."""
        shown = dialect.key(headers)
        return None if shown is None else self._holder(shown)

    def _holder(self, shown: str) -> str | None:
        return next((name for name, key in self.others.items() if _equal(shown, key)), None)

    def admit(
        self,
        dialect: Dialect,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        raw: bytes | None,
        path_model: str,
        scripted_models: Collection[str],
    ) -> Admission:
        """Check a call; `raw` is None if the body was too large to read. Without the key, the body is not looked at."""
        if not self.shown_key_is_right(dialect, headers):
            return Admission(None, path_model, Refusal(401, "The API key is missing or not the sandbox's."))
        if raw is None:
            return Admission(None, path_model, Refusal(413, "The request body is too large."))
        body: object = None
        try:
            body = msgspec.json.decode(raw)
            dialect.check_envelope(headers, query)
            prompt = dialect.read(body, path_model)
        except msgspec.DecodeError as error:
            return Admission(body, path_model, Refusal(400, f"The request body is not valid JSON: {error}"))
        except BadRequestError as error:
            return Admission(body, path_model, Refusal(400, str(error)))
        if prompt.model in MODELS or prompt.model in scripted_models:
            return Admission(body, prompt.model, prompt)
        return Admission(body, prompt.model, Refusal(404, f"The model `{prompt.model[:200]}` does not exist here."))


def _equal(shown: str, key: str) -> bool:
    return hmac.compare_digest(shown.encode(), key.encode())
