"""Names of tools on the wire: every provider takes them, and each leads back to its tool."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.context.tools.names import names_by_wire_name, wire_name

TAKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
tool_names = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_.-]{0,127}\Z")


@pytest.mark.parametrize("name", ["search", "brave_web_search", "fetch-url", "_x", "a" * 64])
def test_a_name_that_all_providers_take_stays(name: str) -> None:
    assert wire_name(name) == name


def test_other_names_stay_readable() -> None:
    assert wire_name("server.search") == "server_search_47cc391c"
    assert wire_name("a" * 65).startswith("a" * 54 + "_")


def test_names_that_would_look_alike_stay_apart() -> None:
    names = ["a.b", "a_b", "a-b", "a..b", "a" * 65, "a" * 66, "a.b_"]
    assert len({wire_name(name) for name in names}) == len(names)
    assert names_by_wire_name(names) == {wire_name(name): name for name in names}


def test_of_two_tools_with_one_wire_name_the_first_is_meant() -> None:
    impostor = wire_name("a.b")
    assert names_by_wire_name(["a.b", impostor]) == {impostor: "a.b"}


@given(tool_names | st.text())
def test_every_name_becomes_one_that_all_providers_take_and_no_other_afterwards(name: str) -> None:
    wire = wire_name(name)
    assert TAKEN.fullmatch(wire)
    assert wire_name(wire) == wire
    assert names_by_wire_name([name])[wire] == name
