"""Which rules hold for which provider: its family's statuses and its own codes, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.chunks import Dialect
from services.normalizer.errors.codes import CODES, Codes, by_code
from services.normalizer.errors.reasons import Reason

_COMMON: Mapping[int, Reason] = {
    401: "key",
    402: "balance",
    403: "key",
    408: "timeout",
    413: "context",
    425: "overloaded",
    429: "rate_limit",
    498: "overloaded",  # Groq's flex tier: https://console.groq.com/docs/errors
    500: "server",
    501: "request",
    502: "overloaded",
    503: "overloaded",
    504: "timeout",
    505: "request",
    520: "overloaded",  # 520 to 524 and 530 are Cloudflare's for an origin that is down or slow
    521: "overloaded",
    522: "timeout",
    523: "overloaded",
    524: "timeout",
    529: "overloaded",
    530: "overloaded",
}


@dataclass(frozen=True, slots=True)
class Family:
    """A provider's error rules. `statuses` and `codes` are complete: the common ones with the family's own."""

    name: str
    statuses: Mapping[int, Reason] = field(default_factory=lambda: _COMMON)
    codes: Codes = field(default_factory=lambda: CODES)

    def by_status(self, status: int) -> Reason:
        """The reason that a status of 300 and more means by itself."""
        return self.statuses.get(status, "server" if status >= 500 else "request")


_OPENAI_STATUSES: Mapping[int, Reason] = {**_COMMON, 500: "overloaded"}

# https://docs.z.ai/api-reference/api-code; the coding plan has the same codes. A balance at zero comes as a 429.
_ZAI_CODES: Codes = {
    **CODES,
    **by_code(
        {
            "key": ("1000", "1001", "1002", "1003", "1004", "1110", "1111", "1112", "1121", "1220"),
            "balance": ("1113", "1309"),
            "model": ("1211", "1221", "1222"),
            "plan": ("1311",),
            "context": ("1261",),
            "content": ("1300", "1301"),
            "rate_limit": ("1302", "1303", "1304", "1305", "1308", "1310", "1313"),
            "overloaded": ("1312",),
            "server": ("1120", "1230", "1234"),
        }
    ),
}

# Model Studio says insufficient_quota for a limit of tokens a minute, and Arrearage for an unpaid account.
_ALIBABA_CODES: Codes = {**CODES, "insufficient_quota": "rate_limit"}

# https://platform.minimax.io/docs/api-reference/errorcode
_MINIMAX_CODES: Codes = {
    **CODES,
    **by_code(
        {
            "rate_limit": ("1002", "1039", "1041", "2045", "2056"),
            "key": ("1004", "2049"),
            "balance": ("1008",),
            "plan": ("2061",),
            "content": ("1026", "1027"),
            "timeout": ("1001",),
            "server": ("1000", "1013", "1024", "1033"),
        }
    ),
}

OPENAI = Family("openai", _OPENAI_STATUSES)
ANTHROPIC = Family("anthropic")
GOOGLE = Family("google", {**_COMMON, 409: "server", 499: "server"})
OPENROUTER = Family("openrouter", _OPENAI_STATUSES)
NOVELAI = Family("novelai", {**_COMMON, 502: "server"})
# NIM answers 404 for a model that the account may not use, and 410 for one at the end of its life.
NVIDIA = Family("nvidia", {**_OPENAI_STATUSES, 404: "model", 410: "model"})
ZAI = Family("zai", _OPENAI_STATUSES, _ZAI_CODES)
ALIBABA = Family("alibaba", _OPENAI_STATUSES, _ALIBABA_CODES)
# https://docs.cohere.com/reference/errors: 498 is a blocked input or output.
COHERE = Family("cohere", {**_COMMON, 498: "content"})
MINIMAX = Family("minimax", _OPENAI_STATUSES, _MINIMAX_CODES)

_PROVIDERS: tuple[tuple[Family, tuple[str, ...]], ...] = (
    (GOOGLE, ("google", "gemini", "vertex", "vertexai", "vertexexpress", "vertex-express")),
    (ANTHROPIC, ("anthropic", "claude")),
    (OPENROUTER, ("openrouter", "or")),
    (NOVELAI, ("novelai", "nai")),
    (NVIDIA, ("nvidia", "nim")),
    (ZAI, ("zai", "zaicoding", "zai-coding", "zhipu", "zhipuai")),
    (ALIBABA, ("alibaba", "dashscope", "qwen")),
    (MINIMAX, ("minimax",)),
    (COHERE, ("cohere",)),
)
_BY_PROVIDER: Mapping[str, Family] = {name: family for family, names in _PROVIDERS for name in names}

_BY_DIALECT: Mapping[Dialect, Family] = {
    "openai-chat": OPENAI,
    "openai-responses": OPENAI,
    "anthropic": ANTHROPIC,
    "google": GOOGLE,
    "novelai": NOVELAI,
}


def family_of(dialect: Dialect, provider: str = "") -> Family:
    """The family of a provider by its name ; of one without a row, that of its wire language's origin."""
    return _BY_PROVIDER.get(provider.lower(), _BY_DIALECT[dialect])
