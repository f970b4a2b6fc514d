"""The base of every JSON record type: frozen, versioned, tolerant of fields that newer writers add."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Snowflake = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]
"""A Discord id in decimal, as a string, because JSON readers of other languages lose digits beyond 2**53."""

TURN_LENGTH = 64
TurnId = Annotated[str, StringConstraints(min_length=1, max_length=TURN_LENGTH)]
"""The event that caused a turn: `m` and the snowflake of the message. The same event never starts two turns."""

GenerationNumber = Annotated[int, Field(ge=1)]
"""The n-th provider call of a turn, from 1."""

Sequence = Annotated[int, Field(ge=0)]
"""Position of an output within its generation or turn, from 0; readers take only the last one seen + 1."""


def is_absent(value: object) -> bool:
    """For `Field(exclude_if=is_absent)`: a field that came later is not written where it says nothing.

    So a record that code of before wrote is written again by newer code byte for byte.
    """
    return value is None


class Model(BaseModel):
    """A frozen value inside a record; unknown fields are ignored, so that old readers stand additions."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Record(Model):
    """A JSON value on a topic. The class name is the header `type`, `version` the header `version`.

    A change that an old reader could not stand, or that this reader could not stand in an old record, raises
    `version` and adds an upcaster in `schemas.upcasters`.
    """

    version: ClassVar[int] = 1
