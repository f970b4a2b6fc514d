"""How the model's reply begins: with what it has said in this turn already, or with a prefill."""

from collections.abc import Sequence

from schemas.context import NeutralContext, StructuredContextItem, TextPart


def reply_opening(context: NeutralContext, dialogue: Sequence[StructuredContextItem]) -> str:
    """The text of the trailing assistant turn that is still to be added; empty if there is none.

    A prefill begins the reply, so nothing is added once the model has said something in this turn, nor where the
    dialogue ends with it already.
    """
    said = "\n".join(part.text for part in context.current_turn_model_parts if part.text)
    if said.strip():
        return said
    prefill = context.options.prefill or ""
    if not prefill.strip() or any(exchange.text.strip() for exchange in context.function_history):
        return ""
    return "" if _ends_with(dialogue, prefill) else prefill


def is_continued(context: NeutralContext, dialogue: Sequence[StructuredContextItem]) -> bool:
    """Whether the request ends with a turn of the model that its reply continues."""
    prefill = context.options.prefill
    in_dialogue = bool(prefill) and not context.function_history and _ends_with(dialogue, prefill or "")
    return in_dialogue or bool(reply_opening(context, dialogue))


def _ends_with(dialogue: Sequence[StructuredContextItem], text: str) -> bool:
    if not dialogue or dialogue[-1].role != "model":
        return False
    return "\n".join(part.text for part in dialogue[-1].parts if isinstance(part, TextPart)) == text
