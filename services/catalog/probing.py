"""Whether a provider takes a key: the cheapest request that shows it, and what the answer's status means.

Lists and key information where a provider has them for nothing, else one token: https://openrouter.ai/docs/api-reference/get-current-api-key,
https://ai.google.dev/api/models#method:-models.list, https://api.novelai.net/docs,
https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens,
https://platform.openai.com/docs/api-reference/models/list.
"""

from dataclasses import dataclass
from typing import Literal, assert_never

from pydantic import JsonValue, SecretStr

from schemas.prompts import Placement
from services.catalog.providers import PROVIDERS
from services.catalog.target import ProviderName

Finding = Literal["taken", "refused", "undecided"]
_NOVELAI = "https://api.novelai.net"
_TIMEOUT_S = 20.0
_NOVELAI_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Probe:
    """A request without its key."""

    method: Literal["GET", "POST"]
    url: str
    body: dict[str, JsonValue] | None = None
    total_s: float = _TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the answer says of the key, and in words that a person reads."""

    finding: Finding
    words: str


def probe_for(provider: ProviderName, model: str, base_url: str | None = None) -> Probe:
    """The request. `base_url` None is the provider's own; Vertex and custom endpoints have none."""
    base = (base_url or PROVIDERS[provider].base_url or "").rstrip("/")
    one_token: dict[str, JsonValue] = {
        "model": model.removeprefix("zai/"),
        "max_tokens": 1,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    match provider:
        case "google":
            return Probe("GET", f"{base}/models?pageSize=1")
        case "vertex" | "vertexexpress":
            content: JsonValue = [{"role": "user", "parts": [{"text": "Hi"}]}]
            return Probe("POST", f"{base}/models/{model}:countTokens", {"contents": content})
        case "openrouter":
            return Probe("GET", f"{base}/auth/key")
        case "novelai":
            return Probe("GET", f"{(base_url or _NOVELAI).rstrip('/')}/user/information", None, _NOVELAI_TIMEOUT_S)
        case "openai" | "custom":
            return Probe("GET", f"{base}/models")
        case "anthropic":
            return Probe("POST", f"{base}/messages", one_token)
        case "deepseek" | "zai" | "zaicoding" | "nvidia":
            return Probe("POST", f"{base}/chat/completions", one_token)
        case _:
            assert_never(provider)


def key_headers(placement: Placement, key: SecretStr | None) -> dict[str, str]:
    """The headers that show the key; none without one."""
    if key is None:
        return {}
    secret = key.get_secret_value()
    match placement:
        case "bearer":
            return {"authorization": f"Bearer {secret}"}
        case "x-api-key":
            return {"x-api-key": secret, "anthropic-version": "2023-06-01"}
        case "x-goog-api-key":
            return {"x-goog-api-key": secret}
        case "google-adc" | "none":
            return {}
        case _:
            assert_never(placement)


def judge(provider: ProviderName, status: int) -> Verdict:
    """What the status of the answer means. Google says 400 of a key that it does not know."""
    if provider == "vertex":
        return _judge_account(status)
    if status in (401, 403) or (status == 400 and provider in ("google", "vertexexpress")):
        return Verdict("refused", f"the key is refused (status {status})")
    if status == 402:
        return Verdict("taken", "the key is taken, but there is nothing to spend (status 402)")
    if status == 429:
        return Verdict("taken", "the key is taken, but the rate is limited (status 429)")
    if 200 <= status < 300:
        return Verdict("taken", "the key is taken")
    if provider == "anthropic" and status < 500:
        return Verdict("taken", f"the key is taken, though the request is not (status {status})")
    if provider == "custom" and status < 500:
        return Verdict("taken", f"the endpoint answers, but lists no models (status {status})")
    return Verdict("undecided", f"the answer has status {status}, which says nothing of the key")


def _judge_account(status: int) -> Verdict:
    """Of Vertex, which asks for no key: the account is the machine's, and only the project and location are ours."""
    if status in (401, 403):
        remedy = "give it the role Vertex AI User in the project, and enable the Vertex AI API there"
        return Verdict("refused", f"the account of this machine's credentials is refused (status {status}): {remedy}")
    if status == 429:
        return Verdict(
            "taken", "the account of this machine's credentials is taken, but the rate is limited (status 429)"
        )
    if 200 <= status < 300:
        return Verdict("taken", "the account of this machine's credentials is taken by the project and location")
    remedy = "check PROJECT::LOCATION, and whether the location has the model" if status in (400, 404) else "try later"
    return Verdict("undecided", f"the answer has status {status}, which says nothing of the account: {remedy}")
