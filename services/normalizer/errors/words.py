"""The reasons that a message's words give, for what providers say in words alone.

A pattern matches at word boundaries and within a bounded span, so that a number or a part of a word decides nothing and
a hostile message costs no more than its length.
"""

import re
from collections.abc import Collection, Mapping
from re import Pattern

from services.normalizer.errors.reasons import Reason


def _any(*patterns: str) -> Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_AFFORDABLE = re.compile(r"\bcan only afford ([\d,.]*\d)", re.IGNORECASE)
"""How much of the request is paid for: anything but zero, and a smaller one fits."""

_PATTERNS: Mapping[Reason, Pattern[str]] = {
    "balance": _any(
        r"\binsufficient (?:account |wallet )?(?:balance|credits?|funds?)\b",
        r"\bnot enough (?:credits?|balance|funds)\b",
        r"\bno resource package\b",
        r"\bplease (?:recharge|top[ -]?up)\b",
        r"\b(?:account|credit|wallet)?\s?balance (?:is |has been )?(?:too low|exhausted|depleted|insufficient|not enough)\b",
        r"\bout of credits?\b",
        r"\bcredits?\b.{0,30}\b(?:used up|exhausted|depleted|expired|ran out|run out)\b",
        r"\b(?:used up|exhausted|exceeded|run out of)\b[^.:;]{0,40}\bcredits\b",
        r"\b(?:have|has) (?:no|any) credits\b",
        r"\bkey limit exceeded\b",
        r"\b(?:spending|spend|billing) (?:hard )?(?:limit|cap)\b",
        r"\bbalance is \$?-?0(?:\.0+)?\b(?!\.?\d)",
        r"\bout of extra usage\b",
        r"\busage limit for this billing\b",
        r"\bpast due\b",
        r"\boverdue\b",
        r"\bin arrears\b",
        r"\bplan package has expired\b",
        r"\bunpaid invoices?\b",
        r"\bAPI usage limits\b",
        r"\bbudget has been exceeded\b",
        r"\bcrossed budget\b",
        r"余额不足|欠费",
    ),
    "affordability": _any(
        r"\bfewer max_tokens\b",
        r"\brequest requires more credits\b",
        r"\bcredits?\b.{0,30}\bfor this request\b",
        r"\bprompt tokens limit exceeded\b",
    ),
    "context": _any(
        r"\bmax(?:imum)? context (?:length|window|size)\b",
        r"\bcontext (?:length|window|size|limit)\b.{0,60}\b(?:exceed\w*|overflow\w*|too (?:long|large|small))\b",
        r"\bexceed\w*\b.{0,60}\bcontext (?:length|window|size|limit)\b",
        r"\bcontext\b.{0,60}\b\d[\d,]* tokens\b.{0,60}\d{3}",
        r"\bmax(?:imum)? prompt length is \d",
        r"\b(?:longer|greater) than\b.{0,40}\b(?:(?:context|model|sequence) length|context (?:window|size))\b",
        r"\bless than (?:the )?(?:context length|max_seq_len)\b",
        r"\binputs?`? must have less than \d[\d,]* tokens\b",
        r"\bprompt (?:is|has) \d[\d,]* tokens\b.{0,60}\bcontext (?:length|window|size)\b",
        r"\bmax_(?:completion_)?tokens must be at least 1, got -\d",
        r"\bcontext length of only \d",
        r"\btoken count\b.{0,40}\bsupports up to \d",
        r"\bprompt (?:is )?too long\b",
        r"\btoo long to fit\b",
        r"\binput (?:is )?too long\b",
        r"\binputs?\b(?!.{0,40}\b(?:image|schema|file|audio|video)s?\b).{0,40}\bexceed\w*\b.{0,60}"
        r"\b(?:maximum|max|limit|tokens|length)\b",
        r"\btokens?\b.{0,40}\bexceed\w*\b.{0,40}\bmaximum number of tokens\b",
        r"\binputs?`? (?:tokens )?\+ `?max_(?:new_)?tokens\b",
        r"\binput length should be\b",
        r"\breduce the length of the (?:messages?|prompt|input)\b",
        r"\brequest too large for model\b",
        r"\btoo many tokens\b(?!, please wait)",
        r"\bexceed\w* (?:the )?(?:model )?token limit\b",
    ),
    "model": _any(
        r"\bmodels?\b(?!\.\w)(?:(?!\. |(?<![\w/-])(?:tool|function|file|image)s?\b(?![-:/.]\w)).){0,120}?\b"
        r"(?:(?:do|does) not exist|doesn't exist|(?<!or it may )not exist|not found|is not (?:available"
        r"|a valid|supported(?! (?:on|in|for|with)))|(?:is|was|been) (?:removed|retired|deprecated|discontinued"
        r"|decommissioned|shut down)|no longer (?:available|supported|served))\b",
        r"\b(?:unknown|unsupported|unrecogni[sz]ed|invalid|no such) models?\b(?! (?:param|arg|output|input|type|config))",
        r"\bnot a valid models?\b",
        r"\bmodel (?:identifier|id|name) is (?:invalid|not valid)\b",
        r"\bsupported (?:api )?model names are\b",
        r"\bmodel (?:(?:is )?disabled|not supported by)\b",
        r"\bmodel is marked by provider as legacy\b",
        r"\bon-demand throughput (?:isn.t|is not) supported\b",
        r"\bnot allowed to use publisher model\b",
        r"\bdegraded function\b",
        r"\bnot found the model\b",
        r"\b(?:could not|cannot|can't) find (?:the |a )?model\b",
        r"\bno endpoints found\b(?!.{0,60}\bpolicy\b)",
        r"\bno allowed providers are available for the selected model\b",
        r"\bnon-serverless model\b",
        r"\bnot a chat model\b",
        r"\baccess to (?:the )?models?\b",
        r"^\s*model: \S+\s*$",
        r"模型不存在",
    ),
    "plan": _any(
        r"\bsubscription plan\b",
        r"\bdoes not yet include access\b",
        r"\bplan (?:does )?not (?:include|support)\b",
        r"\bmodel requires a subscription\b",
    ),
    "content": _any(
        r"\bcontent (?:management |moderation )?(?:policy|policies|filter(?:s|ed|ing)?)\b",
        r"\bcontent exists risk\b",
        r"\bconsidered high risk\b",
        r"\bnew_sensitive\b",
        r"\bviolat\w+\b.{0,60}\b(?:polic(?:y|ies)|guidelines?|terms)\b",
        r"\b(?:was|been|got|is) flagged\b",
        r"\brequires moderation\b",
        r"\b(?:inappropriate|sensitive|unsafe|prohibited|harmful) content\b(?! types?\b)",
        r"\b(?:contains?|containing) sensitive information\b",
        r"\bblocked (?:by|for|due to|because of)\b.{0,30}\b(?:safety|content|moderation|policy|guardrails?)\b",
    ),
    "key": _any(
        r"\b(?:invalid|incorrect|wrong|missing|expired|revoked|no)\b.{0,30}"
        r"\b(?:api|access|auth\w*|subscription|bearer)[ _-]?(?:keys?|tokens?|credentials?|header)\b",
        r"\b(?:api|access|auth\w*|subscription)[ _-]?(?:key|token)\b.{0,40}\b(?:invalid|not valid|incorrect|expired|missing"
        r"|required|revoked|disabled|leaked)\b",
        r"\bunauthori[sz]ed\b",
        r"\bauthentication (?:fail\w*|error|required)\b",
        r"\b(?:organi[sz]ation|account) (?:has been|is) (?:disabled|restricted|suspended)\b",
    ),
    "rate_limit": _any(
        r"\brate[ -]?limit(?:s|ed|ing)?\b",
        r"\btoo many requests\b",
        r"\bquota exceeded\b",
        r"\btoo many tokens, please wait\b",
    ),
    "overloaded": _any(
        r"\boverloaded\b",
        r"\b(?:temporarily|service|currently) unavailable\b",
        r"\b(?:at|over|no|exceeds?) capacity\b",
        r"\bcapacity exceeded\b",
        r"\bhigh (?:demand|traffic|load)\b",
    ),
    "timeout": _any(r"\btime[d-]? ?out\b", r"\bdeadline exceeded\b"),
    "server": _any(r"\binternal (?:server )?error\b", r"\bserver had an error\b"),
}

