"""The whole request: instructions and items, then the body's keys by the provider's habits."""

from schemas.context import NeutralContext
from services.catalog.target import Target
from services.context.dialects.generation import bounded, generation, thinking_rule
from services.context.dialects.messages import assistant_message, dialogue_messages
from services.context.dialects.offered_tools import declared_tools
from services.context.dialects.opening import reply_opening
from services.context.dialects.responses.items import exchange_items, part
from services.context.dialects.shown import Eyes, Notes, media_places
from services.context.habits.endpoint import request_url
from services.context.habits.row import Habits
from services.context.habits.table import habits_of
from services.context.neutral.partition import partition
from services.context.neutral.stops import stop_strings
from services.context.rendered import NativeValue, Rendered

MANDATORY = frozenset({"model", "input", "instructions", "stream", "store"})
_ENCRYPTED = "reasoning.encrypted_content"
_ACCEPT = {"accept": "text/event-stream"}


def build(context: NeutralContext, target: Target) -> Rendered:
    """The request. Raises UnusableTarget.

    The provider keeps nothing (`store` is false), so a model that reasons is asked for its reasoning in encrypted form,
    to be sent back with the results of its calls. The API knows neither stop strings nor a bias of tokens.
    """
    habits = habits_of(target)
    notes = Notes(places=media_places(context.items))
    options, model = context.options, target.model
    said = partition(context.items)
    eyes = Eyes(model.sees_images)
    items = [
        *dialogue_messages(said.dialogue, eyes, notes, part),
        *exchange_items(context.function_history, eyes, notes),
        *assistant_message(reply_opening(context, said.dialogue)),
    ]
    body: dict[str, NativeValue] = {"model": model.codename, "input": [*items], "stream": True, "store": False}
    if said.system:
        body["instructions"] = "\n\n".join(said.system)
    added: list[str] = []
    length = bounded(options, target, habits, notes)
    if length is not None:
        body["max_output_tokens"] = length
        if options.max_output_tokens is None:
            added.append("max_output_tokens")
    made = generation(options, target, habits, notes)
    body.update(made.sampling)
    notes.warnings += stop_strings(options, universal=(), most=0).warnings
    for index in range(len(options.logit_bias)):
        notes.warn("parameter_dropped", f"options.logit_bias[{index}]", "the responses API knows no bias of tokens")
    if tools := declared_tools(context, target, notes):
        body["tools"] = tools
    body.update(made.thinking)
    if _reasons(habits, target):
        body["include"] = [_ENCRYPTED]
        added.append("include")
    return Rendered(
        url=request_url(habits, target.base_url),
        headers={**_ACCEPT, **habits.headers},
        body=body,
        warnings=tuple(notes.warnings),
        mandatory=MANDATORY & body.keys(),
        added=tuple(added),
        skipped_images=tuple(notes.skipped),
    )


def _reasons(habits: Habits, target: Target) -> bool:
    """Whether the model reasons; one that does not refuses to be asked for encrypted reasoning."""
    rule = thinking_rule(habits, target)
    return target.model.is_reasoning or (rule is not None and bool(rule.levels))
