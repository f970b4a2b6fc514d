"""How old the proof of a membership is: by when the request was sent, and never before its loss is known."""

import asyncio
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import NoError, RebalanceInProgressError, UnknownMemberIdError
from aiokafka.protocol.group import HeartbeatRequest, SyncGroupRequest
from aiokafka.protocol.metadata import MetadataRequest

from services.runtime.kafka import heartbeats as module
from services.runtime.kafka.heartbeats import Confirmations

HEARTBEAT = HeartbeatRequest("group", 1, "member")
JOIN = SyncGroupRequest("group", 1, "member", None, [])


class Coordinator:
    """Answers as it is told, after the time that it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.code = NoError.errno
        self.takes_s = 0.0
        monkeypatch.setattr(module.time, "clock_gettime", self._time)
        consumer: Any = SimpleNamespace(_client=SimpleNamespace(send=self._answer))
        self.confirmations = Confirmations(consumer)
        self.send = consumer._client.send

    def _time(self, _: int) -> float:
        return self.now

    async def _answer(self, node: int, request: object) -> object:
        self.now += self.takes_s
        return SimpleNamespace(error_code=self.code)


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    return Coordinator(monkeypatch)


async def test_an_answer_that_was_read_late_counts_from_when_its_heartbeat_was_sent(coordinator: Coordinator) -> None:
    coordinator.takes_s = 60.0
    await coordinator.send(1, HEARTBEAT)
    assert coordinator.confirmations.age_s() == 60.0


async def test_a_heartbeat_during_a_rebalance_is_a_members(coordinator: Coordinator) -> None:
    coordinator.code = RebalanceInProgressError.errno
    await coordinator.send(1, HEARTBEAT)
    assert coordinator.confirmations.age_s() == 0.0


async def test_a_member_that_was_thrown_out_is_none_from_the_answer_on(coordinator: Coordinator) -> None:
    await coordinator.send(1, HEARTBEAT)
    coordinator.code = UnknownMemberIdError.errno
    await coordinator.send(1, HEARTBEAT)
    assert coordinator.confirmations.age_s() == inf


async def test_a_join_counts_once_its_assignment_was_told(coordinator: Coordinator) -> None:
    await coordinator.send(1, JOIN)
    coordinator.now += 2.0
    assert coordinator.confirmations.age_s() == inf
    coordinator.confirmations.joined()
    assert coordinator.confirmations.age_s() == 2.0


async def test_other_answers_confirm_nothing(coordinator: Coordinator) -> None:
    await coordinator.send(1, MetadataRequest([]))
    assert coordinator.confirmations.age_s() == inf


async def test_a_member_of_a_real_group_is_confirmed_again_and_again_until_it_leaves(
    cluster: Any, notebook: Any
) -> None:
    member = await cluster.member(notebook())
    assert member.reader.heartbeat_age_s() == inf
    await member.feed.served_once.wait()
    for _ in range(2):
        seen_s = asyncio.get_running_loop().time()
        # Only a request that was sent after `seen_s` can be younger than the time that has passed since.
        while member.reader.heartbeat_age_s() >= asyncio.get_running_loop().time() - seen_s:
            await asyncio.sleep(0)
    await member.stop(finish_s=0.2)
    assert member.reader.heartbeat_age_s() == inf
