"""The figures of a run, from its history: turns that ended or were lost, text shown twice, calls made twice, recoveries."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from schemas.deliveries import SendText
from schemas.inbox import ChunkBatch
from services.sandbox.chaos.people import Asked
from services.sandbox.checking.history import Violation
from services.sandbox.checking.index import Index
from services.sandbox.provider.replies import whole_reply

_SENTENCE = re.compile(r"Sentence (\d+) of \d+ on \w+: [^.]*\.")


@dataclass(frozen=True, slots=True)
class TextsShown:
    """What Discord shows of the turns, held against what the provider was going to say.

    `lost`: turns without a result, and completed ones that lack text. `duplicated`: characters shown more than once.
    """

    ended: int
    lost: int
    duplicated: int
    statuses: dict[str, int]
    wrong: tuple[Violation, ...]


def texts_shown(index: Index, asked: Collection[Asked], model: str) -> TextsShown:
    """Look at every turn that somebody asked for, and that `model` answered."""
    lost = duplicated = 0
    statuses: Counter[str] = Counter()
    wrong: list[Violation] = []
    by_turn: dict[str, list[int]] = {}
    for turn, sequence in index.shown:
        by_turn.setdefault(turn, []).append(sequence)
    for one in asked:
        turn = index.turn(one.turn)
        texts: list[str] = []
        for sequence in sorted(by_turn.get(one.turn, ())):
            read = turn.sends.get(sequence)
            # Of the reply's own texts only: notices have no range.
            if read is None or not isinstance(read.content, SendText) or read.content.start is None:
                continue
            messages = index.shown[one.turn, sequence]
            texts.append(messages[0].text)
            duplicated += sum(len(message.text) for message in messages[1:])
        shown, whole = "\n\n".join(texts), whole_reply(model, one.question)
        duplicated += _repeated(shown)
        words, said = shown.split(), whole.split()
        what = None
        if words != said[: len(words)]:
            at = next(place for place, word in enumerate(words) if place >= len(said) or word != said[place])
            what = f"shows {' '.join(words[at : at + 8])!r} where the reply has {' '.join(said[at : at + 8])!r}"
        if turn.finished is None:
            lost += 1
            where = "has no result" if turn.message is not None else "never came into the log"
            wrong.append(Violation(1, f"turn {one.turn} {where}", str(one.channel.id), one.turn, one.at))
        else:
            statuses[turn.finished.status] += 1
            if turn.finished.status == "completed" and len(words) < len(said):
                lost += 1
                what = what or f"is completed and lacks the last {len(said) - len(words)} of {len(said)} words"
        if what is not None:
            wrong.append(Violation(2, f"turn {one.turn} {what}", str(one.channel.id), one.turn))
    ended = sum(statuses.values())
    return TextsShown(ended, lost, duplicated, dict(statuses), tuple(wrong))


def _repeated(shown: str) -> int:
    seen: set[str] = set()
    repeated = 0
    for sentence in _SENTENCE.finditer(shown):
        repeated += len(sentence[0]) if sentence[1] in seen else 0
        seen.add(sentence[1])
    return repeated


def calls_repeated(index: Index) -> int:
    """Provider calls after a turn's first one that no logged end of the generation before allows."""
    repeated = 0
    for (turn_id, generation), calls in index.calls.items():
        repeated += len(calls) - 1
        if generation > 1:
            turn, opened = index.turn(turn_id), min(call.opened_at for call in calls) + index.history.late
            ends = [
                read.at
                for read in turn.batches.get(generation - 1, ())
                if isinstance(read.content, ChunkBatch) and read.content.end is not None
            ]
            ends += [read.at for read in turn.failures.get(generation - 1, ())]
            repeated += min(ends, default=opened + 1) > opened
    return repeated


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds; None where there was nothing to time."""

    count: int
    p50: float | None
    max: float | None


def times(seconds: Sequence[float]) -> Times:
    """Median and most."""
    if not seconds:
        return Times(0, None, None)
    ranked = sorted(seconds)
    return Times(len(ranked), round(ranked[(len(ranked) - 1) // 2], 2), round(ranked[-1], 2))
