"""Invariants about progress: what a commit may pass, what a new owner may skip, and that nothing stays open."""

from bisect import bisect_right
from collections import defaultdict

from schemas.inbox import ChunkBatch
from services.orchestrator.deadlines import deadlines
from services.sandbox.checking.findings import Found, found, seconds
from services.sandbox.checking.finishing import finished_at
from services.sandbox.checking.history import Commit, Owned
from services.sandbox.checking.index import Index, TurnView
from services.sandbox.checking.reading import CONSUMERS


def commits_pass_finished_only(index: Index) -> Found:
    """9. A commit never passes the first unfinished offset; offsets are skipped only under a snapshot that settled them.

    What is behind the commit is never read again, so what was not finished there is lost. When a record counts as
    finished stands in `services.sandbox.checking.finishing`. A new owner begins at the commit and skips what the
    snapshot that it loaded settles: all changes of the channel before the commit must lie under that snapshot.
    """
    commits: dict[tuple[str, int], list[Commit]] = defaultdict(list)
    for commit in index.history.commits or ():
        if commit.topic in CONSUMERS:
            commits[commit.topic, commit.partition].append(commit)
    for (topic, partition), taken in commits.items():
        records = finished_at(index, topic, partition)
        place = 0
        for commit in sorted(taken, key=lambda one: one.at):
            while place < len(records) and records[place][0].offset < commit.offset:
                read, done = records[place]
                if done > commit.at + index.history.late:
                    kind = "record" if read.facts is None else read.facts.type
                    yield found(
                        9, f"this {kind} is passed by the commit of {commit.offset} at {seconds(commit.at)}, finished: "
                           f"{seconds(done)}", read, at=commit.at,
                    )  # fmt: skip
                place += 1
    yield from _skipped(index, commits)


def _skipped(index: Index, commits: dict[tuple[str, int], list[Commit]]) -> Found:
    for load in index.history.loads or ():
        folding = index.foldings.get(load.channel)
        if folding is None or not folding.told:
            continue
        partition = next(iter(folding.told.values())).read.record.partition
        begun = max((c.offset for c in commits.get(("inbox", partition), ()) if c.at <= load.at), default=0)
        for offset, told in folding.told.items():
            if load.settled < offset < begun and (told.changed or told.outputs):
                yield found(9, f"skipped by a new owner, which loaded the snapshot of {load.settled} at "
                               f"{seconds(load.at)} and begins at {begun}", told.read, at=load.at)  # fmt: skip
                break


def loads_never_go_back(index: Index) -> Found:
    """10. The settled offset loaded for a channel never decreases, and lies below the inbox's end.

    A lower one would fold events anew on a state of before, and one beyond the end comes from another log.
    """
    highest: dict[str, int] = {}
    for load in sorted(index.history.loads or (), key=lambda one: one.at):
        if load.settled < highest.get(load.channel, -1):
            yield found(10, f"channel {load.channel} is loaded at {load.settled}, at {highest[load.channel]} before",
                        channel=load.channel, at=load.at)  # fmt: skip
        if load.settled >= load.end:
            yield found(10, f"channel {load.channel} is loaded at {load.settled}, the inbox ends at {load.end}",
                        channel=load.channel, at=load.at)  # fmt: skip
        highest[load.channel] = max(load.settled, highest.get(load.channel, -1))


def nothing_stays_open(index: Index) -> Found:
    """14. Each request has a result or an armed deadline; at rest there is no open claim, no delivery without receipt,
    no held prefix.

    A request is a generation asked for or a text put out; nobody would notice that its result never comes. Before the
    rest the deadlines are part of the state that the fold gives. At rest none is armed, no turn waits, and everything
    that is consumed is committed to its end.
    """
    if not index.history.at_rest:
        return
    for turn in index.turns.values():
        yield from _requests(turn)
    for claim in index.claims.values():
        if claim.winner is not None and claim.closed is None:
            yield found(14, f"the claim of {claim.effect} is open at rest", claim.winner)
    for channel, folding in index.foldings.items():
        for armed in deadlines(folding.state):
            yield found(14, f"the {armed.timer} deadline that {armed.armed_by} armed is open at rest",
                        channel=channel, turn=armed.turn, at=index.until)  # fmt: skip
        if folding.state.queue:
            waiting = [cause.turn for cause in folding.state.queue]
            yield found(14, f"the turns {waiting} wait at rest", channel=channel, turn=waiting[0], at=index.until)
    yield from _prefixes(index)


def _requests(turn: TurnView) -> Found:
    for number, read in turn.requests.items():
        batches = (batch.content for batch in turn.batches.get(number, ()))
        ended = any(isinstance(batch, ChunkBatch) and batch.end is not None for batch in batches)
        if not (ended or number in turn.failures or turn.results):
            yield found(14, f"generation {number} of turn {turn.id} has no end at rest", read)
    for sequence, read in turn.sends.items():
        if sequence not in turn.receipts:
            yield found(14, f"text {sequence} of turn {turn.id} has no receipt at rest", read)


def _prefixes(index: Index) -> Found:
    if index.history.commits is None or index.history.ends is None:
        return
    committed: dict[tuple[str, int], int] = {}
    for commit in sorted(index.history.commits, key=lambda one: one.at):
        committed[commit.topic, commit.partition] = commit.offset
    for (topic, partition), end in index.history.ends.items():
        if topic in CONSUMERS and committed.get((topic, partition), 0) != end:
            yield found(14, f"{topic}/{partition} is committed to {committed.get((topic, partition), 0)} at rest, "
                            f"its end is {end}", at=index.until)  # fmt: skip


def kept_partitions_had_no_other_owner(index: Index) -> Found:
    """20. A partition treated as kept had no owner in between.

    Else the process goes on with a state that another one has moved past. From the time at which the process took the
    partition over (if the history knows it; else at the last change of owner), only the same member owned it.
    """
    owners: dict[tuple[str, int], list[Owned]] = defaultdict(list)
    for owned in sorted(index.history.owners or (), key=lambda one: one.at):
        owners[owned.topic, owned.partition].append(owned)
    for kept in index.history.kept or ():
        changes = owners.get((kept.topic, kept.partition), [])
        last = bisect_right(changes, kept.at, key=lambda one: one.at)
        first = last - 1 if kept.since is None else bisect_right(changes, kept.since, key=lambda one: one.at)
        others = [one for one in changes[max(first, 0) : last] if one.member != kept.member]
        if others:
            yield found(
                20, f"{kept.member} keeps {kept.topic}/{kept.partition}, which {others[0].member} owned from "
                    f"{seconds(others[0].at)} on", at=kept.at,
            )  # fmt: skip
