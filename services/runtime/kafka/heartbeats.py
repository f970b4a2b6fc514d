"""How long ago a member's place in its group was last confirmed, which aiokafka knows and does not tell.

What counts is when the request was *sent*: a process that was frozen reads an old answer late. Heartbeats count, also
those that are answered by a rebalance, since the member is still one. A join counts only once its assignment has been
told (`joined`), or a process that comes back would look fresh before it knows what it has lost. Commits do not count: one
by an evicted member of an empty group succeeds.
"""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportPrivateUsage=false

import time
from math import inf
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import IllegalGenerationError, NoError, RebalanceInProgressError, UnknownMemberIdError
from aiokafka.protocol.group import HeartbeatRequest, SyncGroupRequest

_CONFIRMS = frozenset({NoError.errno, RebalanceInProgressError.errno})
_DENIES = frozenset({UnknownMemberIdError.errno, IllegalGenerationError.errno})
_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that also runs while the machine sleeps, where there is one."""


class Confirmations:
    """Listens to what the coordinator answers to one consumer."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self._confirmed = -inf
        self._join_sent = -inf
        client: Any = consumer._client
        send = client.send

        async def listening(node: Any, request: Any, **options: Any) -> Any:
            sent = time.clock_gettime(_CLOCK)
            answer = await send(node, request, **options)
            if isinstance(request, HeartbeatRequest):
                self._heartbeat(answer.error_code, sent)
            elif isinstance(request, SyncGroupRequest) and answer.error_code == NoError.errno:
                self._join_sent = sent
            return answer

        client.send = listening

    def _heartbeat(self, code: int, sent: float) -> None:
        if code in _CONFIRMS:
            self._confirmed = max(self._confirmed, sent)
        elif code in _DENIES:
            self.denied()

    def joined(self) -> None:
        """The assignment that came with the last join has been told."""
        self._confirmed = max(self._confirmed, self._join_sent)

    def denied(self) -> None:
        """The member is none any more."""
        self._confirmed = self._join_sent = -inf

    def age_s(self) -> float:
        """Seconds since the last confirmed request was sent; infinite where there is none."""
        return time.clock_gettime(_CLOCK) - self._confirmed
