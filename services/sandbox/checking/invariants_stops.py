"""Invariants about stops: they end exactly what they select, at the provider as in the fold, and at once."""

from math import inf

from schemas.identities import turn_of_message
from schemas.inbox import Admitted, MessageReceived
from schemas.prompts import ProviderRequest
from schemas.stops import StopRequested, selects
from schemas.turns import TurnFinished, TurnStatus
from services.orchestrator.state import STOPS_KEPT_MS, STOPS_LIMIT
from services.sandbox.checking.findings import Found, died_between, found, reacts_by, seconds, was_free
from services.sandbox.checking.folding import Folding, Told
from services.sandbox.checking.history import ProviderCall
from services.sandbox.checking.index import ControlStop, Index, TurnView

SEEN_S = 1.0
"""After so long in control a stop is known to every process that can react."""

REMEMBERED_S = 500.0
"""Control is read from 10 minutes back, less what clocks may differ."""

CLOCKS_APART_S = 120.0
"""Two hosts' clocks, each a minute off."""

CLOSES_S = 0.25
_STOPPED: frozenset[TurnStatus] = frozenset({"stopped_by_user", "killed"})


def stops_end_what_they_select(index: Index) -> Found:
    """11. A stop ends exactly the turns that its predicate selects; provider and fold agree. No call starts for a turn
    whose stop the process has seen, none for an expired prompt.

    In inbox order: a stop ends the current turn unless its end is decided (a kill ends that too), the queued ones, and
    those whose message comes within 10 minutes after it; no other turn ends at the stop's offset, and none ends as
    stopped or killed without a stop that selects it. A process that can react has seen a stop after a second. Expiry is
    told by clocks that may be a minute off each.
    """
    for channel, folding in index.foldings.items():
        stops = [told for told in folding.told.values() if isinstance(told.event, StopRequested)]
        yield from _by_stops(index, stops)
        yield from _before_message(index, folding, stops)
        yield from _for_a_reason(index, channel, stops)
    for calls in index.calls.values():
        for call in calls:
            yield from _call_starts(index, call)


def _by_stops(index: Index, stops: list[Told]) -> Found:
    for told in stops:
        stop, before = told.event, told.before
        if not isinstance(stop, StopRequested) or before is None:
            continue
        if any(known.stop_id == stop.stop_id for known in before.stops):
            continue
        hit = [cause.turn for cause in before.queue
               if selects(stop.target, turn=cause.turn, caused_by=cause.message_id)]  # fmt: skip
        current = before.turn
        if current is not None and (current.ending is None or stop.manner == "kill"):
            hit += [current.id] if selects(stop.target, turn=current.id, caused_by=current.cause.message_id) else []
        for turn in hit:
            yield from _ended_as(index, index.turn(turn), stop, told)
        for turn in index.turns.values():
            result = turn.results[0] if turn.results else None
            if result is None or result.facts is None or turn.channel != before.channel_id:
                continue
            if result.facts.cause == told.read.offset and turn.id not in hit:
                yield found(11, f"turn {turn.id} ends by the stop {told.read.where}, which does not select it", result)


def _ended_as(index: Index, turn: TurnView, stop: StopRequested, told: Told) -> Found:
    result = turn.finished
    if result is None:
        if index.history.at_rest:
            yield found(11, f"turn {turn.id} has not ended by this {stop.manner} stop", told.read, turn=turn.id)
        return
    # A kill may follow a graceful stop.
    right = ("killed",) if stop.manner == "kill" else ("stopped_by_user", "killed")
    if result.status not in right:
        yield found(11, f"turn {turn.id} ends as {result.status}, this {stop.manner} stop selects it", told.read,
                    turn=turn.id)  # fmt: skip


