"""The canned dialogue: what each model answers, decided by the last real user message alone.

A *real* user message is one that is not a request to go on. Nothing here knows a clock or dice, so a test knows every
answer before it asks.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from services.sandbox.provider.neutral import ChatMessage

MODELS: Final = ("sandbox-echo", "sandbox-long", "sandbox-code", "sandbox-marked", "sandbox-lines")
CONTINUE_MARK: Final = "[System: Continue"
LONG_PARAGRAPHS: Final = 40
_SENTENCES_A_PARAGRAPH: Final = 3
_QUOTE_CHARS: Final = 280

_PATH = (
    "On its way here your message became a record in `inbox`. The orchestrator folded it into the state of this "
    "channel and asked for a generation in `generations`; context wrote the native request to `prompts`; the provider "
    "worker claimed it, called me, and now writes every byte I send to `raw`. The normalizer turns those bytes into "
    "chunks, which go back to `inbox`, and the orchestrator cuts them into the messages you see, by way of "
    "`deliveries`."
)
_ORDER = (
    "All of that is keyed by the channel, so whatever happens here happens in one order, and a slow neighbour cannot "
    "hold it up. Kill any of the workers while I speak: another one picks up the log where it was left, and you "
    "should read neither a gap nor a repetition."
)
_HINT = "Say `help` to see what else I can do."


def reply_for(model: str, messages: Sequence[ChatMessage]) -> str:
    """What the model answers to this conversation.

    If it ends with a user message that begins with `[System: Continue`, the assistant messages since the last real user
    message are taken as the part already said, and only the rest of that reply is returned, so that both together are
    the reply again. Whitespace lost at the ends of a part is tolerated. If the parts are no beginning of the reply,
    the whole reply is returned.
    """
    last_real = _last_real_user(messages)
    question = messages[last_real].text if last_real >= 0 else ""
    whole = whole_reply(model, question)
    if not messages or not _asks_to_continue(messages[-1]):
        return whole
    position = 0
    for message in messages[last_real + 1 :]:
        if message.role != "assistant":
            continue
        after = _after(whole, position, message.text)
        if after is None:
            return whole
        position = after
    return whole[position:]


def whole_reply(model: str, question: str) -> str:
    """The model's complete reply to one user message; models without a voice of their own speak as `sandbox-echo`."""
    match model:
        case "sandbox-long":
            return _long(question, LONG_PARAGRAPHS)
        case "sandbox-code":
            return _code(question)
        case "sandbox-marked":
            return _long(question, LONG_PARAGRAPHS // 4, f" on {_mark(question)}")
        case "sandbox-lines":
            # A text of its own for every sentence, so that something is shown all the time.
            return _long(question, LONG_PARAGRAPHS // 4, f" on {_mark(question)}", between="\n\n")
        case _:
            return _echo(question)


def quote(question: str) -> str:
    """The user's message in one line of at most 280 characters, unable to open a code block."""
    line = " ".join(question.replace("```", "'''").split())
    return line if len(line) <= _QUOTE_CHARS else line[: _QUOTE_CHARS - 1] + "…"


def _asks_to_continue(message: ChatMessage) -> bool:
    return message.role == "user" and message.text.lstrip().startswith(CONTINUE_MARK)


def _last_real_user(messages: Sequence[ChatMessage]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        # Anthropic and Google send tool results as user messages without text.
        if message.role == "user" and message.text.strip() and not _asks_to_continue(message):
            return index
    return -1


def _after(whole: str, position: int, part: str) -> int | None:
    """Where the reply goes on after `part` said at `position`, or None if it does not say that there."""
    if whole.startswith(part, position):
        return position + len(part)
    core = part.strip()
    if not core:
        return position
    while position < len(whole) and whole[position].isspace():
        position += 1
    return position + len(core) if whole.startswith(core, position) else None


def _echo(question: str) -> str:
    words = set(re.findall(r"[a-z]+", question.lower()))
    if not question.strip():
        return f"I heard nothing at all, and that too is in the log. {_HINT}"
    if "help" in words:
        return _help(question)
    if "code" in words:
        return _code(question)
    if "long" in words:
        return _long(question, LONG_PARAGRAPHS // 4)
    opening = "You said:"
    closing = _HINT
    if "stop" in words:
        opening = "You speak of stopping, so here is something to stop:"
        closing = (
            "A stop is written to `control` and to `inbox`. The first makes the provider close this connection at "
            "once, the second decides in order what becomes of the turn. Press Stop while I am still talking and see "
            "how quickly I fall silent."
        )
    elif words & {"hello", "hi", "hey"}:
        opening = "Hello! I am Odradek, a spool that every turn is wound on. You said:"
    return "\n\n".join((opening, f"> {quote(question)}", _PATH, _ORDER, closing))


def _help(question: str) -> str:
    return "\n\n".join(
        (
            "Gladly. You said:",
            f"> {quote(question)}",
            "These words change what I answer:",
            "- `hello`: a greeting, and the path of your message through the topics\n"
            "- `long`: numbered sentences over several messages, so that a gap or a repetition shows\n"
            "- `code`: fenced code blocks in a few languages\n"
            "- `stop`: something to interrupt with the Stop button\n"
            "- `help`: this list",
            "The models are `sandbox-echo` (me), `sandbox-long`, `sandbox-code`, `sandbox-marked` and `sandbox-lines`. "
            + _ORDER,
        )
    )


def _mark(question: str) -> str:
    """A few letters that no other question is likely to have, so that no two replies share a sentence."""
    return hashlib.blake2b(question.encode("utf-8", "replace"), digest_size=4).hexdigest()


def _long(question: str, paragraphs: int, mark: str = "", *, between: str = " ") -> str:
    total = paragraphs * _SENTENCES_A_PARAGRAPH
    facts = (
        "it was written once and can be read again",
        "the sentence before it has a smaller number, and the one after it a larger",
        "whoever reads it twice may drop the second",
    )
    parts = [f"A long answer{mark} in {total} numbered sentences. You said:", f"> {quote(question)}"]
    for paragraph in range(paragraphs):
        first = paragraph * _SENTENCES_A_PARAGRAPH + 1
        parts.append(between.join(f"Sentence {first + i} of {total}{mark}: {fact}." for i, fact in enumerate(facts)))
    parts.append(f"That was sentence {total}{mark}, and the end.")
    return "\n\n".join(parts)


def _code(question: str) -> str:
    return "\n\n".join(
        (
            "Some code, then. You said:",
            f"> {quote(question)}",
            "A worker that only folds is a function of a state and an event:",
            "```python\ndef fold(state: int, event: str) -> tuple[int, list[str]]:\n"
            '    """Count the events, and say so."""\n'
            "    count = state + 1\n"
            '    return count, [f"event {count}: {event}"]\n\n\n'
            "state, outputs = 0, []\n"
            'for event in ("asked", "stopped", "asked again"):\n'
            "    state, lines = fold(state, event)\n"
            "    outputs += lines\n```",
            "A record of a turn that ended looks about like this:",
            '```json\n{\n  "type": "TurnFinished",\n  "status": "completed",\n  "model": "sandbox-code",\n'
            '  "usage": {"input_tokens": 12, "output_tokens": 240}\n}\n```',
            "And a topic can be read with nothing but a shell:",
            "```bash\nkcat -C -b 127.0.0.1:9092 -t raw -e \\\n  | grep '^data:' \\\n  | head -n 20\n```",
            "Each of the three blocks must still be closed, and keep its language, when it is cut over two messages.",
        )
    )
