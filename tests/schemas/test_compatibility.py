"""What counts as a change that readers cannot stand."""

import json
from typing import Annotated, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from schemas.compatibility import breaking_changes, gaps


def schema(**fields: object) -> dict[str, object]:
    """The schema of a model with these fields; a tuple is (type, default)."""
    wanted = {name: value if isinstance(value, tuple) else (value, ...) for name, value in fields.items()}
    return create_model("Example", **wanted).model_json_schema()


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class LoudDog(BaseModel):
    kind: Literal["dog"]
    name: str
    voice: str


class Tree(BaseModel):
    label: str
    children: list["Tree"] = []


class NumberedTree(BaseModel):
    label: int
    children: list["NumberedTree"] = []


class TreeRecord(BaseModel):
    root: Tree


class NumberedTreeRecord(BaseModel):
    root: NumberedTree


Pet = Annotated[Dog | Cat, Field(discriminator="kind")]
LoudPet = Annotated[LoudDog | Cat, Field(discriminator="kind")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(schema(a=str), schema(a=str), id="nothing"),
        pytest.param(schema(a=str), schema(a=str, b=(int, 0)), id="an optional field is added"),
        pytest.param(schema(a=Annotated[int, Field(gt=0)]), schema(a=Annotated[int, Field(ge=1)]), id="the same bound"),
        pytest.param(TreeRecord.model_json_schema(), TreeRecord.model_json_schema(), id="a recursive type"),
        pytest.param(
            schema(a=Annotated[str, Field(description="old words")]),
            schema(a=Annotated[str, Field(description="new words")]),
            id="a description",
        ),
    ],
)
def test_a_change_that_readers_stand_is_none(old: dict[str, object], new: dict[str, object]) -> None:
    assert breaking_changes(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        pytest.param(schema(a=str, b=str), schema(a=str), "b", id="a required field is removed"),
        pytest.param(schema(a=str, b=(str, "")), schema(a=str), "b", id="an optional field is removed"),
        pytest.param(schema(a=str), schema(a=str, b=int), "b", id="a required field is added"),
        pytest.param(schema(a=(str, "")), schema(a=str), "a", id="a field becomes required"),
        pytest.param(schema(a=str), schema(a=(str, "")), "a", id="a field becomes optional"),
        pytest.param(schema(a=str), schema(a=int), "a", id="another type"),
        pytest.param(schema(a=int), schema(a=float), "a", id="a wider type, which old readers refuse"),
        pytest.param(schema(a=str | None), schema(a=str), "a", id="null is no longer allowed"),
        pytest.param(schema(a=str), schema(a=str | None), "a", id="null, which old readers refuse"),
        pytest.param(schema(a=Literal["x", "y"]), schema(a=Literal["x"]), "a", id="a value is removed"),
        pytest.param(schema(a=Literal["x"]), schema(a=Literal["x", "y"]), "a", id="a value that old readers refuse"),
        pytest.param(schema(a=str), schema(a=Literal["x", "y"]), "a", id="text becomes a choice"),
        pytest.param(schema(a=str), schema(a=Annotated[str, Field(pattern="^x$")]), "a", id="a pattern is added"),
        pytest.param(schema(a=str), schema(a=Annotated[str, Field(max_length=5)]), "a", id="a length is limited"),
        pytest.param(
            schema(a=Annotated[str, Field(max_length=5)]),
            schema(a=Annotated[str, Field(max_length=9)]),
            "a",
            id="a length that old readers refuse",
        ),
        pytest.param(
            schema(a=Annotated[int, Field(ge=0)]), schema(a=Annotated[int, Field(gt=0)]), "a", id="a higher minimum"
        ),
        pytest.param(schema(a=list[int]), schema(a=list[str]), "a[]", id="other items"),
        pytest.param(schema(a=dict[str, int]), schema(a=dict[str, str]), "a.*", id="other values of a mapping"),
        pytest.param(schema(a=Pet), schema(a=LoudPet), "a.voice", id="a member of a union needs more"),
        pytest.param(schema(a=Pet), schema(a=Dog), "a.kind", id="a member of a union is removed"),
        pytest.param(schema(a=list[Pet]), schema(a=list[LoudPet]), "a[].voice", id="a union in a list"),
        pytest.param(
            TreeRecord.model_json_schema(),
            NumberedTreeRecord.model_json_schema(),
            "root.label",
            id="in a recursive type",
        ),
    ],
)
def test_a_change_that_readers_cannot_stand_is_named_with_its_place(
    old: dict[str, object], new: dict[str, object], place: str
) -> None:
    found = breaking_changes(old, new)

    assert [change for change in found if change.startswith(f"{place}: ")], found


