"""The decision on what follows an attempt that brought no reply: nothing, or which attempt, with what given up, and when.

In this order: what the error names is given up at once; after a refusal that names nothing the ladder; a short wait where
the provider asks for one; another key for the model; another model. Once anything of a reply has come the request itself
was fine, so that only another key or model goes on with it.
"""

import math
from dataclasses import dataclass, field

from schemas.attempts import AttemptFacts, Rung, Step
from schemas.chunks import ProviderError
from services.orchestrator.attempts.degrading import degrades, status_of
from services.orchestrator.attempts.ladder import body_of, next_rung, plus
from services.orchestrator.attempts.naming import named_keys, refuses_images
from services.orchestrator.attempts.rules import AttemptRules
from services.orchestrator.state import Attempts

_NO_MATTER_OF_KEYS = frozenset({"connect_failed"})


@dataclass(frozen=True, slots=True)
class Next:
    """The attempt that follows, after `pause_ms`.

    `base`: what errors of this request have named. `named`: this one did. `waited`: the provider asked for the pause.
    """

    step: Step
    rung: Rung = field(default_factory=Rung)
    base: Rung = field(default_factory=Rung)
    pause_ms: int = 0
    named: bool = False
    waited: bool = False


def after_error(
    attempts: Attempts,
    error: ProviderError,
    facts: AttemptFacts | None,
    http_status: int | None,
    rules: AttemptRules,
) -> Next:
    """What follows a failed call; `facts` are None where no call was made with any."""
    if not attempts.committed and facts is not None:
        status = status_of(error, http_status)
        less = _less_of_it(attempts, error, status, facts, rules)
        if less is not None:
            return less
        if degrades(error, status, facts):
            rung = next_rung(facts, attempts.base, attempts.tried)
            if rung is not None:
                return Next("same", rung, attempts.base)
        wait_ms = _wait_ms(error)
        if wait_ms is not None and wait_ms <= rules.longest_wait_ms and not attempts.waited:
            return _again(attempts, pause_ms=wait_ms, waited=True)
    return Next(_other(attempts, error, facts, rules))


def after_empty(attempts: Attempts, rules: AttemptRules) -> Next | None:
    """What follows a reply with nothing to see in it."""
    empties = sum(earlier.outcome == "empty" for earlier in attempts.earlier)
    return _again(attempts, pause_ms=rules.empty_pause_ms) if empties < rules.most_empty else None


def after_lost(attempts: Attempts, most: int) -> Next | None:
    """What follows a stream that was declared lost; `most` of them are gone on with in a turn."""
    lost = sum(earlier.outcome == "lost" for earlier in attempts.earlier)
    return _again(attempts) if lost < most else None


def _again(attempts: Attempts, *, pause_ms: int = 0, waited: bool = False) -> Next:
    return Next("same", attempts.rung, attempts.base, pause_ms=pause_ms, waited=waited)


def _less_of_it(
    attempts: Attempts, error: ProviderError, status: int | None, facts: AttemptFacts, rules: AttemptRules
) -> Next | None:
    if attempts.named >= rules.most_named:
        return None
    keys = named_keys(error, status, facts)
    images = facts.images and refuses_images(error)
    rung = plus(attempts.rung, facts, *keys, images=images)
    sent = {body_of(tried, facts) for tried in attempts.tried}
    if body_of(rung, facts) in sent:
        return None
    return Next("same", rung, plus(attempts.base, facts, *keys, images=images), named=True)


def _wait_ms(error: ProviderError) -> int | None:
    wait_s = error.retry_after_s
    if not error.retryable or wait_s is None or not math.isfinite(wait_s) or wait_s < 0:
        return None
    return math.ceil(wait_s * 1000)


def _other(attempts: Attempts, error: ProviderError, facts: AttemptFacts | None, rules: AttemptRules) -> Step:
    """Another key, where the error may be one of the key's; what any key would meet calls for another model."""
    of_any_key = (
        error.type in ("timeout", "content_blocked")
        or error.code in _NO_MATTER_OF_KEYS
        or "context_length" in error.classifiers
    )
    if of_any_key or facts is None:
        return "model" if of_any_key else "key"
    now = facts.chosen
    tried = {
        earlier.chosen.credential
        for earlier in attempts.earlier
        if earlier.chosen is not None
        and (earlier.chosen.provider, earlier.chosen.model, earlier.chosen.source)
        == (now.provider, now.model, now.source)
    } | {now.credential}
    return "key" if len(tried) < rules.most_keys else "model"
