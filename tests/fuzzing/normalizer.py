"""A coverage-guided fuzzer for the normalizer: any bytes, cut anyhow, with any guards, give one equal reply.

    pip install -e '.[fuzz]'
    python tests/fuzzing/normalizer.py -max_total_time=600 -rss_limit_mb=2048

It begins with the recorded streams of tests/data, whole and as single events. Arguments are libFuzzer's. What it finds is
written to a file `crash-...`; give that file as the argument to see it again, and make a test of it.
"""

import itertools
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import get_args

import atheris
import msgspec
from pydantic import TypeAdapter

with atheris.instrument_imports(include=["services.normalizer", "schemas.chunks"]):
    from schemas.chunks import Dialect, ProcessedChunk
    from schemas.prompts import KnownTool
    from services.normalizer.endings import ConnectionReset, Ending, EndOfFile, HttpError, Lost, Stopped
    from services.normalizer.reply import Reply
    from services.normalizer.stream import StreamNormalizer

CHUNK: TypeAdapter[ProcessedChunk] = TypeAdapter(ProcessedChunk)
DATA = Path(__file__).parent.parent / "data" / "normalizer"
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
PROVIDERS = ("", "openrouter", "custom", "deepseek", "zai", "nvidia", "google", "anthropic")
TOOLS = (KnownTool(name="get_weather"), KnownTool(name="stop", needs_arguments=False))
HEAD = 4
"""The first bytes choose dialect, provider and tools, ending, and the cuts."""


def ending_of(number: int) -> Ending:
    endings: tuple[Ending, ...] = (EndOfFile(), ConnectionReset(), Lost(), Stopped(), HttpError(200))
    return endings[number % len(endings)]


def replied(choice: bytes, pieces: list[bytes]) -> dict[str, object]:
    """The reply as one value that any JSON reader can hold."""
    stream = StreamNormalizer(
        DIALECTS[choice[0] % len(DIALECTS)],
        "m",
        provider=PROVIDERS[choice[1] % len(PROVIDERS)],
        known_tools=TOOLS if choice[1] & 0x80 else (),
    )
    reply = Reply()
    thoughts: list[list[str]] = []
    terminal = 0
    for chunks in (*(stream.feed(piece) for piece in pieces), stream.flush(ending_of(choice[2]))):
        assert not (chunks and terminal), "a chunk after the terminal one"
        terminal += sum(chunk.type in ("done", "error") for chunk in chunks)
        for chunk in chunks:
            CHUNK.dump_json(chunk)
            for entry in chunk.thoughts:
                if thoughts and thoughts[-1][0] == entry.kind:
                    thoughts[-1][1] += entry.content
                else:
                    thoughts.append([entry.kind, entry.content])
        reply.take(chunks)
    assert terminal == 1
    assert stream.feed(b"data: {}\n\n") == stream.flush(EndOfFile()) == []
    return {
        "text": reply.text,
        "thoughts": thoughts,
        "calls": [msgspec.json.encode(call).decode() for call in reply.calls],
        "metadata": reply.metadata and msgspec.json.encode(reply.metadata).decode(),
        "error": reply.error and reply.error.model_dump_json(),
        "usage": reply.usage and msgspec.json.encode(reply.usage).decode(),
        "provider": reply.serving_provider,
    }


def one_input(data: bytes) -> None:
    choice, raw = data[:HEAD], data[HEAD:]
    if len(choice) < HEAD:
        return
    whole = replied(choice, [raw])
    dice = Random(choice[3])
    edges = [0, *sorted(dice.randrange(len(raw) + 1) for _ in range(dice.randrange(12))), len(raw)]
    assert replied(choice, [raw[start:end] for start, end in itertools.pairwise(edges)]) == whole
    if len(raw) < 400:
        assert replied(choice, [raw[at : at + 1] for at in range(len(raw))]) == whole


def seed(corpus: Path) -> None:
    """Recorded streams, each under some choices, whole and event by event."""
    dice = Random(0)
    for path in sorted(DATA.glob("*/*.sse")):
        raw = path.read_bytes()
        dialect = DIALECTS.index(path.parent.name)
        pieces = [raw] if len(raw) < 20_000 else []
        events = raw.split(b"\n\n")
        pieces += [b"\n\n".join(dice.sample(events, min(3, len(events)))) + b"\n\n" for _ in range(3)]
        for number, piece in enumerate(pieces):
            head = bytes((dialect, dice.randrange(256), dice.randrange(256), dice.randrange(256)))
            (corpus / f"{path.stem}-{number}").write_bytes(head + piece)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="odradek-fuzz-") as corpus:
        seed(Path(corpus))
        files = [word for word in sys.argv[1:] if not word.startswith("-")]
        atheris.Setup([*sys.argv, *([] if files else [corpus])], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