_HINTS: Mapping[Reason, tuple[str, ...]] = {
    "balance": (
        *("credit", "balance", "fund", "resource package", "recharge", "top up", "top-up", "topup", "key limit"),
        *("spend", "billing", "arrears", "plan package", "invoice", "usage limits", "budget", "extra usage"),
        *("past due", "overdue"),
    ),
    "affordability": ("credit", "max_tokens", "tokens limit"),
    "context": (
        *("context", "exceed", "too long", "too large", "too many tokens", "max_", "input length"),
        *("reduce the length", "prompt length", "token count", "longer than", "greater than", "less than"),
    ),
    "model": (
        *("exist", "not found", "is not", "removed", "retired", "deprecated", "discontinued", "decommissioned"),
        *(
            "shut down",
            "no longer",
            "unknown model",
            "unsupported model",
            "unrecogni",
            "invalid model",
            "no such model",
        ),
        *("not a ", "is invalid", "find", "no endpoints", "no allowed providers", "serverless", "access to", "model: "),
        *(
            "model names are",
            "disabled",
            "not supported by",
            "as legacy",
            "on-demand",
            "publisher model",
            "degraded function",
        ),
    ),
    "plan": ("plan", "include access", "subscription"),
    "content": ("content", "violat", "flagged", "moderation", "blocked", "sensitive", "high risk"),
    "key": ("key", "token", "credential", "header", "unauthori", "authentication", "organi", "account"),
    "rate_limit": ("limit", "too many requests", "quota", "too many tokens"),
    "overloaded": ("overloaded", "unavailable", "capacity", "high"),
    "timeout": ("time", "deadline"),
    "server": ("internal", "server had"),
}
"""What each match of a reason's pattern has in it, in lower case, if it has no character beyond ASCII.

All patterns cost 250 us on a message of 180 letters, the hints 5 us.
"""

