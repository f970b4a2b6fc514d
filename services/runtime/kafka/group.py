"""A member of a consumer group on one topic; aiokafka rebalances eagerly, see `services.runtime.membership`."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false, reportUntypedBaseClass=false

import asyncio
import contextlib
from collections.abc import Collection, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError
from aiokafka.protocol.group import LeaveGroupRequest

from services.runtime.kafka.connection import BrokerProfile, when_reachable
from services.runtime.kafka.heartbeats import Confirmations
from services.runtime.log import LogRecord, Members
from services.runtime.logs import get_logger
from services.runtime.membership import Membership, kept_partitions

log = get_logger("kafka.group")
STOP_BOUND_S = 5.0
COMMIT_BOUND_S = 10.0


class KafkaGroupReader(ConsumerRebalanceListener):
    """One membership. `topic` is the name on the cluster, `logical` the one of topics.yaml."""

    def __init__(
        self,
        options: Mapping[str, Any],
        profile: BrokerProfile,
        *,
        logical: str,
        topic: str,
        group: str,
        instance: str | None,
    ) -> None:
        self._logical = logical
        self._topic = topic
        self._profile = profile
        self._members: Members | None = None
        self._held: Membership | None = None
        self._owned: frozenset[int] = frozenset()
        self._last_owned: frozenset[int] = frozenset()
        # The assignor keeps its memory on the class, so two consumers of one process would share it.
        assignor = type("OwnStickyAssignor", (StickyPartitionAssignor,), {})
        self._consumer = AIOKafkaConsumer(
            **options,
            group_id=group,
            group_instance_id=instance if profile.static_members else None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=profile.session_ms,
            heartbeat_interval_ms=profile.heartbeat_ms,
            max_poll_interval_ms=300_000,
            fetch_max_wait_ms=profile.fetch_wait_ms,
            fetch_max_bytes=16 * 1024 * 1024,
            max_partition_fetch_bytes=9 * 1024 * 1024,
            metadata_max_age_ms=60_000,
            partition_assignment_strategy=(assignor,),
        )
        self._confirmations = Confirmations(self._consumer)

    async def start(self, members: Members) -> None:
        """Join; returns before the first assignment."""
        self._members = members
        self._consumer.subscribe([self._topic], listener=self)
        await when_reachable(self._consumer.start)

    async def fetch(self, max_records: int) -> list[LogRecord]:
        """The next records; waits for half a second at most."""
        batches = await self._consumer.getmany(timeout_ms=500, max_records=max_records)
        return [
            LogRecord(self._logical, m.partition, m.offset, m.timestamp, m.key, m.value, tuple(m.headers))
            for messages in batches.values()
            for m in messages
        ]

    async def commit(self, offsets: Mapping[int, int]) -> bool:
        """Commit partition -> next offset; False where the group did not take it in time."""
        try:
            async with asyncio.timeout(COMMIT_BOUND_S):
                await self._consumer.commit({TopicPartition(self._topic, p): o for p, o in offsets.items()})
        except (CommitFailedError, IllegalStateError) as error:
            log.info("commit refused", error=type(error).__name__, often=True)
            return False
        except (KafkaError, TimeoutError) as error:
            log.warning("commit failed", error=type(error).__name__, often=True)
            return False
        return True

    def heartbeat_age_s(self) -> float:
        """Seconds since the last confirmed heartbeat was sent; see `services.runtime.kafka.heartbeats`."""
        return self._confirmations.age_s()

    def pause(self, partition: int) -> None:
        """Fetch nothing more of the partition; without effect where it is not ours."""
        if partition in self._owned:
            with contextlib.suppress(IllegalStateError):
                self._consumer.pause(TopicPartition(self._topic, partition))

    def resume(self, partition: int) -> None:
        """Fetch the partition again; without effect where it is not ours."""
        if partition in self._owned:
            with contextlib.suppress(IllegalStateError):
                self._consumer.resume(TopicPartition(self._topic, partition))

    async def stop(self, *, leave: bool) -> None:
        """End the membership within a few seconds, whatever the broker does."""
        self._confirmations.denied()
        with contextlib.suppress(KafkaError, TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(STOP_BOUND_S):
                if leave and self._consumer._group_id is not None:
                    await self._leave_as_static_member()
                await self._consumer.stop()

    async def _leave_as_static_member(self) -> None:
        # aiokafka sends no LeaveGroup for static members, and v0 names the member by its id alone, which is enough.
        coordinator: Any = self._consumer._coordinator
        if coordinator is None or not self._profile.static_members or coordinator._group_instance_id is None:
            return
        if coordinator.generation > 0:
            await coordinator._send_req(LeaveGroupRequest(coordinator.group_id, coordinator.member_id))

    # -- the listener: no awaits, since no heartbeats are sent while these run -------------------------------------

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """aiokafka's callback at the start of a rebalance."""
        self._owned = frozenset()
        if self._members is not None:
            self._members.revoked([tp.partition for tp in revoked])

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """aiokafka's callback at the end of a rebalance."""
        coordinator: Any = self._consumer._coordinator
        before, self._held = self._held, Membership(str(coordinator.member_id), int(coordinator.generation))
        partitions = frozenset(tp.partition for tp in assigned)
        kept = kept_partitions(before, self._held, self._last_owned, partitions)
        self._owned = self._last_owned = partitions
        if self._members is None:
            return
        positions = self._members.assigned(partitions, kept)
        self._confirmations.joined()
        for partition in partitions:
            tp = TopicPartition(self._topic, partition)
            if partition in positions:
                self._consumer.seek(tp, positions[partition])
            else:
                self._consumer.pause(tp)
