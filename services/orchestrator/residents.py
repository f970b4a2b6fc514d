"""Which channels a process has in memory as they are, and which packed: at rest, settled, and not heard of for longest.

An actor at rest with a full memory of messages takes some 25 KB. Packed it is its compressed state, 100 bytes to 3 KB, so
that a process can own far more channels than speak at a time; waking one reads nothing from the log.
"""

import asyncio
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.orchestrator.deadlines import Armed
from services.orchestrator.state import ChannelState
from services.runtime.inbound import Pending
from services.runtime.log import Appended

ACTORS_KEPT = 2_000
"""Actors a process keeps as they are; beyond it those at rest are packed, while those with something open stay."""


@dataclass
class Actor:
    """One channel. `settled` is the inbox offset that a snapshot covers; what stands up to it is not folded again.

    `written`: this process wrote a snapshot since it took the channel over, or has to. `timer` is set for the earliest
    deadline, `timer_ms` (ms since 1970). `fired`: the last TimerFired that was written for a deadline that has passed.
    """

    state: ChannelState
    partition: int
    settled: int = -1
    folded: int = -1
    held: list[Pending] = field(default_factory=list[Pending])
    unacknowledged: "list[asyncio.Future[Appended]]" = field(default_factory=lambda: list[asyncio.Future[Appended]]())
    snapshot_task: "asyncio.Task[None] | None" = None
    snapshot_due: bool = False
    snapshot_timer: asyncio.TimerHandle | None = None
    written: bool = False
    timer: asyncio.TimerHandle | None = None
    timer_ms: int | None = None
    fired: "dict[Armed, asyncio.Future[Appended]]" = field(
        default_factory=lambda: dict[Armed, asyncio.Future[Appended]]()
    )
    gone: bool = False

    @property
    def idle(self) -> bool:
        """Nothing goes on in the channel, and a snapshot of exactly this state is acknowledged."""
        snapshot_open = self.snapshot_task is not None or self.snapshot_timer is not None or self.snapshot_due
        return self.state.at_rest and not (self.held or self.unacknowledged or snapshot_open)


@dataclass(frozen=True, slots=True)
class Packed:
    """A channel's state, compressed, and where it stands in the inbox."""

    state: bytes
    at_rest: bool
    settled: int
    folded: int
    written: bool = False


def pack(state: ChannelState, *, settled: int, folded: int, written: bool = False) -> Packed:
    """Keep of a channel what is needed to go on with it."""
    return Packed(zlib.compress(state.model_dump_json().encode(), level=1), state.at_rest, settled, folded, written)


def unpack(packed: Packed, partition: int) -> Actor:
    """The actor of a packed channel."""
    state = ChannelState.model_validate_json(zlib.decompress(packed.state))
    return Actor(state, partition, settled=packed.settled, folded=packed.folded, written=packed.written)


@dataclass(slots=True)
class _Channels:
    """The channels of one partition; each is in one of the two."""

    actors: dict[str, Actor] = field(default_factory=dict[str, Actor])
    packed: dict[str, Packed] = field(default_factory=dict[str, Packed])


class Residents:
    """The channels of all partitions of a process. `most`: actors beyond which those that are idle get packed."""

    def __init__(self, most: int = ACTORS_KEPT) -> None:
        self._most = most
        self._partitions: dict[int, _Channels] = {}
        self._idle: OrderedDict[str, Actor] = OrderedDict()

    def actors(self) -> int:
        """How many actors are in memory as they are."""
        return sum(len(channels.actors) for channels in self._partitions.values())

    def packed(self) -> int:
        """How many are packed."""
        return sum(len(channels.packed) for channels in self._partitions.values())

    def settled(self, partition: int) -> Mapping[str, int]:
        """The settled offset of each channel of a partition."""
        channels = self._partitions.get(partition, _Channels())
        return {name: one.settled for some in (channels.actors, channels.packed) for name, one in some.items()}

    def written(self, partition: int) -> list[str]:
        """The channels of a partition whose snapshot was written since the partition was taken over."""
        channels = self._partitions.get(partition, _Channels())
        return [name for some in (channels.actors, channels.packed) for name, one in some.items() if one.written]

    def begin(self, partition: int) -> None:
        """Start a partition anew, without channels."""
        self._partitions[partition] = _Channels()

    def add(self, actor: Actor) -> None:
        """Take in an actor that is in use; `rest` says when it is no more."""
        self._partitions.setdefault(actor.partition, _Channels()).actors[actor.state.channel_id] = actor

    def add_packed(self, partition: int, channel: str, packed: Packed) -> None:
        """Take in a channel of a partition that was begun."""
        self._partitions[partition].packed[channel] = packed

    def find(self, partition: int, channel: str) -> Actor | None:
        """The channel's actor, woken if it was packed; from now on it is in use until `rest`."""
        channels = self._partitions.get(partition)
        if channels is None:
            return None
        self._idle.pop(channel, None)
        packed = channels.packed.pop(channel, None)
        if packed is not None:
            channels.actors[channel] = unpack(packed, partition)
        return channels.actors.get(channel)

    def awake(self, partition: int, channel: str) -> Actor | None:
        """The channel's actor if it is in memory as it is."""
        channels = self._partitions.get(partition)
        return None if channels is None else channels.actors.get(channel)

    def rest(self, actor: Actor) -> None:
        """Something about the actor is done: if it is idle it may be packed, the one that rests longest first."""
        if actor.gone or not actor.idle:
            return
        self._idle[actor.state.channel_id] = actor
        self._idle.move_to_end(actor.state.channel_id)
        while self._idle and self.actors() > self._most:
            channel, oldest = self._idle.popitem(last=False)
            channels = self._partitions[oldest.partition]
            del channels.actors[channel]
            channels.packed[channel] = pack(
                oldest.state, settled=oldest.settled, folded=oldest.folded, written=oldest.written
            )

    def drop(self, partition: int) -> list[Actor]:
        """Forget a partition; returns its actors, which are gone from now on."""
        actors = list(self._partitions.pop(partition, _Channels()).actors.values())
        for actor in actors:
            actor.gone = True
            self._idle.pop(actor.state.channel_id, None)
        return actors
