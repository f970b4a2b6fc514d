"""A neutral context as a request for Google's streamGenerateContent.

https://ai.google.dev/api/generate-content
"""

from schemas.context import NeutralContext
from services.catalog.target import Target
from services.context.dialects.generation import bounded
from services.context.dialects.google.contents import PREAMBLE, content, dialogue_contents, system_text
from services.context.dialects.google.exchanges import exchange_contents
from services.context.dialects.google.generation import SAFETY_SETTINGS, sampling_keys, thinking_config
from services.context.dialects.google.media import Media
from services.context.dialects.google.models import Habits, habits
from services.context.dialects.google.urls import request_url
from services.context.dialects.offered_tools import offered_tools
from services.context.dialects.opening import reply_opening
from services.context.dialects.shown import Notes, media_places
from services.context.habits.row import Habits as ProviderHabits
from services.context.habits.table import habits_of
from services.context.neutral.partition import Partitioned, partition
from services.context.neutral.sampling import sampling
from services.context.neutral.stops import MOST_STOPS, stop_strings
from services.context.rendered import NativeValue, Rendered
from services.context.strict_chat import OPENING
from services.context.tools.declaring import declare

_MANDATORY = frozenset({"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"})
_MOST_OUTPUT_TOKENS = 8192


def build(context: NeutralContext, target: Target) -> Rendered:
    """The request; raises UnusableTarget where no address can be made."""
    row, model = habits_of(target), habits(target.model.codename)
    notes = Notes(places=media_places(context.items))
    said = partition(context.items)
    system = system_text(said.system)
    body: dict[str, NativeValue] = {
        "contents": _contents(context, said, target, model, notes),
        "generationConfig": _config(context, target, row, model, notes),
        "safetySettings": [{**setting} for setting in SAFETY_SETTINGS],
    }
    if system and model.takes_system:
        body["systemInstruction"] = {"role": "user", "parts": [{"text": system}]}
    body |= _tools(context, target, notes)
    return Rendered(
        url=request_url(target, row),
        headers={"accept": "text/event-stream", **row.headers},
        body=body,
        warnings=tuple(notes.warnings),
        mandatory=_MANDATORY & body.keys(),
        added=("safetySettings",),
        skipped_images=tuple(notes.skipped),
    )


def _contents(
    context: NeutralContext, said: Partitioned, target: Target, model: Habits, notes: Notes
) -> list[NativeValue]:
    """The conversation in its order: dialogue, tool calls of this turn, and how the reply begins."""
    media = Media(target, notes)
    contents: list[NativeValue] = []
    if said.system and not model.takes_system:
        contents.append(content("user", [{"text": f"{PREAMBLE}\n\n{system_text(said.system)}"}]))
    contents += dialogue_contents(said.dialogue, media)
    contents += exchange_contents(context.function_history, model, media)
    if text := reply_opening(context, said.dialogue):
        contents.append(content("model", [{"text": text}]))
    return contents or [content("user", [{"text": OPENING}])]


def _tools(context: NeutralContext, target: Target, notes: Notes) -> dict[str, NativeValue]:
    """`tools`, and `toolConfig` where the model may only look back at them: calls keep their declarations."""
    tools = offered_tools(context, target.model, notes)
    looks_back = not tools and target.model.has_tools and bool(context.function_history)
    declared = declare(context.tools if looks_back else tools, target.dialect)
    notes.warnings += declared.warnings
    if not declared.native:
        return {}
    native: dict[str, NativeValue] = {"tools": [{**tool} for tool in declared.native]}
    return {**native, "toolConfig": {"functionCallingConfig": {"mode": "NONE"}}} if looks_back else native


def _config(
    context: NeutralContext, target: Target, row: ProviderHabits, model: Habits, notes: Notes
) -> dict[str, NativeValue]:
    options = context.options
    config = sampling_keys(sampling(options, target), model, notes)
    longest = bounded(options, target, row, notes) or _MOST_OUTPUT_TOKENS
    config["maxOutputTokens"] = longest
    stops = stop_strings(options, most=MOST_STOPS[target.provider], with_speaker=row.speaker_stop)
    notes.warnings += stops.warnings
    if stops.strings:
        config["stopSequences"] = [*stops.strings]
    if thinking := thinking_config(options, model, longest, notes):
        config["thinkingConfig"] = thinking
    return config
