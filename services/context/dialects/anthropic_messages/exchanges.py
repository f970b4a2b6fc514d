"""Tool calls of this turn, said again: signed thinking and calls in the model's turn, all their results in the user's.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls: results follow their calls at once, each
call has one, and they stand before anything else in their message.
"""

from collections.abc import Sequence

from schemas.context import FunctionExchange, FunctionResult
from services.context.dialects.anthropic_messages.pictures import Block, Pictures, text_block
from services.context.dialects.anthropic_messages.turns import Turn
from services.context.dialects.tool_results import answers, response_text


def exchange_turns(history: Sequence[FunctionExchange], pictures: Pictures, *, cached: bool) -> list[Turn]:
    """Two turns an exchange, each of which the target can read: see services.context.sanitizing.

    Images that tools returned follow all results of their exchange, each result's behind its note. `cached`: the results
    of the last exchange end a cached prefix.
    """
    turns: list[Turn] = []
    for index, exchange in enumerate(history):
        said: list[Block] = [{**part} for part in exchange.replay]
        if exchange.text.strip():
            said.append(text_block(exchange.text))
        answered: list[Block] = []
        shown: list[Block] = []
        for position, (call, result) in enumerate(answers(exchange)):
            said.append({"type": "tool_use", "id": call.id, "name": call.name, "input": {**call.args}})
            answered.append({"type": "tool_result", "tool_use_id": call.id, "content": response_text(result)})
            if result is not None:
                shown += _shown(result, f"function_history[{index}].results[{position}]", pictures)
        turns.append(Turn("assistant", tuple(said), bears_tools=True))
        is_last = index == len(history) - 1
        turns.append(Turn("user", (*answered, *shown), bears_tools=True, cached=cached and is_last))
    return turns


def _shown(result: FunctionResult, place: str, pictures: Pictures) -> list[Block]:
    blocks: list[Block] = [text_block(result.note)] if result.note and result.note.strip() else []
    for index, image in enumerate(result.images):
        blocks += pictures.blocks(image, f"{place}.images[{index}]")
    return blocks
