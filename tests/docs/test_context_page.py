"""The page about contexts against the tests that it names for each sentence."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/context.md").read_text(encoding="utf-8")


def rows(title: str) -> list[list[str]]:
    """The cells of a table by the heading above it."""
    section = PAGE.split(f"### {title}\n")[1].split("\n### ")[0]
    lines = [line for line in section.splitlines() if re.match(r"\| \d", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def functions(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
    }


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(tests/\S+\.py)::(\w+)`", PAGE))
    assert len(named) > 50
    missing = [(file, name) for file, name in named if not (ROOT / file).exists() or name not in functions(ROOT / file)]
    assert missing == []


def test_each_sentence_has_its_number_and_names_a_test() -> None:
    for title, count in (("Context assembly", 27), ("Strict chat-completion compatibility", 28)):
        table = rows(title)
        assert [row[0] for row in table] == [str(number) for number in range(1, count + 1)]
        for number, sentence, tests in table:
            assert sentence.endswith("."), number
            assert re.fullmatch(r"`tests/\S+::test_\w+`(, `tests/\S+::test_\w+`)*", tests), number
