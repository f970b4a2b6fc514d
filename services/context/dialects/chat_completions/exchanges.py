"""Tool calls of this turn, said again: the model's calls with what must be replayed, their results, then their images."""

from collections.abc import Sequence

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange
from services.context.dialects.chat_completions.messages import part
from services.context.dialects.messages import user_message
from services.context.dialects.shown import Eyes, Notes
from services.context.dialects.tool_results import answers, arguments_text, image_pieces, response_text
from services.context.habits.row import ChatHabits
from services.context.rendered import NativeValue
from services.context.strict_chat import Message


def exchange_messages(
    history: Sequence[FunctionExchange], habits: ChatHabits, eyes: Eyes, notes: Notes
) -> list[Message]:
    """The messages of all exchanges. Each must be one that the target may be shown: with ids and reasoning that it knows."""
    out: list[Message] = []
    for index, exchange in enumerate(history):
        calls: list[NativeValue] = [_call(call, habits) for call in exchange.calls]
        said: Message = {"role": "assistant", "content": _content(exchange, habits), "tool_calls": calls}
        out.append(said | _reasoning(exchange, habits))
        for call, result in answers(exchange):
            out.append({"role": "tool", "tool_call_id": call.id, "content": response_text(result)})
        if pieces := image_pieces(exchange, f"function_history[{index}]", eyes, notes):
            out.append(user_message(pieces, part))
    return out


def _call(call: FunctionCall, habits: ChatHabits) -> dict[str, NativeValue]:
    function: dict[str, NativeValue] = {"name": call.name, "arguments": arguments_text(call)}
    made: dict[str, NativeValue] = {"id": call.id, "type": "function", "function": function}
    if call.thought_signature is None:
        return made
    if habits.signature == "thought_signature":
        return {**made, "thought_signature": call.thought_signature}
    # https://ai.google.dev/gemini-api/docs/openai
    return {**made, "extra_content": {"google": {"thought_signature": call.thought_signature}}}


def _content(exchange: FunctionExchange, habits: ChatHabits) -> NativeValue:
    """The text before the calls; Mistral wants its thinking parts in front of it.

    https://docs.mistral.ai/capabilities/reasoning
    """
    thinking: list[NativeValue] = [{**part} for part in exchange.replay if part.get("type") == "thinking"]
    if thinking:
        return [*thinking, {"type": "text", "text": exchange.text}] if exchange.text else thinking
    return exchange.text or habits.empty_content


def _reasoning(exchange: FunctionExchange, habits: ChatHabits) -> dict[str, NativeValue]:
    """Reasoning in fields of its own: DeepSeek's `reasoning_content` and OpenRouter's `reasoning_details`, unchanged.

    https://api-docs.deepseek.com/guides/thinking_mode, https://openrouter.ai/docs/use-cases/reasoning-tokens
    """
    made: dict[str, NativeValue] = {}
    content = next((part.get("reasoning_content") for part in exchange.replay if "reasoning_content" in part), None)
    if content or habits.reasoning_content:
        made["reasoning_content"] = content or ""
    details: list[NativeValue] = [
        {**part} for part in exchange.replay if str(part.get("type")).startswith("reasoning.")
    ]
    if details:
        made["reasoning_details"] = details
    return made