def test_another_discriminator_is_a_breaking_change() -> None:
    class Bird(BaseModel):
        sort: Literal["bird"]

    class Fish(BaseModel):
        sort: Literal["fish"]

    other = schema(a=Annotated[Bird | Fish, Field(discriminator="sort")])

    assert breaking_changes(schema(a=Pet), other) != []


def test_a_keyword_that_is_not_understood_counts_as_a_gap_where_it_differs() -> None:
    writer: dict[str, object] = {"type": "integer"}

    assert gaps(writer=writer, reader={"type": "integer", "multipleOf": 2}) == ["the record: multipleOf differs"]
    assert gaps(writer={"type": "integer", "multipleOf": 2}, reader={"type": "integer", "multipleOf": 2}) == []


LEAVES = st.one_of(
    st.just({"type": "null"}),
    st.builds(lambda least: {"type": "integer", "minimum": least}, st.integers(-2, 2)),
    st.builds(lambda most: {"type": "number", "exclusiveMaximum": most}, st.integers(-2, 2)),
    st.builds(lambda least, span: {"type": "string", "minLength": least, "maxLength": least + span},
              st.integers(0, 2), st.integers(0, 2)),
    st.builds(lambda values: {"enum": values}, st.lists(st.sampled_from(["a", "b", "", 1, None]), min_size=1, max_size=3)),
)  # fmt: skip


def _object(fields: dict[str, dict[str, object]], required: frozenset[str]) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": sorted(required & fields.keys())}


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(
            _object, st.dictionaries(st.sampled_from("xy"), inner, max_size=2), st.frozensets(st.sampled_from("xy"))
        ),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from([None, -3, -1, 0, 1, 3, 0.5, "", "a", "b", "aaaa"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=4,
)


PAIRS = st.one_of(
    st.tuples(LEAVES, LEAVES),
    st.tuples(SCHEMAS, SCHEMAS),
    st.builds(lambda one, other: (one, {"anyOf": [other, one]}), SCHEMAS, SCHEMAS),
    st.builds(
        lambda one, other, first, second: (_object(one, first), _object({**one, **other}, second)),
        st.dictionaries(st.sampled_from("xy"), LEAVES, max_size=2),
        st.dictionaries(st.sampled_from("xy"), LEAVES, max_size=1),
        st.frozensets(st.sampled_from("xy")),
        st.frozensets(st.sampled_from("xy")),
    ),
)


@given(pair=PAIRS, value=VALUES)
def test_without_a_gap_the_reader_accepts_whatever_the_writer_may_write(
    pair: tuple[dict[str, object], dict[str, object]], value: object
) -> None:
    writer, reader = pair
    written = jsonschema.Draft202012Validator(writer).is_valid(value) and _declared(value, writer)
    if written and not gaps(writer=writer, reader=reader):
        assert jsonschema.Draft202012Validator(reader).is_valid(value), json.dumps([writer, reader])


def _declared(value: object, schema: dict[str, object]) -> bool:
    """Whether the value has no field that the schema does not declare; writers write none."""
    closed = json.loads(json.dumps(schema), object_hook=lambda part: {**part, "additionalProperties": False}
                        if part.get("type") == "object" and "properties" in part else part)  # fmt: skip
    return jsonschema.Draft202012Validator(closed).is_valid(value)


@given(SCHEMAS)
def test_a_schema_has_no_gap_to_itself(same: dict[str, object]) -> None:
    assert gaps(writer=same, reader=same) == []
