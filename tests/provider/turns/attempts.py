"""A turn of several attempts: the fold decides, context renders, the provider worker sends, the normalizer reads."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.attempts import NO_ATTEMPT_LEFT, Chosen
from schemas.context import NeutralContext
from schemas.raw import RawSlice
from services.context.building.tail import opening
from services.context.choosing import choose
from services.normalizer.streams import Counted, Streams
from services.orchestrator.rules import RULES
from tests.orchestrator.conftest import Channel
from tests.provider.turns.demands import Player, Refused
from tests.provider.turns.stage import Stage


@dataclass
class Fussy:
    """Refuses some bodies, and answers to the others as `plain` does; `bodies` are all that came, in order."""

    plain: Player
    refuses: Callable[[Any, int], Exception | None]
    bodies: list[Any] = field(default_factory=list[Any])

    @property
    def url(self) -> str:
        return self.plain.url

    @property
    def continued_url(self) -> str | None:
        return self.plain.continued_url

    @property
    def key_header(self) -> str:
        return self.plain.key_header

    @property
    def headers(self) -> Mapping[str, str]:
        return self.plain.headers

    def answer(self, body: Any) -> bytes:
        self.bodies.append(body)
        refused = self.refuses(body, len(self.bodies))
        if refused is not None:
            raise refused
        return self.plain.answering()

    def answering(self, *, rest: bool = False) -> bytes:
        return self.plain.answering(rest=rest)

    def refusal(self, why: str) -> bytes:
        return self.plain.refusal(why)

    @property
    def given_up(self) -> list[list[str]]:
        """What each body lacks of the first: keys, those of Google's options too, and its pictures."""
        first = self.bodies[0]
        return [
            [key for key in _keys(first) if key not in _keys(body)]
            + (["pictures"] if shows(first) and not shows(body) else [])
            for body in self.bodies
        ]


def _keys(body: Any) -> list[str]:
    return [*body, *(f"generationConfig.{key}" for key in body.get("generationConfig", ()))]


def shows(body: Any) -> bool:
    """Whether a picture's bytes are in the body."""
    return "iVBORw0KGgo" in json.dumps(body)


def refusing(status: int, message: str, holds: Callable[[Any], bool]) -> Callable[[Any, int], Refused | None]:
    """Refuses every body that holds something."""
    return lambda body, _: Refused(message, status) if holds(body) else None


async def play(stage: Stage, context: NeutralContext, keys: Sequence[str]) -> Channel:
    """Play a turn to its end; `keys` are the names of those that there are for the model."""
    target = stage.row.target
    candidates = [Chosen(provider=stage.row.asked_as, model=target.model.codename, credential=key) for key in keys]
    channel, streams = Channel(rules=max(RULES)), Streams[None]()
    channel.message(1000)
    made = 0
    while not channel.finished():
        if len(channel.requested()) == made:
            channel.wait()
            continue
        request = channel.requested()[made]
        made += 1
        chosen = choose(request.attempt, candidates)
        if chosen is None:
            channel.failed(NO_ATTEMPT_LEFT)
            channel.receive_all()
            continue
        going_on = opening(request.emitted, "", is_answerable=True)
        await stage.send(request, context.model_copy(update={"items": (*context.items, *going_on)}), chosen)
        for raw, data in stage.recorded(request.generation):
            read = (
                streams.slice(raw, data, lambda: None) if isinstance(raw, RawSlice) else streams.end(raw, channel.now)
            )
            assert isinstance(read, Counted)
            channel.tell(read.batch)
        channel.receive_all()
    return channel
