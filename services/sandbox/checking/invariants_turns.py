"""Invariants about turns as users see them: each message has one, and what Discord shows of it is what was decided."""

from collections import Counter

from schemas.deliveries import SendText
from schemas.inbox import DeliveryReceipt
from schemas.turns import TurnFinished
from services.sandbox.checking.findings import Found, found
from services.sandbox.checking.index import Index, TurnView


def one_result_a_message(index: Index) -> Found:
    """1. Every message acknowledged into inbox has exactly one turn and, at rest, one TurnFinished status.

    A message without a result leaves its author waiting, and two results would mean that it was answered twice. Repeated
    copies of a result are no second one. A message in the dead letters has no turn.
    """
    for turn in index.turns.values():
        statuses = [read.content.status for read in turn.results if isinstance(read.content, TurnFinished)]
        if len(set(statuses)) > 1:
            yield found(1, f"turn {turn.id} has several results: {', '.join(statuses)}", turn.results[-1])
        if turn.message is None:
            if turn.results:
                yield found(1, f"a result for turn {turn.id}, which no message caused", turn.results[0])
        elif turn.results and turn.results[0].order < turn.message.order:
            yield found(
                1, f"the result of turn {turn.id} stands before its message {turn.message.where}", turn.results[0]
            )
        elif not turn.results and index.history.at_rest:
            yield found(1, f"the message of turn {turn.id} has no result at rest", turn.message)


def shown_as_decided(index: Index) -> Found:
    """2. What Discord shows of a turn is its decided text: ranges contiguous from 0, none twice, none missing.

    A text is missing with a named stop or error only: its receipt says failed or skipped. The first receipt counts: sent
    means one message with the output's nonce, failed or skipped means none. Messages of a turn stand in the order of
    their sequences. At rest a result counts exactly the characters that were put out, and a completed turn without an
    error lacks no text. Two turns may mix in a channel, since a killed one may still arrive.
    """
    for turn in index.turns.values():
        if turn.sends:
            yield from _ranges(index, turn)
            yield from _receipts(index, turn)
    yield from _order(index)


def _ranges(index: Index, turn: TurnView) -> Found:
    end = 0
    for sequence in sorted(turn.sends):
        read = turn.sends[sequence]
        send = read.content
        if not isinstance(send, SendText) or send.start is None or send.end is None:
            continue
        if send.start != end or send.end <= send.start:
            yield found(2, f"text {sequence} of turn {turn.id} has the range {send.start}-{send.end} after {end}", read)
        end = send.end
    result = turn.finished
    if result is not None and index.history.at_rest and result.characters != end:
        yield found(2, f"turn {turn.id} counts {result.characters} characters, its texts end at {end}", turn.results[0])


def _receipts(index: Index, turn: TurnView) -> Found:
    missing: list[int] = []
    for sequence, read in sorted(turn.sends.items()):
        send = read.content
        if not isinstance(send, SendText):
            continue
        shown = index.shown.get((turn.id, sequence), [])
        name = f"text {sequence} of turn {turn.id}"
        if len(shown) > 1:
            yield found(2, f"{name} is shown {len(shown)} times, last at {shown[-1].at:.3f} s", read)
        for message in shown[:1]:
            if message.channel != send.channel_id:
                yield found(2, f"{name} is shown in channel {message.channel}", read)
            # Discord trims the edges of what it is sent.
            if message.text.strip() != send.text.strip():
                yield found(2, f"{name} is shown as {message.text[:60]!r}, not as {send.text[:60]!r}", read)
        receipt = turn.receipts.get(sequence)
        if receipt is None or not isinstance(receipt.content, DeliveryReceipt):
            continue
        outcome = receipt.content.outcome
        if outcome.kind == "sent":
            if not shown:
                yield found(2, f"{name} has a receipt as sent and is not shown", receipt)
            elif outcome.message_id is not None and outcome.message_id not in {m.message_id for m in shown}:
                yield found(
                    2, f"{name} is message {shown[0].message_id}, its receipt says {outcome.message_id}", receipt
                )
        else:
            missing.append(sequence)
            if shown:
                yield found(2, f"{name} is shown, its receipt says {outcome.kind} ({outcome.reason})", receipt)
    result = turn.finished
    if missing and result is not None and result.status == "completed" and result.error is None:
        yield found(2, f"turn {turn.id} is completed without an error, and lacks texts {missing}", turn.results[0])


def _order(index: Index) -> Found:
    places = {message.message_id: place for place, message in enumerate(index.history.shown)}
    shown: dict[str, list[tuple[int, int]]] = {}
    for (turn, sequence), messages in index.shown.items():
        shown.setdefault(turn, []).append((sequence, min(places[m.message_id] for m in messages)))
    for turn, pairs in shown.items():
        by_sequence = [place for _, place in sorted(pairs)]
        if by_sequence != sorted(by_sequence):
            order = [sequence for sequence, _ in sorted(pairs, key=lambda pair: pair[1])]
            yield found(2, f"Discord shows the texts of turn {turn} in the order {order}", index.turns[turn].results[-1]
                        if index.turns[turn].results else None, turn=turn, channel=index.turns[turn].channel)  # fmt: skip
    known = {message.message_id for messages in index.shown.values() for message in messages}
    nonces = Counter(message.nonce for message in index.history.shown if message.nonce is not None)
    for message in index.history.shown:
        if message.nonce is not None and message.message_id not in known:
            times = nonces[message.nonce]
            yield found(
                2, f"message {message.message_id} ({message.text[:60]!r}, {times} with its nonce) is nobody's output",
                channel=message.channel, at=message.at,
            )  # fmt: skip
