"""Dropping the oldest history when a context is longer than its model takes in.

A token counts as four characters, and a tenth of the window stays free, since nobody can count a provider's tokens without
its tokenizer. Pictures count nothing: what they cost depends on the model, and few are shown.
"""

from dataclasses import dataclass

from schemas.context import GenerationOptions, NeutralContext, StructuredContextItem, TextPart
from services.context.json_text import json_text
from services.context.rendered import RenderWarning

CHARACTERS_PER_TOKEN = 4
DEFAULT_RESERVE = 8192
"""Tokens kept for the reply where neither user nor provider says how many."""
PAIRS_PER_RETRY = 2
"""Pairs dropped beyond the need for each retry of a reply that was empty because it ran out of length."""


@dataclass(frozen=True, slots=True)
class Truncated:
    """`estimated_tokens` is what `context` is taken to cost, `most_tokens` what is safe; None: nobody knows the window.

    A context that does not fit even so cannot be sent: all that is left is protected.
    """

    context: NeutralContext
    estimated_tokens: int
    most_tokens: int | None
    dropped: int = 0
    warnings: tuple[RenderWarning, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the context may be sent."""
        return self.most_tokens is None or self.estimated_tokens <= self.most_tokens


def output_reserve(options: GenerationOptions, *, ceiling: int | None, default: int = DEFAULT_RESERVE) -> int:
    """Tokens of the reply: what the user asks for, else the provider's `default`, never above the model's ceiling.

    A request that states its output limit states this number, so that what is reserved is what is sent.
    """
    asked = options.max_output_tokens or default
    return asked if ceiling is None else max(1, min(asked, ceiling))


def truncate(context: NeutralContext, *, window: int | None, reserve: int, retries: int = 0) -> Truncated:
    """The context without as much of its oldest history as keeps it from fitting.

    `window`: tokens that the model takes in and gives out together. A user's history item goes with the model's that
    follow it. The newest user's item stays, with all after it, and so does everything that is not history: system text,
    samples, notes, tools and what was said of them. `retries` drops more: see PAIRS_PER_RETRY.
    """
    most = None if window is None else max(0, (window - reserve) * 9 // 10)
    lengths = [_length(item) for item in context.items]
    total = sum(lengths) + _length_beside_items(context)
    wanted = retries * PAIRS_PER_RETRY
    gone: set[int] = set()
    for position, pair in enumerate(_pairs(context.items)):
        if position >= wanted and (most is None or _tokens(total) <= most):
            break
        gone.update(pair)
        total -= sum(lengths[index] for index in pair)
    if not gone:
        return Truncated(context, _tokens(total), most)
    kept = tuple(item for index, item in enumerate(context.items) if index not in gone)
    message = f"the oldest {len(gone)} items of the history were dropped, so that the rest fits"
    warning = RenderWarning("history_truncated", f"items[{min(gone)}..{max(gone)}]", message)
    return Truncated(context.model_copy(update={"items": kept}), _tokens(total), most, len(gone), (warning,))


def _pairs(items: tuple[StructuredContextItem, ...]) -> list[list[int]]:
    """What may be dropped, oldest first: the indexes of a user's history item and of the model's that follow it.

    A user's item of the same message as the model's before it holds the model's media, so it goes with them. Where
    no item is tagged as history, all that have no tag are.
    """
    history = "dialogue_history" if any(item.tag == "dialogue_history" for item in items) else None
    pairs: list[list[int]] = []
    starts: list[bool] = []
    message: str | None = None
    for index, item in enumerate(items):
        if item.role == "system" or item.tag != history:
            continue
        opens = item.role == "user" and (item.message_id is None or item.message_id != message)
        if opens or not pairs:
            pairs.append([])
            starts.append(opens)
        pairs[-1].append(index)
        message = item.message_id if item.role == "model" else None
    newest = len(pairs) - 1 - starts[::-1].index(True) if True in starts else 0
    return pairs[:newest]


def _length(item: StructuredContextItem) -> int:
    return sum([len(part.text) for part in item.parts if isinstance(part, TextPart)])


def _length_beside_items(context: NeutralContext) -> int:
    """Characters of tools, of calls and their results, and of what the model has said already."""
    declared = ((tool.name, tool.description, tool.parameters) for tool in context.tools)
    exchanged = (
        (
            exchange.text,
            [(call.name, call.args) for call in exchange.calls],
            [(result.name, result.response, result.note) for result in exchange.results],
            exchange.replay,
        )
        for exchange in context.function_history
    )
    said = sum(len(part.text) for part in context.current_turn_model_parts)
    return said + len(context.options.prefill or "") + sum(len(json_text(value)) for value in [*declared, *exchanged])


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
