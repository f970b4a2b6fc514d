"""The page about new providers: its example dialect runs as the page says, and its figures and lists are true."""

import doctest
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from services.cli import normalize_report
from services.cli.main import app
from services.normalizer.dialects import DIALECTS, StreamDialect, novelai
from services.normalizer.endings import ConnectionReset, EndOfFile, Stopped
from services.normalizer.errors import families
from services.normalizer.reply import Reply
from services.normalizer.sse_event import SseEvent
from services.normalizer.stream import StreamNormalizer

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "docs/examples"
PAGE = (ROOT / "docs/new-provider.md").read_text(encoding="utf-8")
RAW = (EXAMPLES / "wordline.sse").read_bytes()
ENDS = (EndOfFile(), ConnectionReset(), Stopped())
NAME: Any = "wordline"


@pytest.fixture(autouse=True, scope="module")
def rows(load_example: Callable[[str], ModuleType]) -> Any:
    """The rows that the page has one write: the dialect's, its errors' and its provider's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cast(Any, DIALECTS), NAME, load_example("wordline").Wordline)
        patch.setitem(cast(Any, families._BY_DIALECT), NAME, families.OPENAI)
        patch.setitem(normalize_report.PROVIDERS, NAME, NAME)
        patch.setattr(normalize_report, "Dialect", Literal["wordline"])
        yield


def reply(pieces: list[bytes], ending: Any = EndOfFile()) -> Reply:  # noqa: B008
    stream, reply = StreamNormalizer(NAME, "asked-for"), Reply()
    for piece in pieces:
        reply.take(stream.feed(piece))
    reply.take(stream.flush(ending))
    assert reply.metadata is not None
    return reply


def told(reply: Reply) -> dict[str, Any]:
    """All but the number of batches, which alone depends on the cuts."""
    return {
        "text": reply.text,
        "thinking": reply.thinking,
        "calls": reply.calls,
        "end": (reply.metadata, reply.error, reply.usage),
    }


def test_the_example_reads_its_stream() -> None:
    read = reply([RAW])
    assert (read.text, read.thinking, read.error) == ("I look it up.\n", "Somebody asks for the weather. ", None)
    assert [(call.name, call.args) for call in read.calls] == [("weather", {"city": "Prague"})]
    assert read.metadata is not None
    assert (read.metadata.model, read.metadata.finish_reason) == ("wordline-1", "tool_calls")
    assert read.usage is not None
    assert (read.usage.input_tokens, read.usage.output_tokens) == (31, 12)


def test_the_example_reads_the_same_however_its_stream_is_cut() -> None:
    whole = told(reply([RAW]))
    assert all(told(reply([RAW[:at], RAW[at:]])) == whole for at in range(len(RAW)))
    assert told(reply([RAW[at : at + 1] for at in range(len(RAW))])) == whole


@pytest.mark.parametrize("ending", ENDS)
def test_a_stream_of_the_example_that_breaks_off_anywhere_is_an_error_unless_it_was_stopped_or_finished(
    ending: Any,
) -> None:
    finish = RAW.index(b'end "tools"') + len(b'end "tools"')
    codes = {EndOfFile: {"stream_incomplete", "not_a_stream"}, ConnectionReset: {"connection_reset"}, Stopped: {None}}
    for size in range(len(RAW)):
        error = reply([RAW[:size]], ending).error
        expected = {None} if size >= finish else codes[type(ending)]
        assert (error and error.code) in expected, RAW[:size]


LINES = RAW.split(b"\n\n")
VALUES = [
    b"",
    b'"x"',
    b"{}",
    b"[1]",
    b"7",
    b"null",
    b'"\\ud800"',
    b'{"slot":-1}',
    b'{"slot":1e9,"name":7}',
    b"[" * 9000,
]
WORDS = [b"hello", b"say", b"think", b"call", b"used", b"end", b"oops", b"bye", b"what", b"\xff", b""]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(VALUES) | st.binary(max_size=8)), max_size=6))
def test_no_line_makes_the_example_raise_and_each_stream_has_one_end(lines: list[tuple[bytes, bytes]]) -> None:
    raw = b"".join(b"data: " + word + b" " + value + b"\n\n" for word, value in lines)
    assert told(reply([raw])) == told(reply([raw[at : at + 3] for at in range(0, len(raw), 3)]))


def test_an_error_in_the_examples_stream_has_the_reason_that_its_code_says() -> None:
    error = reply([b'data: oops {"code": "overloaded", "message": "busy"}\n\n']).error
    assert error is not None
    assert (error.type, error.code, error.retryable) == ("provider_overloaded", "overloaded", True)


def test_the_example_is_a_dialect_as_the_protocol_says(load_example: Callable[[str], ModuleType]) -> None:
    dialect: StreamDialect = load_example("wordline").Wordline(families.OPENAI)
    out: list[Any] = []
    dialect.read(SseEvent(b"", b'end "full"'), out)
    assert (dialect.finished, [type(event).__name__ for event in out]) == (True, ["Finish"])


def test_the_workbench_shows_the_examples_events_as_the_page_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for options in ((), ("--split", "1")):
        command = ["normalize", "--dialect", "wordline", "--events", *options, "docs/examples/wordline.sse"]
        lines = CliRunner().invoke(app, command).stdout.splitlines()
        shown = [{key: value for key, value in json.loads(line).items() if key != "file"} for line in lines]
        assert [json.dumps(event) for event in shown] == block("json").splitlines()


def test_the_page_shows_the_examples_as_they_are() -> None:
    for name in ("wordline.py", "normalize_alone.py"):
        assert f"```python\n{(EXAMPLES / name).read_text(encoding='utf-8')}```" in PAGE
    assert f"```text\n{RAW.decode()}```" in PAGE


def test_the_normalizer_runs_alone_as_the_page_shows() -> None:
    raw = "tests/data/normalizer/openai-chat/mistral__incremental-tool-call.sse"
    command = [sys.executable, "docs/examples/normalize_alone.py", raw]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"python docs/examples/normalize_alone.py {raw}\n{done.stdout}```" in PAGE


def test_what_the_page_types_at_the_prompt_gives_what_it_shows() -> None:
    failures: list[str] = []
    blocks = re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/new-provider.md", None, 0)
    results = doctest.DocTestRunner().run(test, out=failures.append)
    assert results.attempted > 5
    assert failures == []


def test_the_page_tells_the_size_of_the_smallest_dialect() -> None:
    lines = Path(novelai.__file__).read_text(encoding="utf-8").splitlines()
    assert re.findall(r"novelai\.py`\]\([^)]+\) has (\d+) lines", PAGE) == [str(len(lines))]


def test_every_file_that_the_page_names_exists() -> None:
    named = re.findall(r"`((?:services|schemas|tests|docs)/[\w./-]+)`", PAGE)
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_page_lists_every_canonical_event_and_every_dialect() -> None:
    from services.normalizer import events

    kinds = [kind.__name__ for kind in itertools.chain(events.Event.__args__)]
    assert [kind for kind in kinds if f"`{kind}`" not in PAGE] == []
    assert [name for name in DIALECTS if f"`{name}`" not in PAGE and name != NAME] == []


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert len(found) == 1
    return found[0]
