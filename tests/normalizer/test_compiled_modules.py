"""Which modules `make compile` may make machine code of."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOOK = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"][
    "mypyc"
]
COMPILED = {path for pattern in HOOK["include"] for path in ROOT.glob(pattern)} - {
    ROOT / path for path in HOOK["exclude"]
}


def test_every_pattern_of_compiled_modules_finds_some() -> None:
    assert [pattern for pattern in HOOK["include"] if not list(ROOT.glob(pattern))] == []
    assert [path for path in HOOK["exclude"] if not (ROOT / path).exists()] == []


def test_no_compiled_module_defines_a_struct() -> None:
    """Compiled, its annotations would be poorer, and it would read every payload as one that does not fit."""
    assert [path.name for path in COMPILED if "(msgspec.Struct" in path.read_text()] == []
