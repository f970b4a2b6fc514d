"""Everything that a run left behind, as one history: the log, the groups, the provider's calls, Discord's channels."""

from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path

from services.runtime.log import LogRecord
from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.groups import read_groups
from services.sandbox.chaos.log_lines import read_logs
from services.sandbox.chaos.memories import read_memories
from services.sandbox.chaos.slots import Window
from services.sandbox.chaos.stage import Stage
from services.sandbox.checking.history import History, ProviderCall, ShownMessage, Written
from services.sandbox.provider.recording import Call

_CAUSES_FIRST = (
    "claims",
    "raw",
    "inbox",
    "control",
    "generations",
    "prompts",
    "deliveries",
    "turns",
    "channels",
    "dead-letters",
)
"""Of appends of the same millisecond a cause comes before its effect."""


async def read_back(
    stage: Stage,
    clock: RunClock,
    logs: Path,
    *,
    at_rest: bool,
    late: float,
    dead: Iterable[Window],
    frozen: Iterable[Window],
    away: Iterable[Window],
    events: Iterable[tuple[float, str]],
) -> History:
    """Read all topics and the workers' logs whole, and put the history together.

    `logs` is their folder; `late` is how far behind the observer and the workers were.
    """
    records = [record async for record in _all_records(stage)]
    groups = await read_groups(stage.settings, clock)
    memories = read_memories(read_logs(logs, _slots(logs)).values(), clock, stage.partitions)
    return History(
        partitions=stage.partitions,
        at_rest=at_rest,
        rules=stage.scene.rules,
        writes=_in_order(records, clock),
        calls=[_call(call, clock) for call in stage.provider.calls if call.turn is not None],
        shown=list(_shown(stage, clock)),
        commits=groups.commits,
        ends={
            (topic, partition): end
            for topic in stage.topics.topics
            for partition, end in (await stage.log.ends(topic, range(stage.log.partitions(topic)))).items()
        },
        owners=groups.owners,
        kept=memories.kept,
        loads=memories.loads,
        frozen=[(window.name, window.start, window.end) for window in frozen],
        dead=[(window.name, window.start, window.end) for window in dead],
        away=[(window.start, window.end) for window in away],
        events=sorted(events),
        late=late,
    )


def _slots(logs: Path) -> list[str]:
    return sorted(path.stem for path in logs.glob("*.log"))


async def _all_records(stage: Stage) -> AsyncIterator[LogRecord]:
    for topic in stage.topics.topics:
        async for record in stage.log.read_to_end(topic, range(stage.log.partitions(topic))):
            yield record


def _in_order(records: Iterable[LogRecord], clock: RunClock) -> list[Written]:
    rank = {topic: number for number, topic in enumerate(_CAUSES_FIRST)}
    latest: dict[tuple[str, int], int] = {}
    placed: list[tuple[int, int, int, LogRecord]] = []
    for record in records:
        # A wall clock may go back; the partition's order never does.
        place = (record.topic, record.partition)
        stamp = latest[place] = max(record.timestamp_ms, latest.get(place, 0))
        placed.append((stamp, rank[record.topic], len(placed), record))
    placed.sort(key=lambda one: one[:3])
    return [Written(clock.at_ms(stamp), order, record) for order, (stamp, _, _, record) in enumerate(placed)]


def _call(call: Call, clock: RunClock) -> ProviderCall:
    return ProviderCall(
        turn=call.turn or "",
        generation=int(call.generation or 0),
        instance=call.holder or "nobody",
        opened_at=clock.at_wall(call.arrived.wall),
        closed_at=None if call.ended is None else clock.at_wall(call.ended.at.wall),
        sent=bytes(call.sent),
        finished=call.ended is not None and call.ended.how == "completed",
    )


def _shown(stage: Stage, clock: RunClock) -> Iterator[ShownMessage]:
    bot = stage.discord.world.bot.id
    for channel in stage.channels:
        for message in channel.messages.values():
            if message.author.id == bot and message.visible_to is None:
                nonce = None if message.nonce is None else str(message.nonce)
                yield ShownMessage(
                    str(channel.id), str(message.id), message.content, nonce, clock.at_ms(message.created_ms)
                )
