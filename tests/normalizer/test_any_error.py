"""Whatever a provider answers becomes an error that records can hold; nothing raises."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from schemas.chunks import ProviderError
from schemas.raw import DIALECTS, RETRY_HEADERS
from services.normalizer.errors import event_error, http_error
from services.normalizer.errors.codes import CODES
from services.normalizer.errors.families import family_of
from services.normalizer.errors.reasons import MEANINGS

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(sorted(CODES)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "code", "type", "status", "metadata", "raw", "details", "reason", "detail"]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
BODIES = st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode())
HEADERS = st.dictionaries(
    st.sampled_from(RETRY_HEADERS) | st.text(max_size=10), st.text(max_size=20) | st.integers().map(str), max_size=4
)


def sound(error: ProviderError) -> None:
    meanings = {(meaning.type, (meaning.advice,) if meaning.advice else ()) for meaning in MEANINGS.values()}
    assert (error.type, error.classifiers) in meanings
    assert not (error.classifiers and error.retryable)
    assert error.code
    assert error.message
    assert error.retry_after_s is None or 0 <= error.retry_after_s <= 86_400
    ProviderError.model_validate_json(error.model_dump_json())


@given(
    status=st.integers(min_value=-1, max_value=1000),
    headers=HEADERS,
    body=BODIES,
    dialect=st.sampled_from(DIALECTS),
    provider=st.sampled_from(["", "zai", "nvidia", "openrouter", "minimax", "alibaba"]),
)
def test_any_answer_becomes_an_error_that_records_can_hold(
    status: int, headers: dict[str, str], body: bytes, dialect: str, provider: str
) -> None:
    sound(http_error(status, headers, body, NOON, family=family_of(dialect, provider)))


@given(payload=JSON, original=st.binary(max_size=50))
def test_any_event_becomes_an_error_that_records_can_hold(payload: object, original: bytes) -> None:
    sound(event_error(payload, original))
