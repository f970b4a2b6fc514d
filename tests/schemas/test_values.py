"""Values that are structs: a record reads, writes and describes them as it does models of the same fields."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from schemas.base import Model
from schemas.values import Value


class Leaf(Value, frozen=True, kw_only=True):
    """A leaf."""

    kind: Literal["green", "dry"]


class Twig(Value, frozen=True, kw_only=True):
    """A twig of some leaves."""

    type: Literal["twig"] = "twig"
    leaves: tuple[Leaf, ...] = ()
    length: float | None = None
    name: str


class Root(Value, frozen=True, kw_only=True):
    """A root."""

    type: Literal["root"] = "root"
    depth: Annotated[int, Field(ge=0)]


class Plant(Model):
    """A plant."""

    parts: tuple[Annotated[Twig | Root, Field(discriminator="type")], ...]


def as_models() -> type[Model]:
    """The same plant, of models all through; classes of the same names."""

    class Leaf(Model):
        """A leaf."""

        kind: Literal["green", "dry"]

    class Twig(Model):
        """A twig of some leaves."""

        type: Literal["twig"] = "twig"
        leaves: tuple[Leaf, ...] = ()
        length: float | None = None
        name: str

    class Root(Model):
        """A root."""

        type: Literal["root"] = "root"
        depth: Annotated[int, Field(ge=0)]

    class Plant(Model):
        """A plant."""

        parts: tuple[Annotated[Twig | Root, Field(discriminator="type")], ...]

    return Plant


PLANT = Plant(parts=(Twig(name="\u00e9", leaves=(Leaf(kind="dry"),), length=2.0), Root(depth=3)))


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_the_json_schema_is_that_of_models(mode: Literal["validation", "serialization"]) -> None:
    assert Plant.model_json_schema(mode=mode) == as_models().model_json_schema(mode=mode)


def test_the_json_is_that_of_models_and_reads_back_equal() -> None:
    json = PLANT.model_dump_json()
    assert as_models().model_validate_json(json).model_dump_json() == json
    assert Plant.model_validate_json(json) == PLANT
    assert Plant.model_validate(PLANT.model_dump()) == PLANT
    assert PLANT.model_dump() == as_models().model_validate_json(json).model_dump()


def test_a_value_that_our_own_code_made_stands_in_its_record_as_it_is() -> None:
    root = Root(depth=1)
    assert Plant(parts=(root,)).parts[0] is root


def test_fields_of_a_newer_writer_are_ignored() -> None:
    newer = b'{"parts":[{"type":"root","depth":1,"colour":"brown"}]}'
    assert Plant.model_validate_json(newer) == Plant(parts=(Root(depth=1),))


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"type": "root"}, ("root", "depth")),
        ({"type": "root", "depth": -1}, ("root", "depth")),
        ({"type": "twig", "name": "a", "leaves": [{"kind": "blue"}]}, ("twig", "leaves", 0, "kind")),
        ({"type": "moss"}, ()),
    ],
)
def test_what_a_record_brings_is_checked(part: object, place: tuple[str | int, ...]) -> None:
    with pytest.raises(ValidationError) as raised:
        Plant.model_validate({"parts": [part]})
    assert raised.value.errors()[0]["loc"] == ("parts", 0, *place)


def test_a_value_is_frozen_and_reads_alone() -> None:
    root = TypeAdapter(Root).validate_json('{"depth":2}')
    with pytest.raises(AttributeError):
        root.depth = 3  # pyright: ignore[reportAttributeAccessIssue]
    assert root == Root(depth=2)