_RATED = _any(
    r"\bRESOURCE_EXHAUSTED\b",
    r"\bquota exceeded for metric\b",
    r"\bplease retry in \d",
    r"\bgemini-api/docs/rate-limits\b",
    r"\berror-code#token-limit\b",
)
"""Says a limit of a rate where the words around it, or the code, would say a spent balance."""

_OVER_QUOTA = _any(r"\bexceeded your current quota\b.{0,60}\bbilling\b")
"""Says a spent balance where nothing structured says that the limit is one of a rate."""


def reason_of_words(message: str, among: Collection[Reason]) -> Reason | None:
    """The first of these reasons, in the order of Reason, that the message's words give."""
    lowered = message.lower() if message.isascii() else None
    affordable = _AFFORDABLE.search(message) if lowered is None or "afford" in lowered else None
    if affordable is not None and "balance" in among:
        return "affordability" if affordable[1].strip("0,.") else "balance"
    for reason, pattern in _PATTERNS.items():
        if reason in among and (lowered is None or _is_hinted(lowered, reason)) and pattern.search(message):
            return reason
    return None


def _is_hinted(lowered: str, reason: Reason) -> bool:
    for hint in _HINTS[reason]:  # noqa: SIM110 - a generator's steps cost as much as the looks
        if hint in lowered:
            return True
    return False


def over_quota(message: str) -> bool:
    """Whether the message is the one of a quota that is spent and must be paid for."""
    return _OVER_QUOTA.search(message) is not None


def rated(message: str) -> bool:
    """Whether the message, which may be one that a proxy passed on, tells a limit of a rate."""
    return _RATED.search(message) is not None
