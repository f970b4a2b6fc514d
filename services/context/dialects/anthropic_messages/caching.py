"""Where a request's cached prefixes end: at most four breakpoints, each at a place where later requests are still the same.

https://platform.claude.com/docs/en/build-with-claude/prompt-caching. They are

1. the last tool: the tools of a server seldom change;
2. the end of the system text;
3. the last turn of history or samples that no changing text precedes: what was said stays said, but a note or a
   directive moves on with the conversation;
4. the results of the last tool call: within a turn each request begins with all of the one before.

Prefixes that are too short for the cache are not written, which costs nothing.
"""

from collections.abc import Sequence

from schemas.context import ContextTag, StructuredContextItem

_SAID: frozenset[ContextTag | None] = frozenset({"dialogue_sample", "dialogue_history"})
_MOVES: frozenset[ContextTag | None] = frozenset({None, "context_note_injection"})


def last_stable(dialogue: Sequence[StructuredContextItem]) -> int | None:
    """The index of the dialogue's item at which the third prefix ends."""
    found: int | None = None
    for index, item in enumerate(dialogue):
        if item.tag in _MOVES:
            break
        if item.tag in _SAID:
            found = index
    return found
