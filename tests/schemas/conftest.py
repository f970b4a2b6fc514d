"""Any instance of any record type, built from the models' own declarations."""

import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue, StringConstraints
from pydantic.fields import FieldInfo

from schemas.base import Record
from schemas.values import Value

Instances = Callable[[type[Record]], st.SearchStrategy[Record]]

# Beyond 53 bits other languages' readers would round.
INTEGERS = st.integers(-(2**53), 2**53)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def values(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Values of an annotated type, within its constraints."""
    origin = get_origin(annotation)
    if annotation is JsonValue:
        return JSON
    if origin is Annotated:
        inner, *own = get_args(annotation)
        rules = [rule for item in own for rule in (item.metadata if isinstance(item, FieldInfo) else [item])]
        return values(inner, (*metadata, *rules))
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values(part, metadata) for part in get_args(annotation)])
    if origin is Literal:
        return st.sampled_from(get_args(annotation))
    if origin is tuple:
        return st.lists(values(get_args(annotation)[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(*(values(part) for part in get_args(annotation)), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = {name: values(info.annotation, tuple(info.metadata)) for name, info in annotation.model_fields.items()}
        return st.builds(annotation, **fields)
    if isinstance(annotation, type) and issubclass(annotation, Value):
        hints = typing.get_type_hints(annotation, include_extras=True)
        return st.builds(annotation, **{name: values(hint) for name, hint in hints.items()})
    plain = {str: _texts, int: _integers, bool: lambda _: st.booleans(), float: lambda _: FLOATS}
    return st.none() if annotation is type(None) else plain[annotation](metadata)


def _texts(metadata: tuple[Any, ...]) -> st.SearchStrategy[str]:
    least, most = 0, 20
    for rule in metadata:
        if isinstance(rule, StringConstraints):
            if rule.pattern is not None:
                return st.from_regex(str(rule.pattern), fullmatch=True, alphabet=st.characters(codec="ascii"))
            least, most = rule.min_length or least, min(most, rule.max_length or most)
        if isinstance(rule, MinLen):
            least = rule.min_length
        if isinstance(rule, MaxLen):
            most = min(most, rule.max_length)
    return st.text(min_size=least, max_size=most)


def _integers(metadata: tuple[Any, ...]) -> st.SearchStrategy[int]:
    least = -(2**53)
    for rule in metadata:
        if isinstance(rule, Ge):
            least = typing.cast(int, rule.ge)
        if isinstance(rule, Gt):
            least = typing.cast(int, rule.gt) + 1
    return st.integers(least, 2**53)


@pytest.fixture(scope="session")
def instances() -> Instances:
    return values
