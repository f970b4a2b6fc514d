"""Times the steps from a channel's messages to a request, apart and together, and how they grow with what they read."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from time import process_time

from schemas.chunks import Dialect
from schemas.context import NeutralContext
from services.catalog.target import ModelFacts, ProviderName, Target
from services.context.building.build import build
from services.context.building.record import what_was_read
from services.context.media.places import Replacements, places, replaced
from services.context.render import render
from services.sandbox.benchmark.assembling.channels import Channel, made_up, repeated
from services.sandbox.benchmark.assembling.hostile import HOSTILE_TEXTS, LONG, SHORT, hostile_text
from services.sandbox.benchmark.machine import Machine, this_machine
from services.sandbox.benchmark.quantiles import Quantiles, in_ms, quantile

Say = Callable[[str], None]
ROUNDS = 500
LEAST_OF = 15
"""Rounds of which the least counts, where two sizes are compared."""
MESSAGES, AUTHORS = 100, 8
HOSTILE_MESSAGES = 10

_PROVIDERS: Mapping[Dialect, ProviderName] = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "novelai": "novelai",
}


@dataclass(frozen=True, slots=True)
class Step:
    """CPU time of one step. `ratio`: its median over that of the reference in the same run."""

    ms: Quantiles
    ratio: float


@dataclass(frozen=True, slots=True)
class Growth:
    """How many times longer 1,000 messages take to be built and rendered than 100; 10 is what is linear.

    `few_authors`: each message's author is drawn from 8 people; `many_authors`: from as many as there are messages.
    """

    few_authors: float
    many_authors: float


@dataclass(frozen=True, slots=True)
class Hostile:
    """What a message of 4,000 characters takes to be built, and how many times longer that is than one of 2,000."""

    ms: float
    doubled: float


@dataclass(frozen=True, slots=True)
class ContextReport:
    """One run. `reference`: the same messages written as JSON by the standard library. `together`: build, record, leave out
    the pictures of emojis, render for chat completions; `many_authors` is that where authors are drawn from as many people
    as there are messages, of whom somewhat more than half say anything.
    """

    command: str
    machine: Machine
    messages: int
    authors: int
    characters: int
    reference_ms: Quantiles
    build: Step
    record: Step
    render: Mapping[Dialect, Step]
    together: Step
    many_authors: Step
    growth: Growth
    hostile: Mapping[str, Hostile]


def measure_assembling(*, command: str, say: Say) -> ContextReport:
    """Time everything. CPU time of this process counts, with what its collector of cycles takes."""
    machine = this_machine()
    few, crowd = made_up(MESSAGES, AUTHORS), made_up(MESSAGES, MESSAGES)
    plain = [asdict(message) for message in few.messages]
    built = build(few.scene, few.messages)
    seen = without_pictures(built.context)
    say(f"{MESSAGES} messages of {AUTHORS} people")
    works: dict[str, Callable[[], object]] = {
        "reference": partial(json.dumps, plain),
        "build": partial(build, few.scene, few.messages),
        "record": partial(what_was_read, built),
        "together": partial(assemble, few),
        "many_authors": partial(assemble, crowd),
        **{dialect: partial(render, seen, _target(dialect)) for dialect in _PROVIDERS},
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        # A round times all, since a machine's pace changes.
        for name, work in works.items():
            times[name].append(_seconds(work))
    reference_s = quantile(times["reference"], 0.5)
    steps = {name: Step(in_ms(taken), round(quantile(taken, 0.5) / reference_s, 1)) for name, taken in times.items()}
    say("growth, and hostile texts")
    return ContextReport(
        command,
        machine,
        MESSAGES,
        AUTHORS,
        sum(len(message.content) for message in few.messages),
        steps["reference"].ms,
        steps["build"],
        steps["record"],
        {dialect: steps[dialect] for dialect in _PROVIDERS},
        steps["together"],
        steps["many_authors"],
        Growth(_over(made_up(10 * MESSAGES, AUTHORS), few), _over(made_up(10 * MESSAGES, 10 * MESSAGES), crowd)),
        {name: _hostile(name) for name in HOSTILE_TEXTS},
    )


def assemble(channel: Channel) -> None:
    """What the context worker does of a channel for a chat completion."""
    built = build(channel.scene, channel.messages)
    what_was_read(built)
    render(without_pictures(built.context), _target("openai-chat"))


def without_pictures(context: NeutralContext) -> NeutralContext:
    """The context as its media are resolved for a model that sees none: custom emojis stay in the text alone."""
    pictures: Replacements = {id(place.part): () for place in places(context)}
    return replaced(context, pictures)


def _target(dialect: Dialect) -> Target:
    return Target(_PROVIDERS[dialect], dialect, ModelFacts("m", has_tools=True, context_window=200_000))


def _over(more: Channel, less: Channel) -> float:
    longer, shorter = _least([partial(_build_and_render, more), partial(_build_and_render, less)])
    return round(longer / shorter, 1)


def _build_and_render(channel: Channel) -> None:
    render(without_pictures(build(channel.scene, channel.messages).context), _target("openai-chat"))


def _hostile(name: str) -> Hostile:
    channels = [repeated(hostile_text(name, length), HOSTILE_MESSAGES) for length in (SHORT, LONG)]
    short_s, long_s = _least([partial(build, one.scene, one.messages) for one in channels])
    return Hostile(round(long_s / HOSTILE_MESSAGES * 1000, 3), round(long_s / short_s, 2))


def _least(works: Sequence[Callable[[], object]]) -> list[float]:
    """The least of some rounds for each, since others disturb and never help."""
    times = [[_seconds(work) for work in works] for _ in range(LEAST_OF)]
    return [min(column) for column in zip(*times, strict=True)]


def _seconds(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began
