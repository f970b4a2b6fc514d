"""Times three readers of the same streams in turns, and how the normalizer's time grows with the size of what it reads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time

import orjson

from schemas.chunks import Dialect
from services.normalizer.compiled import compiled
from services.normalizer.endings import EndOfFile
from services.normalizer.reply import Reply
from services.normalizer.stream import StreamNormalizer
from services.sandbox.benchmark.machine import Machine, this_machine
from services.sandbox.benchmark.normalizing.samples import Sample, load_samples
from services.sandbox.benchmark.normalizing.sdks import MODULES, sdk_reader

Say = Callable[[str], None]
ROUNDS = 15
SDK_ROUNDS = 3
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class DialectFigures:
    """`ratio_to_floor`: our time over the floor's. `ratio_to_sdk`: the official SDK's time over ours, of the streams that
    the SDK reads to their end; None without an SDK. `sdk_failed`: the streams that it gives up."""

    streams: int
    events: int
    events_per_s: int
    ratio_to_floor: float
    ratio_to_sdk: float | None
    sdk: str | None
    sdk_failed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """How many times longer twice the work takes, and the like; 1.0 and 2.0 are what a linear reader has.

    `line_in_pieces`: one line of 2 MB in pieces of 4 KiB over the same in one piece. `line_doubled`: a line of 4 MB in
    pieces of 64 bytes over one of 2 MB. `arguments_doubled`: tool arguments of 1 MB in 20,000 deltas over 500 kB in 10,000.
    """

    line_in_pieces: float
    line_doubled: float
    arguments_doubled: float


@dataclass(frozen=True, slots=True)
class NormalizeReport:
    """One run; `dialects` by name. `compiled`: the normalizer ran as machine code, not as Python."""

    command: str
    machine: Machine
    compiled: bool
    dialects: Mapping[Dialect, DialectFigures]
    growth: Growth


def measure_normalizing(directory: Path, *, command: str, say: Say) -> NormalizeReport:
    """Time everything. CPU time of this process counts; the least of some rounds, since others disturb and never help."""
    machine = this_machine()
    figures: dict[Dialect, DialectFigures] = {}
    for dialect, samples in load_samples(directory).items():
        say(f"{dialect}: {len(samples)} streams")
        figures[dialect] = _measure(dialect, samples)
    say("growth")
    return NormalizeReport(command, machine, bool(compiled()), figures, _growth())


def read_floor(pieces: Iterable[bytes]) -> list[object]:
    """The least that anybody does who reads JSON from server-sent events as it comes: split lines, load each payload."""
    payloads: list[object] = []
    for piece in pieces:
        for line in piece.split(b"\n"):
            if line.startswith(b"data: {"):
                payloads.append(orjson.loads(line[6:]))  # noqa: PERF401 - a nested comprehension is no faster
    return payloads


def normalize(dialect: Dialect, pieces: Iterable[bytes]) -> Reply:
    """Read the pieces one by one, with guards, into the final object."""
    stream = StreamNormalizer(dialect, "m")
    reply = Reply()
    for piece in pieces:
        reply.take(stream.feed(piece))
    reply.take(stream.flush(EndOfFile()))
    return reply


def _measure(dialect: Dialect, samples: Sequence[Sample]) -> DialectFigures:
    read = sdk_reader(dialect)
    floor_s = ours_s = with_sdk_s = sdk_s = 0.0
    failed: list[str] = []
    for sample in samples:
        ours = partial(normalize, dialect, sample.pieces)
        floor_one, ours_one = _least([partial(read_floor, sample.pieces), ours], ROUNDS)
        floor_s += floor_one
        ours_s += ours_one
        if read is None:
            continue
        try:
            ours_again, sdk_one = _least([ours, partial(read, sample.pieces)], SDK_ROUNDS)
        except Exception:
            failed.append(sample.name)
        else:
            with_sdk_s += ours_again
            sdk_s += sdk_one
    events = sum(len(sample.pieces) for sample in samples)
    return DialectFigures(
        streams=len(samples),
        events=events,
        events_per_s=round(events / ours_s),
        ratio_to_floor=round(ours_s / floor_s, 2),
        ratio_to_sdk=round(sdk_s / with_sdk_s, 1) if with_sdk_s else None,
        sdk=MODULES.get(dialect) if read is not None else None,
        sdk_failed=tuple(failed),
    )


def _least(works: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The CPU seconds of one call of each, the least of some rounds. A round times all, since a machine's pace changes."""
    counts = [_enough(work) for work in works]
    times = [[_seconds(work, count) / count for work, count in zip(works, counts, strict=True)] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def _enough(work: Callable[[], object]) -> int:
    """How many calls take so long that the clock's steps do not count."""
    work()
    count = 1
    while _seconds(work, count) < 0.005:
        count *= 2
    return count


def _seconds(work: Callable[[], object], count: int) -> float:
    began = process_time()
    for _ in range(count):
        work()
    return process_time() - began


def _growth() -> Growth:
    one, two = _line(2 * _MB), _line(4 * _MB)
    few, many = _arguments(10_000), _arguments(20_000)

    def over(work: Sequence[bytes], reference: Sequence[bytes]) -> float:
        first, second = _least([partial(normalize, "openai-chat", pieces) for pieces in (work, reference)], 5)
        return round(first / second, 2)

    return Growth(
        line_in_pieces=over(_cut(one, 4096), [one]),
        line_doubled=over(_cut(two, 64), _cut(one, 64)),
        arguments_doubled=over(many, few),
    )


def _line(size: int) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * size + b'"}}]}\n\n'


def _cut(raw: bytes, step: int) -> list[bytes]:
    return [raw[at : at + step] for at in range(0, len(raw), step)]


def _arguments(deltas: int) -> list[bytes]:
    """Tool arguments in so many deltas of 50 characters."""

    def delta(arguments: str, **first: object) -> bytes:
        call = {"index": 0, **first, "function": {"name": "write", "arguments": arguments}}
        return b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}) + b"\n\n"

    return [delta('{"text":"', id="c"), *[delta("x" * 50)] * deltas, delta('"}'), b"data: [DONE]\n\n"]
