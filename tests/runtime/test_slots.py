"""A slot is held by one process at a time."""

import os
from pathlib import Path

import pytest

from services.runtime.errors import ConfigurationError
from services.runtime.slots import Slot


def test_a_second_holder_is_refused_and_told_who_has_the_slot(tmp_path: Path) -> None:
    slot = Slot(tmp_path / "slots", "provider-0")
    with pytest.raises(ConfigurationError, match=rf"provider-0.*pid {os.getpid()}\b") as error:
        Slot(tmp_path / "slots", "provider-0")
    assert "ODRADEK_INSTANCE" in error.value.remedy
    Slot(tmp_path / "slots", "provider-1")
    del slot
    Slot(tmp_path / "slots", "provider-0")
