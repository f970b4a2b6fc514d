"""A neutral context as a request for NovelAI: completions for GLM, a story's stream for Kayra and Erato.

https://text.novelai.net/docs
"""

from collections.abc import Mapping
from urllib.parse import urlunsplit

from schemas.context import GenerationOptions, NeutralContext, SamplingParameter
from schemas.prompts import KnownTool
from services.catalog.target import Target
from services.context.dialects.generation import bounded
from services.context.dialects.novelai.glm_prompt import ROLE_STOPS, THINK_END, glm_prompt
from services.context.dialects.novelai.items import begun, said, told
from services.context.dialects.novelai.story import story
from services.context.dialects.offered_tools import offered_tools
from services.context.dialects.shown import Notes, media_places
from services.context.habits.endpoint import split_base
from services.context.habits.row import Habits
from services.context.habits.table import habits_of
from services.context.neutral.sampling import sampling
from services.context.neutral.stops import MOST_STOPS, stop_strings
from services.context.neutral.thinking import thinking_level
from services.context.rendered import NativeValue, Rendered
from services.context.tools.declaring import declare, known_tools

GLM_WINDOW = 12_288
"""Tokens of prompt and reply."""

MOST_STORY_TOKENS = 150
"""Tokens of one request to a story's stream."""

_CHARACTERS_PER_TOKEN = 2.5
_SAFE_SHARE = 0.95
_LEAST_REPLY = 50
_GLM_TOKENS = 4096
_GLM_PATH = "/oa/v1/completions"
_STORY_PATH = "/ai/generate-stream"


def build(context: NeutralContext, target: Target) -> Rendered:
    """The request. Which of the endpoints is told by the model's name; raises UnusableTarget for a bad base URL."""
    row, notes = habits_of(target), Notes(places=media_places(context.items))
    is_glm = target.model.codename.startswith("glm-")
    known: tuple[KnownTool, ...] = ()
    if is_glm:
        body, known = _glm(context, target, row, notes)
    else:
        body = _story(context, target, notes)
    return Rendered(
        url=_url(target, row, _GLM_PATH if is_glm else _STORY_PATH),
        headers={"accept": "text/event-stream", **row.headers},
        body=body,
        warnings=tuple(notes.warnings),
        mandatory=frozenset({"model", "prompt", "stream", "input", "parameters"}) & body.keys(),
        added=tuple(name for name in row.defaults if name in body and getattr(context.options, name) is None),
        skipped_images=tuple(notes.skipped),
        known_tools=known,
    )


def _glm(
    context: NeutralContext, target: Target, row: Habits, notes: Notes
) -> tuple[dict[str, NativeValue], tuple[KnownTool, ...]]:
    """The body, and the tools that its prompt tells of."""
    options, parts = context.options, told(context.items)
    dialogue, opening = begun(context, parts.dialogue, said(parts.dialogue, notes))
    declared = declare(offered_tools(context, target.model, notes), target.dialect)
    notes.warnings += declared.warnings
    thinks = thinking_level(options) != "none"
    prompt = glm_prompt(
        "\n\n".join(parts.system),
        dialogue,
        context.function_history,
        tools=declared.native,
        opening=opening,
        thinks=thinks,
        notes=notes,
    )
    # A stop at the end of thoughts would end a reply that begins with them.
    specialised = ROLE_STOPS if thinks and not opening else (*ROLE_STOPS, THINK_END)
    stops = stop_strings(
        options, specialised=specialised, most=MOST_STOPS[target.provider], with_speaker=row.speaker_stop
    )
    notes.warnings += stops.warnings
    body: dict[str, NativeValue] = {
        "model": target.model.codename,
        "prompt": prompt,
        "stream": True,
        "max_tokens": _room(prompt, target, row, options, notes),
        **_sampling(options, target, row.defaults, notes),
        "stop": [*stops.strings],
    }
    return body, known_tools(declared.native)


def _story(context: NeutralContext, target: Target, notes: Notes) -> dict[str, NativeValue]:
    options, parts = context.options, told(context.items)
    dialogue, opening = begun(context, parts.dialogue, said(parts.dialogue, notes))
    text = story("\n\n".join(parts.system), dialogue, persona=options.persona_name, opening=opening)
    if context.tools and options.tools_enabled:
        notes.warn("tools_dropped", "tools", "the model calls no tools")
    if options.stop_strings:
        # This endpoint takes stops as tokens, which only the model's tokenizer makes.
        notes.warn("stop_strings_cut", "options.stop_strings", "the endpoint takes no stop strings")
    asked = options.max_output_tokens or MOST_STORY_TOKENS
    if asked > MOST_STORY_TOKENS:
        most = f"the endpoint writes {MOST_STORY_TOKENS} tokens at most"
        notes.warn("parameter_clamped", "options.max_output_tokens", most)
    parameters: dict[str, NativeValue] = {
        "use_string": True,
        "max_length": min(asked, MOST_STORY_TOKENS),
        "min_length": 1,
        **_sampling(options, target, {}, notes),
    }
    return {"input": text, "model": target.model.codename, "parameters": parameters}


def _sampling(
    options: GenerationOptions, target: Target, defaults: Mapping[SamplingParameter, float], notes: Notes
) -> dict[str, NativeValue]:
    """The user's parameters, and the provider's usual ones in the place of those that the user left alone."""
    sampled = sampling(options, target)
    notes.warnings += sampled.warnings
    values: dict[SamplingParameter, float] = {
        name: value
        for name, value in defaults.items()
        if getattr(options, name) is None and name not in options.disabled_parameters
    }
    values.update(sampled.values)
    return {name: int(value) if name == "top_k" else value for name, value in values.items()}


def _room(prompt: str, target: Target, row: Habits, options: GenerationOptions, notes: Notes) -> int:
    """The longest reply, cut to what the prompt leaves of the window, but never to nothing."""
    asked = bounded(options, target, row, notes) or _GLM_TOKENS
    window = target.model.context_window or GLM_WINDOW
    left = max(_LEAST_REPLY, int((window - len(prompt) / _CHARACTERS_PER_TOKEN) * _SAFE_SHARE))
    if asked > left and options.max_output_tokens is not None:
        notes.warn("parameter_clamped", "options.max_output_tokens", f"the context leaves {left} tokens")
    return min(asked, left)


def _url(target: Target, row: Habits, path: str) -> str:
    base = split_base(target.base_url or row.base_url or "")
    return urlunsplit((base.scheme, base.netloc, base.path.rstrip("/").removesuffix(path) + path, "", ""))
