"""Invariants about the log as a whole: what is written again is equal, and what cannot be read is put aside once."""

from collections import defaultdict

from schemas.deliveries import Cancel, ClearStopButton, Typing
from schemas.inbox import GenerationFailed, MessageReceived
from schemas.prompts import ProviderRequest
from services.sandbox.checking.findings import Found, found
from services.sandbox.checking.index import Index
from services.sandbox.checking.reading import CONSUMERS, DeadLetter, Read

MAY_DIFFER = (ProviderRequest,)
"""Records whose copies may differ: context reads the world, and the claim names the copy that counts."""

_WITHOUT_RECEIPT = frozenset(model.__name__ for model in (Typing, ClearStopButton, Cancel))
_DEFECT = "defect"


def copies_are_equal(index: Index) -> Found:
    """6. All copies of an output id are byte-equal within one rules version, in value and headers; prompts excepted.

    Readers drop a repetition by its id without looking at it, so what it says must be what the first one said; a
    difference shows a worker that decides by something else than its input.
    """
    for read in index.reads:
        first = read.copy_of
        if first is None or isinstance(read.content, MAY_DIFFER) or _stamped_anew(read, first):
            continue
        if read.record.value != first.record.value:
            yield found(6, f"differs in its value from the first copy {first.where} of {_id(read)}", read)
        elif read.record.headers != first.record.headers:
            yield found(
                6, f"differs in {_different(read, first)} from the first copy {first.where} of {_id(read)}", read
            )


def _stamped_anew(read: Read, first: Read) -> bool:
    """A message that was read again after the stamp was raised; the fold takes the first copy, and so its version."""
    one, other = read.content, first.content
    if not isinstance(one, MessageReceived) or not isinstance(other, MessageReceived):
        return False
    return one.rules_version != other.rules_version


def _id(read: Read) -> str:
    return "?" if read.facts is None else read.facts.id


def _different(read: Read, first: Read) -> str:
    mine, others = dict(read.record.headers), dict(first.record.headers)
    names = [name for name in {**others, **mine} if mine.get(name) != others.get(name)]
    return f"the headers {', '.join(names)}" if names else "the order of its headers"


def poison_is_put_aside(index: Index) -> Found:
    """17. Poison: one dead letter an origin offset, one visible error, and later records go on.

    A dead letter names a record that was there before. One that cannot be read is never dropped silently: at rest it has
    its dead letter, the generation that it belonged to has failed or its text has a receipt, and its reader has
    committed past it. A dead letter for a defect names a record that the code should have handled.
    """
    by_place = {read.place: read for reads in index.consumed.values() for read in reads}
    for origin, letters in index.dead.items():
        for other in letters[1:]:
            if other.copy_of is None:
                yield found(17, f"another dead letter for {_name(letters[0])} than {letters[0].where}", other)
        letter, poison = letters[0], by_place.get(origin)
        if poison is None or poison.order > letter.order:
            yield found(17, f"a dead letter for {_name(letter)}, which was not there", letter)
            continue
        content = letter.content
        if isinstance(content, DeadLetter):
            if content.reason == _DEFECT:
                yield found(17, f"a defect of {content.service} at {poison.where}", letter,
                            turn=None if content.original is None else content.original.turn)  # fmt: skip
            if index.history.at_rest:
                yield from _seen(index, letter, content)
    if index.history.at_rest:
        for read in by_place.values():
            if read.problem is not None and read.place not in index.dead:
                yield found(17, f"no reader can use it ({read.problem}), and it has no dead letter at rest", read)
        yield from _later_go_on(index)


def _name(letter: Read) -> str:
    content = letter.content
    return "{}/{}@{}".format(*content.origin) if isinstance(content, DeadLetter) else letter.where


def _seen(index: Index, letter: Read, content: DeadLetter) -> Found:
    original = content.original
    if original is None or original.turn is None:
        return
    turn = index.turn(original.turn)
    if content.service == "delivery":
        awaited = original.sequence is not None and original.type not in _WITHOUT_RECEIPT
        if awaited and original.sequence not in turn.receipts:
            yield found(17, f"text {original.sequence} of turn {turn.id} is a dead letter and has no receipt", letter,
                        turn=turn.id)  # fmt: skip
    elif original.generation not in (None, *turn.failures) and original.type != GenerationFailed.__name__:
        yield found(17, f"generation {original.generation} of turn {turn.id} has a dead letter and has not failed",
                    letter, turn=turn.id)  # fmt: skip


def _later_go_on(index: Index) -> Found:
    if index.history.commits is None:
        return
    committed: dict[tuple[str, int], int] = defaultdict(int)
    for commit in index.history.commits:
        committed[commit.topic, commit.partition] = max(committed[commit.topic, commit.partition], commit.offset)
    for (topic, partition, offset), letters in index.dead.items():
        if topic in CONSUMERS and committed[topic, partition] <= offset:
            yield found(17, f"nothing behind the dead-lettered {topic}/{partition}@{offset} is committed", letters[0])
