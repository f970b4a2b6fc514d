"""Whatever stands in the database, a turn gets options and stop strings that a request can be made with."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.context import GenerationOptions
from services.catalog.stop_strings import usable
from services.catalog.usable import usable_options

json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
options = st.dictionaries(st.sampled_from(sorted(GenerationOptions.model_fields)) | st.text(max_size=5), json)


@given(held=json | options)
def test_options_are_kept_or_named(held: Any) -> None:
    found, left_out = usable_options(held)
    assert GenerationOptions.model_validate(found.model_dump()) == found
    if left_out != ("options",):
        assert found.model_fields_set | {*left_out} == held.keys() & GenerationOptions.model_fields.keys()
        assert not found.model_fields_set & {*left_out}


@given(held=json | st.lists(st.text(max_size=5) | json, max_size=50))
def test_stop_strings_are_those_that_options_take(held: Any) -> None:
    found = usable(held)
    assert GenerationOptions(stop_strings=tuple(found)).stop_strings == tuple(found)
    assert all(text in held for text in found)
