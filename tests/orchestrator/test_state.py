"""The state's parts as values: changed by copies, and never by a name that is no field."""

import pytest

from services.orchestrator.state import Generation


def test_a_copy_with_other_fields_is_what_pydantic_makes_of_it() -> None:
    before = Generation(number=1, armed_by=2, due_ms=3)
    after = before.but(next_batch=4, instance="p-0")
    assert after == before.model_copy(update={"next_batch": 4, "instance": "p-0"})
    assert (
        after.model_dump_json()
        == Generation(number=1, armed_by=2, due_ms=3, instance="p-0", next_batch=4).model_dump_json()
    )
    assert (before.next_batch, before.instance) == (0, None)
    assert hash(after) == hash(after.but())


def test_a_copy_knows_the_fields_names() -> None:
    with pytest.raises(KeyError, match="sequence"):
        Generation(number=1, armed_by=2, due_ms=3).but(sequence=4)
