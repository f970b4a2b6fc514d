"""The whole request: messages, then the body's keys by the provider's habits."""

from collections.abc import Sequence

from schemas.context import LogitBias, NeutralContext
from services.catalog.target import Target
from services.context.dialects.chat_completions.exchanges import exchange_messages
from services.context.dialects.chat_completions.gating import known_only, room_for_reply
from services.context.dialects.chat_completions.messages import part, system_messages
from services.context.dialects.generation import bounded, generation
from services.context.dialects.messages import assistant_message, dialogue_messages
from services.context.dialects.offered_tools import declared_tools
from services.context.dialects.opening import is_continued, reply_opening
from services.context.dialects.shown import Eyes, Notes, media_places
from services.context.habits.endpoint import request_url, server_of
from services.context.habits.row import Habits
from services.context.habits.table import habits_of
from services.context.neutral.partition import partition
from services.context.neutral.stops import MOST_STOPS, stop_strings
from services.context.rendered import NativeValue, Rendered
from services.context.strict_chat import (
    Message,
    alternate,
    enables_prefix_completion,
    enforces_alternation,
    mark_prefix,
)

MANDATORY = frozenset({"model", "messages", "stream"})
_ACCEPT = {"accept": "text/event-stream"}


def build(context: NeutralContext, target: Target) -> Rendered:
    """The request. Raises UnusableTarget."""
    habits = habits_of(target)
    notes = Notes(places=media_places(context.items))
    messages, continues = _messages(context, target, habits, notes)
    options, model = context.options, target.model
    made = generation(options, target, habits, notes)
    body: dict[str, NativeValue] = {
        "model": model.codename.removeprefix(habits.model_prefix),
        "messages": [*messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    added = ["stream_options"]
    length = bounded(options, target, habits, notes)
    if length is not None:
        body[habits.chat.length_key] = length
        if options.max_output_tokens is None:
            added.append(habits.chat.length_key)
    body.update(made.sampling)
    added += made.defaulted
    if bias := _logit_bias(options.logit_bias, notes):
        body["logit_bias"] = bias
    most = MOST_STOPS[target.provider] if made.takes_stops else 0
    stops = stop_strings(options, most=most, with_speaker=habits.speaker_stop)
    notes.warnings += stops.warnings
    if stops.strings:
        body["stop"] = [*stops.strings]
    if tools := declared_tools(context, target, notes):
        body["tools"] = tools
        if habits.chat.tool_stream:
            body["tool_stream"] = True
            added.append("tool_stream")
        if habits.chat.require_parameters:
            body["provider"] = {"require_parameters": True}
            added.append("provider")
    if habits.chat.context_size and target.num_ctx is not None:
        body["options"] = {"num_ctx": target.num_ctx}
        body["max_context_length"] = target.num_ctx
        added += ("options", "max_context_length")
    body.update(made.thinking)
    if habits.chat.gated:
        known_only(body, model, added, notes)
        room_for_reply(body, model, asked=options.max_output_tokens is not None, notes=notes)
    return Rendered(
        url=request_url(habits, target.base_url, continuing=continues),
        headers={**_ACCEPT, **habits.headers},
        body=body,
        warnings=tuple(notes.warnings),
        mandatory=(MANDATORY | habits.mandatory) & body.keys(),
        added=tuple(key for key in added if key in body),
        skipped_images=tuple(notes.skipped),
    )


def _messages(context: NeutralContext, target: Target, habits: Habits, notes: Notes) -> tuple[list[Message], bool]:
    """The messages, and whether the reply continues the last one."""
    model, chat = target.model, habits.chat
    eyes = Eyes(model.sees_images, chat.videos and model.sees_videos, chat.videos and model.sees_youtube)
    said = partition(context.items)
    server = server_of(habits, target.base_url)
    in_band = chat.system_in_band is not None and chat.system_in_band.fullmatch(server) is not None
    messages = [
        *system_messages(said.system, in_band=in_band),
        *dialogue_messages(said.dialogue, eyes, notes, part),
        *exchange_messages(context.function_history, chat, eyes, notes),
        *assistant_message(reply_opening(context, said.dialogue)),
    ]
    if enforces_alternation(target):
        messages = alternate(messages)
    if not (enables_prefix_completion(target) and is_continued(context, said.dialogue)):
        return messages, False
    return mark_prefix(messages), True


def _logit_bias(biases: Sequence[LogitBias], notes: Notes) -> dict[str, NativeValue]:
    """Biases of token ids; which tokens a text has only the model's tokenizer knows, so a text is left out."""
    made: dict[str, NativeValue] = {}
    for index, bias in enumerate(biases):
        if bias.text.isascii() and bias.text.isdigit():
            made[bias.text] = bias.bias
        else:
            notes.warn("parameter_dropped", f"options.logit_bias[{index}]", "a text has no known token id")
    return made
