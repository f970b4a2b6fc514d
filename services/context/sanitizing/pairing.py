"""Calls and results brought together: each call has one result, each result a call."""

from collections.abc import Callable, Sequence

from pydantic import JsonValue

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange, FunctionResult
from services.context.sanitizing.findings import Findings
from services.context.tools.names import wire_name

WITHOUT_CALL = "results_without_a_call"
"""The key under which results of no call are told, in the last response of their exchange."""

_CUT_OFF = "The arguments of this call were cut off, so it was not run."
_UNFINISHED = "This call was not finished, so it has no result."


def paired(history: Sequence[FunctionExchange], findings: Findings) -> list[FunctionExchange]:
    """The exchanges, with one result a call in the calls' order.

    A result belongs to the call of its id in its own exchange; else to the call of its id and name in an earlier one; else
    to the first call of its name in its own that has no result. What is left is told beside the exchange's last result.
    A call without a result gets one that says so.
    """
    found: list[list[FunctionResult | None]] = [[None] * len(exchange.calls) for exchange in history]
    strays = [
        [
            result
            for result in exchange.results
            if not _place(exchange.calls, found[index], result, _same_call, _same_id)
        ]
        for index, exchange in enumerate(history)
    ]
    left: list[list[FunctionResult]] = [[] for _ in history]
    for index, result in ((index, result) for index, results in enumerate(strays) for result in results):
        earlier = range(index - 1, -1, -1)
        if any(_place(history[place].calls, found[place], result, _same_call) for place in earlier):
            continue
        if not _place(history[index].calls, found[index], result, _same_name):
            left[index].append(result)
    return [
        _complete(exchange, found[index], left[index], f"function_history[{index}]", findings)
        for index, exchange in enumerate(history)
    ]


def _place(
    calls: Sequence[FunctionCall],
    found: list[FunctionResult | None],
    result: FunctionResult,
    *tests: Callable[[FunctionCall, FunctionResult], bool],
) -> bool:
    """Whether the result found a call: the first without a result that passes the first test that any passes."""
    for test in tests:
        for position, call in enumerate(calls):
            if found[position] is None and test(call, result):
                found[position] = result
                return True
    return False


def _same_id(call: FunctionCall, result: FunctionResult) -> bool:
    return call.id == result.call_id


def _same_name(call: FunctionCall, result: FunctionResult) -> bool:
    return wire_name(call.name) == wire_name(result.name)


def _same_call(call: FunctionCall, result: FunctionResult) -> bool:
    return _same_id(call, result) and _same_name(call, result)


def _complete(
    exchange: FunctionExchange,
    found: Sequence[FunctionResult | None],
    left: Sequence[FunctionResult],
    place: str,
    findings: Findings,
) -> FunctionExchange:
    results: list[FunctionResult] = []
    for position, (call, result) in enumerate(zip(exchange.calls, found, strict=True)):
        if result is None:
            findings.add(f"{place}.calls[{position}]", "the call has no result, so it gets one that says so")
        results.append(result or _missing(call))
    if left:
        findings.add(f"{place}.results", f"results of no call are told beside the last one: {len(left)}")
        results[-1] = _with_others(results[-1], left)
    return exchange.model_copy(update={"results": tuple(results)})


def _missing(call: FunctionCall) -> FunctionResult:
    reason = _CUT_OFF if call.arguments_truncated else _UNFINISHED
    response: dict[str, JsonValue] = {"status": "tool_execution_failed", "tool_name": call.name, "reason": reason}
    return FunctionResult(call_id=call.id, name=call.name, response=response)


def _with_others(result: FunctionResult, others: Sequence[FunctionResult]) -> FunctionResult:
    told: list[JsonValue] = [{"tool_name": other.name, "response": other.response} for other in others]
    notes = [note for note in (result.note, *(other.note for other in others)) if note]
    return result.model_copy(
        update={
            "response": {**result.response, WITHOUT_CALL: told},
            "images": (*result.images, *(image for other in others for image in other.images)),
            "note": "\n".join(notes) or None,
        }
    )