def _before_message(index: Index, folding: Folding, stops: list[Told]) -> Found:
    """Stops that came before the message that they select; of several the first decides."""
    if len(stops) > STOPS_LIMIT or not stops:
        return
    for told in folding.told.values():
        message = told.event
        if not isinstance(message, MessageReceived) or not isinstance(message.admission, Admitted):
            continue
        turn = index.turn(turn_of_message(message.message_id))
        if turn.message is not told.read:
            continue
        for earlier in stops:
            stop = earlier.event
            waited_ms = told.read.record.timestamp_ms - earlier.read.record.timestamp_ms
            if (
                isinstance(stop, StopRequested)
                and earlier.read.offset < told.read.offset
                and waited_ms <= STOPS_KEPT_MS
                and selects(stop.target, turn=turn.id, caused_by=message.message_id)
            ):
                yield from _ended_as(index, turn, stop, earlier)
                break


def _for_a_reason(index: Index, channel: str, stops: list[Told]) -> Found:
    inbox = [told.event for told in stops if isinstance(told.event, StopRequested)]
    control = [stop.record for stop in index.control[channel] if isinstance(stop.record, StopRequested)]
    for turn in index.turns.values():
        result = turn.results[0] if turn.results else None
        if turn.channel != channel or result is None or turn.caused_by is None:
            continue
        status = result.content.status if isinstance(result.content, TurnFinished) else None
        if status not in _STOPPED:
            continue
        # A stop that stands in control alone is a graceful end to the fold: it only learns that the stream was stopped.
        known = [stop for stop in inbox if stop.manner == "kill"] if status == "killed" else inbox + control
        if not any(selects(stop.target, turn=turn.id, caused_by=turn.caused_by) for stop in known):
            yield found(11, f"turn {turn.id} ends as {status}, and no such stop selects it", result)


def _stops_of(index: Index, call: ProviderCall) -> list[ControlStop]:
    turn = index.turn(call.turn)
    return [stop for stop in index.control.get(turn.channel or "", ()) if stop.hits(turn.id, turn.caused_by)]


def _call_starts(index: Index, call: ProviderCall) -> Found:
    turn = index.turn(call.turn)
    name = f"generation {call.generation} of turn {call.turn} is called by {call.instance} at {seconds(call.opened_at)}"
    for stop in _stops_of(index, call):
        since, waited = stop.read.at, call.opened_at - stop.read.at - index.history.late
        if SEEN_S < waited < REMEMBERED_S and was_free(index, call.instance, since, call.opened_at):
            yield found(11, f"{name}, {waited:.1f} s after this stop", stop.read, turn=turn.id, at=call.opened_at)
            break
    prompts = [read for read in turn.prompts.get(call.generation, ()) if read.at <= call.opened_at]
    if prompts and isinstance(prompts[-1].content, ProviderRequest):
        age = call.opened_at - prompts[-1].at
        lives = prompts[-1].content.ttl_ms / 1000 + CLOCKS_APART_S + index.history.late
        if age > lives and was_free(index, call.instance, call.opened_at - SEEN_S, call.opened_at):
            yield found(11, f"{name}, {age:.0f} s after this prompt", prompts[-1], at=call.opened_at)


def stops_close_at_once(index: Index) -> Found:
    """12. After a stop is acknowledged in control, each holder that runs closes within 250 ms, also without owning the
    partition.

    A user who stops a reply pays for it until then. Time in which the holder's process was frozen or the broker was
    away does not count; a process that died closes its connections with it.
    """
    for calls in index.calls.values():
        for call in calls:
            stops = _stops_of(index, call)
            closed = inf if call.closed_at is None else call.closed_at
            for stop in stops:
                start = max(stop.read.at, call.opened_at)
                if closed <= start:
                    continue
                deadline = reacts_by(index, call.instance, start, CLOSES_S)
                if min(closed, index.until) <= deadline or died_between(index, call.instance, call.opened_at, deadline):
                    continue
                yield found(
                    12, f"the call of generation {call.generation} of turn {call.turn} by {call.instance} closes at "
                        f"{seconds(closed)}, due by {seconds(deadline)}", stop.read, turn=call.turn, at=deadline,
                )  # fmt: skip
                break
