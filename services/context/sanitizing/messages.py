"""The step that makes a context's history fit for its target, whoever made it."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange, FunctionResult, NeutralContext
from services.catalog.target import Target
from services.context.rendered import RenderWarning
from services.context.sanitizing.as_text import exchanges_as_items
from services.context.sanitizing.call_ids import CallIds
from services.context.sanitizing.findings import Findings
from services.context.sanitizing.pairing import paired
from services.context.sanitizing.replay import Kinship, kinship, usable_replay, visible_text
from services.context.tools.names import wire_name
from services.context.tools.written_out import writes_calls


@dataclass(frozen=True, slots=True)
class Sanitized:
    """The context to render, and what of the history it says otherwise or not at all."""

    context: NeutralContext
    warnings: tuple[RenderWarning, ...] = ()


def sanitize_messages_for_target(context: NeutralContext, target: Target) -> Sanitized:
    """The context whose calls the target can read: nothing visible is lost, and nothing is left that it refuses.

    Every call has one result, in the calls' order. Ids are in the target's form and unique, names are wire names.
    Arguments that were cut off are none. Reasoning and signatures are only those that the target can read again. For a
    target without tools, or one that writes its calls as text, the calls become text. Doing it again changes nothing.
    """
    findings = Findings()
    ids = CallIds(target)
    history: list[FunctionExchange] = []
    for index, exchange in enumerate(paired(context.function_history, findings)):
        history.append(_sanitized(exchange, index, target, ids, findings))
    if not history:
        return Sanitized(context)
    written_out = writes_calls(target)
    if written_out or not _takes_calls(context, target):
        why = "writes its own so" if written_out else "takes none"
        findings.add("function_history", f"the calls are told as text, since the target {why}")
        dialogue = exchanges_as_items(history, written_out=written_out)
        told: dict[str, object] = {"items": (*context.items, *dialogue), "function_history": ()}
        if any(exchange.text.strip() for exchange in history):
            # The reply has begun, which nothing but the history could tell.
            told["options"] = context.options.model_copy(update={"prefill": None})
        return Sanitized(context.model_copy(update=told), findings.warnings)
    return Sanitized(context.model_copy(update={"function_history": tuple(history)}), findings.warnings)


def _takes_calls(context: NeutralContext, target: Target) -> bool:
    """Whether calls may stand in the request. Anthropic takes none where it is offered no tools."""
    offered = bool(context.tools) and context.options.tools_enabled
    return target.model.has_tools and (offered or target.dialect != "anthropic")


def _sanitized(
    exchange: FunctionExchange, index: int, target: Target, ids: CallIds, findings: Findings
) -> FunctionExchange:
    kin = kinship(exchange.origin, target)
    calls = tuple(
        _call(call, f"function_history[{index}].calls[{position}]", kin, ids, findings)
        for position, call in enumerate(exchange.calls)
    )
    replay = usable_replay(exchange, calls, target, kin)
    if len(replay) < len(exchange.replay):
        findings.add(f"function_history[{index}].replay", "what the target cannot read again is left out")
    return exchange.model_copy(
        update={
            "text": exchange.text if exchange.text.strip() else visible_text(exchange),
            "calls": calls,
            "results": _results(exchange.results, calls),
            "replay": replay,
        }
    )


def _call(call: FunctionCall, place: str, kin: Kinship, ids: CallIds, findings: Findings) -> FunctionCall:
    if call.thought_signature and kin != "same model":
        findings.add(place, "the signature of another model is left out")
    if call.arguments_truncated and (call.args or call.raw_arguments):
        findings.add(place, "arguments that were cut off are left out")
    return replace(
        call,
        id=ids.taken(call.id, place, own=kin == "same model"),
        name=wire_name(call.name),
        args={} if call.arguments_truncated else call.args,
        raw_arguments=None if call.arguments_truncated else call.raw_arguments,
        thought_signature=call.thought_signature if kin == "same model" else None,
    )


def _results(results: Sequence[FunctionResult], calls: Sequence[FunctionCall]) -> tuple[FunctionResult, ...]:
    return tuple(
        result.model_copy(update={"call_id": call.id, "name": call.name})
        for result, call in zip(results, calls, strict=True)
    )
