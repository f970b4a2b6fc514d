"""What a provider refuses is given up in the next attempt, over real HTTP, until it accepts; and what else calls for one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from schemas.raw import RawEnd
from services.context.notices import CONTINUE
from services.context.rungs import NOTICE
from tests.provider.turns.attempts import Fussy, play, refusing, shows
from tests.provider.turns.demands import BrokenOff, Refused, sse
from tests.provider.turns.rows import ROWS
from tests.provider.turns.script import REPLY, asked

KEYS = [
    *("max_tokens", "repetition_penalty", "options", "max_context_length"),
    *("temperature", "stop", "reasoning_effort"),
]
"""What a custom endpoint's request gives up beside its stream options, in this order."""


def holding(*keys: str) -> Callable[[Any], bool]:
    return lambda body: any(key in body for key in keys)


def without(*keys: str) -> list[str]:
    """The keys in the order of the body, as Fussy tells them."""
    return ["stream_options", *keys]


UNTIL_PICTURES = [[], without(), *(without(key) for key in KEYS), without("pictures")]
UNTIL_TOOLS = [*UNTIL_PICTURES, without("tools")]
IN_ORDER_OF_THE_BODY = [
    *("max_tokens", "temperature", "repetition_penalty", "stop", "tools", "options"),
    *("max_context_length", "reasoning_effort", "pictures"),
]


@pytest.mark.parametrize(
    ("name", "refuses", "given_up"),
    [
        pytest.param(
            "custom",
            refusing(400, "Unsupported parameter: 'repetition_penalty'", holding("repetition_penalty")),
            [[], ["repetition_penalty"]],
            id="a key that is named",
        ),
        pytest.param(
            "custom",
            refusing(
                422, "temperature and max_context_length: Extra inputs are not permitted", holding("max_context_length")
            ),
            [[], ["temperature", "max_context_length"]],
            id="all keys that are named, at once",
        ),
        pytest.param(
            "custom",
            refusing(500, "image input is not supported - hint: you may need to provide the mmproj", shows),
            [[], ["pictures"]],
            id="pictures that are named",
        ),
        pytest.param(
            "custom",
            refusing(400, "Bad request.", holding("stream_options")),
            [[], without()],
            id="the stream options first",
        ),
        pytest.param(
            "custom",
            refusing(400, "Bad request.", holding("max_context_length")),
            [[], without(), *(without(key) for key in KEYS[:4])],
            id="then one key after another",
        ),
        pytest.param("custom", refusing(400, "Bad request.", shows), UNTIL_PICTURES, id="then the pictures"),
        pytest.param("custom", refusing(400, "Bad request.", holding("tools")), UNTIL_TOOLS, id="then the tools"),
        pytest.param(
            "custom",
            refusing(400, "Bad request.", lambda body: shows(body) or holding("tools", "stop")(body)),
            [*UNTIL_TOOLS, without(*IN_ORDER_OF_THE_BODY)],
            id="at last everything",
        ),
        pytest.param(
            "openrouter",
            refusing(502, "Provider returned error", holding("max_tokens")),
            [[], without(), without("max_tokens")],
            id="a bad gateway at OpenRouter",
        ),
        pytest.param(
            "nvidia",
            refusing(500, "Internal Server Error", holding("max_tokens")),
            [[], without(), without("max_tokens")],
            id="a failure at NVIDIA that says nothing",
        ),
        pytest.param(
            "anthropic",
            refusing(400, "output_config: Extra inputs are not permitted", holding("output_config")),
            [[], ["output_config"]],
            id="a key that is named at Anthropic",
        ),
        pytest.param(
            "google",
            refusing(
                400,
                'Invalid JSON payload received. Unknown name "safetySettings": Cannot find field.',
                holding("safetySettings"),
            ),
            [[], ["safetySettings"]],
            id="a key that is named at Google",
        ),
        pytest.param(
            "google",
            refusing(
                400,
                "Invalid JSON payload received. Unknown name \"temperature\" at 'generation_config': Cannot find field.",
                lambda body: "temperature" in body["generationConfig"],
            ),
            [[], ["generationConfig.temperature"]],
            id="an option that is named at Google",
        ),
    ],
)
async def test_what_is_refused_is_given_up_until_the_provider_accepts(
    name: str,
    refuses: Callable[[Any, int], Refused | None],
    given_up: list[list[str]],
    stage_of: Any,
    pictures: Any,
) -> None:
    fussy = Fussy(ROWS[name].player, refuses)
    stage = await stage_of(replace(ROWS[name], player=fussy))
    channel = await play(stage, asked(pictures.users), [stage.credential])
    assert fussy.given_up == given_up
    assert (channel.texts(), channel.notices(), channel.finished()) == ([REPLY], [], ["m1000 completed"])
    assert {request.attempt.step for request in channel.requested()[1:]} == {"same"}
    for body, lacking in zip(fussy.bodies, given_up, strict=True):
        assert (NOTICE in str(body)) == ("pictures" in lacking)


