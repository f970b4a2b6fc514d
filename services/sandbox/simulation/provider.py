"""The simulated provider: it answers each call with a reply that follows from the conversation, a chunk at a time.

It sends on its own schedule, whether or not the other side reads, as a network does: a frozen reader finds what came
meanwhile in its buffer. Every call is recorded with what was sent until the connection was closed.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from services.provider.transport import Call, ConnectFailed, ConnectionBroken
from services.sandbox.provider.neutral import ChatMessage
from services.sandbox.provider.replies import CONTINUE_MARK
from services.sandbox.simulation.cluster import Cluster
from services.sandbox.simulation.hosts import Host

Refusing = Literal["refused", "overloaded", "limited", "picky", "vague", "gateway"]
Manner = Literal["whole", "reset", "hang", "cut", "empty", "unreachable"] | Refusing
MANNERS: tuple[Manner, ...] = (
    *("reset", "hang", "cut", "empty", "unreachable"),
    *("refused", "overloaded", "limited", "picky", "vague", "gateway"),
)
PARAGRAPHS = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """A refusal as it goes out."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


REFUSALS: Mapping[Manner, Answer] = {
    "refused": Answer(401, "no"),
    "overloaded": Answer(529, "no"),
    "limited": Answer(429, "slow down", {"retry-after": "2"}),
    "picky": Answer(400, "Unsupported parameter: 'temperature'"),
    "vague": Answer(400, "no"),
    "gateway": Answer(502, "bad gateway"),
}
"""`picky` refuses a request for as long as it has what is named."""


@dataclass(eq=False, slots=True)
class SeenCall:
    """One call as the provider saw it. `schedule` is what it sends when; `end` when it closes by itself, None never."""

    turn: str
    generation: int
    host: Host
    opened_at: float
    status: int
    schedule: list[tuple[float, bytes]]
    end: float | None
    broken: bool
    headers: Mapping[str, str]
    closed_at: float | None = None

    def sent(self) -> bytes:
        """All bytes that went out before the connection was closed."""
        until = self.closed_at if self.closed_at is not None else float("inf")
        return b"".join(data for at, data in self.schedule if at <= until)


class SimulatedProvider:
    """All calls of a run."""

    def __init__(self, cluster: Cluster, trouble: float) -> None:
        """`trouble` is the share of calls that go wrong."""
        self._cluster = cluster
        self._trouble = trouble
        self.calls: list[SeenCall] = []

    def transport(self, host: Host) -> "SimulatedTransport":
        """The way to the provider from one host."""
        return SimulatedTransport(self, self._cluster, host)

    def died(self, host: Host) -> None:
        """The kernel closes a dead process's connections."""
        now = self._cluster.loop.time()
        for call in self.calls:
            if call.host is host and call.closed_at is None:
                call.closed_at = now if call.end is None else min(now, max(call.end, call.opened_at))

    def open(self, host: Host, call: Call) -> SeenCall:
        """Take a request."""
        dice, now = self._cluster.dice, self._cluster.loop.time()
        manner: Manner = dice.choice(MANNERS) if dice.random() < self._trouble else "whole"
        if manner == "unreachable":
            raise ConnectFailed("connection refused")
        assert isinstance(call.body, bytes)  # noqa: S101 - no simulated request holds a blob
        body: dict[str, Any] = json.loads(call.body)
        reply = reply_to([_neutral(message) for message in body["messages"]])
        refusal = REFUSALS.get(manner)
        if manner == "picky" and "temperature" not in body:
            refusal = None
        if refusal is not None:
            pieces = [json.dumps({"error": {"message": refusal.message, "code": refusal.status}}).encode()]
        else:
            pieces = list(_events("" if manner == "empty" else reply, pieces=dice.randint(6, 24)))
        at = now + dice.uniform(0.05, 0.6)
        schedule: list[tuple[float, bytes]] = []
        for piece in pieces:
            schedule.append((at, piece))
            at += dice.choice((0.0, 0.001, 0.02, 0.05, dice.uniform(0.05, 0.6)))
        end: float | None = at
        if manner in ("reset", "hang", "cut"):
            keep = dice.randint(0, len(schedule) - 1)
            schedule = schedule[:keep]
            end = None if manner == "hang" else (schedule[-1][0] if schedule else now + 0.1) + 0.01
        seen = SeenCall(
            turn=call.headers["x-odradek-turn"],
            generation=int(call.headers["x-odradek-generation"]),
            host=host,
            opened_at=now,
            status=200 if refusal is None else refusal.status,
            schedule=schedule,
            end=end,
            broken=manner == "reset",
            headers={"content-type": "text/event-stream"} | ({} if refusal is None else dict(refusal.headers)),
        )
        self.calls.append(seen)
        return seen


class SimulatedTransport:
    """The provider's HTTP for one host; see `services.provider.transport.Transport`."""

    def __init__(self, provider: SimulatedProvider, cluster: Cluster, host: Host) -> None:
        self._provider = provider
        self._cluster = cluster
        self._host = host

    async def open(self, call: Call) -> "SimulatedResponse":
        """Send the request."""
        await asyncio.sleep(self._cluster.dice.uniform(0.001, 0.03))
        return SimulatedResponse(self._cluster, self._provider.open(self._host, call))


@dataclass(slots=True)
class SimulatedResponse:
    """One answer."""

    _cluster: Cluster
    _seen: SeenCall

    @property
    def headers(self) -> Mapping[str, str]:
        """The answer's headers."""
        return self._seen.headers

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._seen.status

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """What was sent, as soon as it is there."""
        loop, seen = self._cluster.loop, self._seen
        for at, data in seen.schedule:
            if at > loop.time():
                await asyncio.sleep(at - loop.time())
            yield data
        if seen.end is None:
            await loop.create_future()
        elif seen.end > loop.time():
            await asyncio.sleep(seen.end - loop.time())
        if seen.broken:
            seen.closed_at = seen.end
            raise ConnectionBroken("connection reset by peer")

    async def aclose(self) -> None:
        """Close the connection; the provider sees it at once."""
        now, seen = self._cluster.loop.time(), self._seen
        if seen.closed_at is None:
            seen.closed_at = now if seen.end is None else min(now, seen.end)


def reply_to(messages: list[ChatMessage]) -> str:
    """Five paragraphs about the last real question; after a request to go on, the rest of them.

    They are numbered, but every other reply says the same in its second, third and fourth: texts that look alike are what
    a look into the channel can mistake for one another.
    """
    question = ""
    said = ""
    for message in messages:
        if message.role == "assistant":
            said += message.text
        elif message.role == "user" and not message.text.startswith(CONTINUE_MARK):
            question, said = message.text, ""
    alike = question[-1:] in "13579"
    numbers = [2 if alike and 2 <= number <= 4 else number for number in range(1, PARAGRAPHS + 1)]
    whole = "\n\n".join(
        f"{number}. {question[-40:]} " + " ".join(f"w{number}-{word}" for word in range(12)) for number in numbers
    )
    if not messages[-1].text.startswith(CONTINUE_MARK):
        return whole
    rest = whole.removeprefix(said)
    return rest or "."


def _neutral(message: Mapping[str, Any]) -> ChatMessage:
    return ChatMessage(message["role"], str(message["content"]))


def _events(reply: str, *, pieces: int) -> list[bytes]:
    size = max(1, len(reply) // pieces)
    deltas = [reply[start : start + size] for start in range(0, len(reply), size)]
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"content": delta}}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"]
