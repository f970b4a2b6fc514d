"""The page of guarantees against the tests and invariants that it cites as evidence."""

import ast
import re
from pathlib import Path

from services.sandbox.checking.checks import INVARIANTS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")


def functions(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
    }


def test_every_test_that_is_cited_exists() -> None:
    cited = re.findall(r"`(tests/\S+\.py)::(\w+)`", PAGE)
    assert cited
    missing = [(file, name) for file, name in cited if name not in functions(ROOT / file)]
    assert missing == []


def test_every_invariant_is_cited_and_exists() -> None:
    cited = {
        int(number) for line in re.findall(r"invariants? ([\d, and]+)", PAGE) for number in re.findall(r"\d+", line)
    }
    assert cited == INVARIANTS.keys()


def test_every_promise_says_how_it_is_kept_what_shows_it_and_where_it_ends() -> None:
    promises = re.split(r"^## \d+\. ", PAGE, flags=re.MULTILINE)[1:]
    assert promises
    for promise in promises:
        for part in ("\n> ", "**Kept by:**", "**Shown by:**", "**Not promised:**"):
            assert part in promise, f"{promise.splitlines()[0]} lacks {part!r}"