async def test_what_a_reply_cannot_do_without_is_never_given_up(stage_of: Any, pictures: Any) -> None:
    fussy = Fussy(ROWS["deepseek"].player, refusing(400, "Bad request.", lambda _: True))
    stage = await stage_of(replace(ROWS["deepseek"], player=fussy))
    channel = await play(stage, asked(pictures.users), [stage.credential])
    assert {"model", "messages", "stream", "thinking"} == fussy.bodies[-1].keys()
    assert len(fussy.bodies) == len({str(body) for body in fussy.bodies})
    assert (channel.texts(), channel.finished()) == ([], ["m1000 error"])
    assert "Bad request." in channel.notices()[0]


async def test_a_refusal_that_names_nothing_gives_up_nothing_where_refusals_say_what_they_mean(
    stage_of: Any, pictures: Any
) -> None:
    fussy = Fussy(ROWS["anthropic"].player, refusing(400, "Bad request.", lambda _: True))
    stage = await stage_of(replace(ROWS["anthropic"], player=fussy))
    channel = await play(stage, asked(pictures.users), [stage.credential])
    assert (len(fussy.bodies), channel.finished()) == (1, ["m1000 error"])


@pytest.mark.parametrize(
    ("wait_s", "step", "paused_ms"), [("2", "same", 2_000), ("60", "key", 0)], ids=["a short one", "a long one"]
)
async def test_a_wait_that_a_provider_asks_for_is_kept_or_another_key_is_taken(
    wait_s: str, step: str, paused_ms: int, stage_of: Any, pictures: Any
) -> None:
    def refuses(_: Any, call: int) -> Refused | None:
        return Refused("Slow down.", 429, retry_after=wait_s) if call == 1 else None

    fussy = Fussy(ROWS["custom"].player, refuses)
    stage = await stage_of(replace(ROWS["custom"], player=fussy))
    channel = await play(stage, asked(pictures.users), ["openai", "google"])
    assert channel.finished() == ["m1000 completed"]
    plans = [request.attempt for request in channel.requested()]
    assert [plan.step for plan in plans] == ["first", step]
    assert plans[1].paused_ms == paused_ms
    assert plans[1].earlier[0].refusal.retry_after_s == int(wait_s)
    assert fussy.bodies[0] == fussy.bodies[1]


@pytest.mark.parametrize(
    ("said", "emitted", "shown"),
    [("It was", "", [REPLY]), ("A cat!\n\nIt w", "A cat!\n\n", ["A cat!", REPLY])],
    ids=["nothing was shown", "a paragraph was shown"],
)
async def test_a_reply_that_breaks_off_is_gone_on_with_by_another_key_after_what_was_shown(
    said: str, emitted: str, shown: list[str], stage_of: Any, pictures: Any
) -> None:
    begun = sse({"choices": [{"index": 0, "delta": {"role": "assistant", "content": said}, "finish_reason": None}]})
    fussy = Fussy(ROWS["custom"].player, lambda _, call: BrokenOff(begun + b'data: {"cho') if call == 1 else None)
    stage = await stage_of(replace(ROWS["custom"], player=fussy))
    channel = await play(stage, asked(pictures.users), ["openai", "google"])
    assert [request.attempt.step for request in channel.requested()] == ["first", "key"]
    assert [raw.ending for raw, _ in stage.recorded(1) if isinstance(raw, RawEnd)] == ["reset"]
    assert (channel.texts(), channel.notices(), channel.finished()) == (shown, [], ["m1000 completed"])
    told = fussy.bodies[1]["messages"][len(fussy.bodies[0]["messages"]) :]
    going_on = [{"role": "assistant", "content": emitted}, {"role": "user", "content": CONTINUE}]
    assert told == (going_on if emitted else [])
