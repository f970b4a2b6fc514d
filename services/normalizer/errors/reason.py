"""The reason of an error: by its codes, else by its status, else by its words; words also say what a vague code hides."""

from services.normalizer.errors.body import Said
from services.normalizer.errors.codes import FAMILY_WORDS
from services.normalizer.errors.families import Family
from services.normalizer.errors.reasons import PASSING, RANK, Reason
from services.normalizer.errors.words import over_quota, rated, reason_of_words

_CREDIT = frozenset[Reason](("balance", "affordability"))
_ANY = frozenset[Reason](RANK)
_OF_A_REQUEST = _CREDIT | frozenset[Reason](("context", "model", "plan", "content", "key"))
_OF_AN_ACCESS = _CREDIT | frozenset[Reason](("context", "model", "plan", "content", "rate_limit"))
_OF_A_LIMIT = _CREDIT | frozenset[Reason](("plan",))
_OF_A_FAILURE = _CREDIT | frozenset[Reason](("context", "model", "plan"))

_OPEN = PASSING | {"key"}
"""Codes beside which the status and the words count as well."""

_BEYOND_RETRY = frozenset({400, 401, 402, 404, 413, 422})
"""Statuses of a request that stays refused however long one waits, whatever the code beside them says."""


def reason_of(words: Said, status: int | None, message: str, family: Family, *, page: bool = False) -> Reason:
    """`status`: the answer's, or the one that an error in a stream names. `page`: the body is HTML, from an edge.

    Providers tell a spent balance as a 400 (Anthropic), a 403 (xAI), a 429 (OpenAI, Z.ai) and even as rate_limit_error,
    so its words are looked for wherever the code has not said a reason of the request itself.
    """
    coded = _by_codes(words, family)
    if coded == "balance" and rated(message):
        coded = "rate_limit"
    if coded is not None and coded not in _OPEN:
        return _credit(message, coded)
    if status is not None and status >= 300:
        return _by_status(status, coded, message, family, page=page)
    if coded is not None:
        return reason_of_words(message, _OF_AN_ACCESS if coded == "key" else _OF_A_LIMIT) or coded
    implied = next((FAMILY_WORDS[code] for code in map(str.lower, words.codes) if code in FAMILY_WORDS), None)
    told = reason_of_words(message, _ANY)
    if implied is None:
        return told or "request"
    if told in _OF_A_REQUEST or (told is not None and implied >= 500):
        return told
    return family.by_status(implied)


def _by_codes(words: Said, family: Family) -> Reason | None:
    found: list[Reason] = [family.codes[code] for code in map(str.lower, words.codes) if code in family.codes]
    if words.flagged:
        found.append("content")
    if not found:
        return None
    first: Reason = min(found, key=RANK.__getitem__)
    return first


def _by_status(status: int, coded: Reason | None, message: str, family: Family, *, page: bool) -> Reason:
    if status == 429:
        told = reason_of_words(message, _OF_A_LIMIT)
        if told is None and coded is None and over_quota(message) and not rated(message):
            return "balance"
        return told or coded or "rate_limit"
    if status in (401, 403) or coded == "key":
        told = reason_of_words(message, _OF_AN_ACCESS)
        return told or coded or ("request" if page and status != 401 else family.by_status(status))
    if status == 402:
        return _credit(message, "balance")
    by_status = family.by_status(status)
    if status >= 500:
        return reason_of_words(message, _OF_A_FAILURE) or coded or by_status
    if coded is not None and status not in _BEYOND_RETRY:
        return reason_of_words(message, _OF_A_REQUEST) or coded
    if by_status != "request" and status not in _BEYOND_RETRY:
        return by_status
    return reason_of_words(message, _OF_A_REQUEST) or by_status


def _credit(message: str, reason: Reason) -> Reason:
    """Of a refusal for want of credit, whether a smaller request would pass."""
    if reason != "balance":
        return reason
    return reason_of_words(message, _CREDIT) or reason
