"""What is known of a provider: the type of a row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from schemas.chunks import Dialect
from schemas.context import SamplingParameter, ThinkingLevel
from schemas.prompts import Placement
from services.catalog.target import ProviderName


@dataclass(frozen=True, slots=True)
class ThinkingRule:
    """What a thinking level is called for some models.

    `models` matches the whole name of the model as the provider knows it, `hosts` the host of the base URL. `levels` are
    the keys of the body that a level adds; a level without an entry adds none. At the levels `unsampled`, sampling
    parameters `omits` are left out since the provider refuses or ignores them; so are stop strings if `omits_stops`.
    """

    levels: Mapping[ThinkingLevel, Mapping[str, JsonValue]]
    models: re.Pattern[str] = re.compile(r".*", re.DOTALL)
    hosts: re.Pattern[str] = re.compile(r".*", re.DOTALL)
    unsampled: frozenset[ThinkingLevel] = frozenset()
    omits: frozenset[SamplingParameter] = frozenset({"temperature", "top_p", "frequency_penalty", "presence_penalty"})
    omits_stops: bool = False


@dataclass(frozen=True, slots=True)
class ChatHabits:
    """How servers that speak chat completions differ.

    `length_key` is what the bound of the reply is called. `empty_content` stands for the text of a tool-calling turn that
    has none. `reasoning_content`: such turns always carry the key, empty if there was no reasoning. `signature` is where a
    call's thought signature goes. `continuing_base_url` is the provider's own base for requests that continue a turn.
    `tool_stream`: arguments are streamed only if asked for. `require_parameters`: a router is told to choose servers that
    know all parameters of a request with tools. `gated`: parameters that the model is known not to take are left out.
    `context_size`: the server is told the context's size. `system_in_band`: hosts to which system text is told as a first
    user turn.
    """

    length_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    empty_content: Literal[""] | None = ""
    reasoning_content: bool = False
    signature: Literal["extra_content", "thought_signature"] = "extra_content"
    videos: bool = False
    continuing_base_url: str | None = None
    tool_stream: bool = False
    require_parameters: bool = False
    gated: bool = False
    context_size: bool = False
    system_in_band: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Habits:
    """One provider in one dialect.

    `base_url` is the provider's own, with its version; None where only the user can say it. `path` follows it. `placement`
    is where the key goes. `max_tokens` bounds the reply where the user does not, or else the model's own most does,
    cut to `most_tokens`. `speaker_stop` is whether the persona's own label may be a stop string. `defaults` are sampling
    parameters that are sent unless the user set or disabled them. `mandatory` are body keys that shape the reply, beside
    those of the dialect. `model_prefix` is cut off the model's name. Stop limits and sampling parameters of a provider
    stand in services.context.neutral; `sampling` are those that it takes in this dialect, if it takes fewer.
    """

    provider: ProviderName
    dialect: Dialect
    base_url: str | None
    path: str
    placement: Placement = "bearer"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    max_tokens: int | None = None
    most_tokens: int | None = None
    speaker_stop: bool = True
    sampling: frozenset[SamplingParameter] = frozenset()
    defaults: Mapping[SamplingParameter, float] = field(default_factory=dict[SamplingParameter, float])
    thinking: tuple[ThinkingRule, ...] = ()
    mandatory: frozenset[str] = frozenset()
    model_prefix: str = ""
    chat: ChatHabits = ChatHabits()
