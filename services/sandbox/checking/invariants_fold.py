"""Invariants about the orchestrator's decisions: the log, folded again, gives what was written, and nothing else counts."""

from bisect import bisect_right

from schemas.channels import ChannelSnapshot
from schemas.generations import GenerationRequested
from schemas.inbox import MessageReceived, TimerFired
from services.orchestrator.state import STATE_VERSION, to_snapshot
from services.sandbox.checking.findings import Found, found
from services.sandbox.checking.folding import Folding, Told
from services.sandbox.checking.index import Index
from services.sandbox.checking.reading import Read


def folding_again_agrees(index: Index) -> Found:
    """7. Folding a log prefix equals the snapshot at that offset, for every snapshot; and gives the outputs written.

    Else a new owner of the channel would decide otherwise than the old one did. Snapshots of another version of the
    state are left out, as is what an event put out that then went to the dead letters.
    """
    for channel, reads in index.snapshots.items():
        folding = index.foldings.get(channel)
        last = index.events[channel][-1].offset if index.events.get(channel) else -1
        for read in reads:
            snapshot = read.content
            if read.copy_of is not None or not isinstance(snapshot, ChannelSnapshot):
                continue
            if folding is None or snapshot.settled > last:
                yield found(7, f"the snapshot settles {snapshot.settled}, the channel's last event is {last}", read)
            elif snapshot.state_version == STATE_VERSION:
                state = to_snapshot(folding.states[snapshot.settled], snapshot.settled).state
                if state != snapshot.state:
                    names = sorted(name for name in {**state, **snapshot.state}
                                   if state.get(name) != snapshot.state.get(name))  # fmt: skip
                    yield found(
                        7, f"the snapshot at {snapshot.settled} differs from the fold in {', '.join(names)}", read
                    )
    for folding in index.foldings.values():
        for read, error in folding.failed:
            yield found(7, f"the fold fails at this event: {error}", read)
    yield from _outputs(index)


def _outputs(index: Index) -> Found:
    expected = {(out.topic, out.id): out for folding in index.foldings.values() for out in folding.outputs()}
    for key, read in index.written.items():
        out = expected.get(key)
        if out is not None:
            if out.record != read.content:
                yield found(7, f"the output {out.id} is not what the fold puts out at {out.cause}", read)
            elif read.facts is not None and read.facts.cause != out.cause:
                yield found(7, f"the output {out.id} names the cause {read.facts.cause}, not {out.cause}", read)
            continue
        told = _cause(index, read)
        if told is None:
            if not _was_refused(index, read):
                yield found(7, f"the fold does not put out {key[1]}: it has no event of that cause", read)
        elif not told.stale and not isinstance(told.event, TimerFired):
            yield found(7, f"the fold does not put out {key[1]} at {told.read.where}", read)


def _cause(index: Index, read: Read) -> Told | None:
    facts = read.facts
    if facts is None or facts.cause is None:
        return None
    folding = index.foldings.get(facts.channel)
    return None if folding is None else folding.told.get(facts.cause)


def _was_refused(index: Index, read: Read) -> bool:
    facts = read.facts
    if facts is None or facts.cause is None:
        return False
    return any(topic == "inbox" and offset == facts.cause for topic, _, offset in index.dead)


def settled_outputs_are_written(index: Index) -> Found:
    """8. For a snapshot at S, every output of that channel's events up to S lies earlier in the log.

    Whoever takes the channel over skips the events up to S, so an output that is not there would never come.
    """
    for channel, reads in index.snapshots.items():
        folding = index.foldings.get(channel)
        if folding is None:
            continue
        causes, latest, culprits = _written_until(index, folding)
        for read in reads:
            if isinstance(read.content, ChannelSnapshot):
                place = bisect_right(causes, read.content.settled) - 1
                if place >= 0 and latest[place] > read.order:
                    yield found(8, f"the snapshot settles {read.content.settled} before {culprits[place]}", read)


def _written_until(index: Index, folding: Folding) -> tuple[list[int], list[float], list[str]]:
    """For each output in the order of causes: its cause, the latest place in the log up to it, and which output that is."""
    causes: list[int] = []
    latest: list[float] = []
    culprits: list[str] = []
    for out in folding.outputs():
        read = index.written.get((out.topic, out.id))
        order = float("inf") if read is None else float(read.order)
        if latest and latest[-1] >= order:
            latest.append(latest[-1])
            culprits.append(culprits[-1])
        else:
            latest.append(order)
            culprits.append(f"{out.id} of {out.cause} is written" + ("" if read is None else f" at {read.where}"))
        causes.append(out.cause)
    return causes, latest, culprits


def stale_events_change_nothing(index: Index) -> Found:
    """13. Events of generations that are not current change nothing.

    A generation that was declared lost may speak on, and what it says must reach neither the state nor the user.
    """
    for folding in index.foldings.values():
        for told in folding.told.values():
            if told.stale and (told.changed or told.outputs):
                yield found(13, "an event of a generation that is not current changes the channel", told.read)
    for read in index.written.values():
        told = _cause(index, read)
        if told is not None and told.stale:
            yield found(13, f"an output because of {told.read.where}, whose generation is not current", read)


def timers_take_effect_once(index: Index) -> Found:
    """15. A timer takes effect at most once, never before its deadline in log time.

    The deadline is the append time of the event that armed it plus the length in the turn's settings, or that of the pause
    that the request which follows names. Two processes may both write that it fired, and one whose clock is ahead writes
    it too early: the fold takes the first that is due.
    """
    took: dict[tuple[str, str, int | None, int], Read] = {}
    caused: dict[tuple[str, int], Read] = {}
    for read in index.written.values():
        if read.facts is not None and read.facts.cause is not None:
            caused.setdefault((read.facts.channel, read.facts.cause), read)
    for channel, folding in index.foldings.items():
        for offset, told in folding.told.items():
            timer = told.event
            if not isinstance(timer, TimerFired):
                continue
            output = caused.get((channel, offset))
            if not told.changed and not told.outputs and output is None:
                continue
            key = (timer.turn, timer.timer, timer.generation, timer.armed_by)
            where = "" if output is None else f", see {output.where}"
            if key in took:
                yield found(15, f"the {timer.timer} timer of {timer.armed_by} takes effect again, first at "
                                f"{took[key].where}{where}", told.read)  # fmt: skip
            took.setdefault(key, told.read)
            due_ms = _due_ms(index, folding, told)
            if due_ms is None or told.read.record.timestamp_ms < due_ms:
                yield found(15, f"the {timer.timer} timer of {timer.armed_by} takes effect at "
                                f"{told.read.record.timestamp_ms}, due at {due_ms}{where}", told.read)  # fmt: skip


def _due_ms(index: Index, folding: Folding, told: Told) -> int | None:
    timer = told.event
    if not isinstance(timer, TimerFired):
        return None
    armed = folding.told.get(timer.armed_by)
    message = index.turn(timer.turn).message
    asked = [out.record.attempt for out in told.outputs if isinstance(out.record, GenerationRequested)]
    if armed is not None and asked and asked[0] is not None:
        return armed.read.record.timestamp_ms + asked[0].paused_ms
    if armed is None or message is None or not isinstance(message.content, MessageReceived):
        return None
    settings = message.content.settings
    length = settings.generation_deadline_ms if timer.timer == "generation" else settings.delivery_deadline_ms
    return armed.read.record.timestamp_ms + length
