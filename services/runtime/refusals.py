"""The record that ends a generation because a record that it needs could not be handled.

Its id names the record at fault, so two bad records of one generation make two events, and the fold takes the first.
"""

from schemas.attempts import AttemptFacts, Uncalled
from schemas.base import TURN_LENGTH
from schemas.chunks import ProviderError
from schemas.headers import Facts
from schemas.inbox import GenerationFailed
from services.runtime.log import LogRecord, NewRecord
from services.runtime.outputs import output


def generation_failed(
    service: str,
    origin: LogRecord,
    facts: Facts,
    error: ProviderError,
    attempt: AttemptFacts | None = None,
    uncalled: Uncalled | None = None,
) -> list[NewRecord]:
    """The failed generation of the record `origin`; nothing where its facts name none that there can be.

    `attempt`: of a call that its holder could not make, and of no other. `uncalled`: whom it was to ask.
    """
    if facts.turn is None or not 0 < len(facts.turn) <= TURN_LENGTH or not facts.generation:
        return []
    return [
        output(
            "inbox",
            GenerationFailed(
                turn=facts.turn, generation=facts.generation, error=error, attempt=attempt, uncalled=uncalled
            ),
            channel=facts.channel,
            event_id=f"failed:{facts.turn}:{facts.generation}:{service}:{origin.partition}:{origin.offset}",
            turn=facts.turn,
            generation=facts.generation,
            cause=facts.cause,
        )
    ]


def refused(service: str, origin: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
    """The failed generation of a record that is dead-lettered; see `services.runtime.handler.Handler.refuse`."""
    if facts is None:
        return []
    error = ProviderError(type="api_error", code=reason, message=message, retryable=False)
    return generation_failed(service, origin, facts, error)
