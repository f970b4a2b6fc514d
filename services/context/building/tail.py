"""What is put between and behind the messages: the context note, directives, and how the reply begins or goes on."""

from collections.abc import Mapping, Sequence

from schemas.context import ContextTag, StructuredContextItem, TextPart
from services.context.building.history import Said
from services.context.building.knowledge import Resolve
from services.context.building.known import Note, Scene
from services.context.building.names import block
from services.context.building.speakers import Speaker
from services.context.hostile import quoted
from services.context.notices import CONTINUE

MOST_QUEUED = 280
"""Characters of a message that had waited, in the directive to answer it."""
DEEPEST = 100
EMOJI_LOOKBACK = 3
EMOJI_THRESHOLD = 1
BEHIND_MINOR = 2
"""How many items of the dialogue come after the minor directives."""

_FEWER_EMOJIS = "The last replies had many custom emojis. Use none this time."


def interspersed(
    dialogue: Sequence[StructuredContextItem], scene: Scene, said: Sequence[Said], resolve: Resolve
) -> list[StructuredContextItem]:
    """The dialogue with the note `depth` items from its end, and what matters less before its latest two items.

    Both stand at the top of a dialogue that is too short, and neither counts for the other.
    """
    between: list[tuple[int, StructuredContextItem]] = []
    minor = [resolve(text) for text in scene.minor_directives]
    if _has_too_many_emojis(said):
        minor.append(_FEWER_EMOJIS)
    if minor:
        between.append((BEHIND_MINOR, _told(block(" ".join(minor)))))
    note = _note(scene)
    if note is not None and (text := resolve(note.text).strip()):
        between.append((max(0, min(note.depth, DEEPEST)), _told(block(text), "context_note_injection")))
    out = list(dialogue)
    for depth, item in sorted(between, key=lambda one: one[0]):
        out.insert(max(0, len(dialogue) - depth), item)
    return out


def directives(
    scene: Scene, asked: Said, labels: Mapping[Speaker, str], resolve: Resolve
) -> list[StructuredContextItem]:
    """What stands behind the dialogue: the turn's directives in one item, then which message to answer if it had waited."""
    wanted = [resolve(text) for text in scene.directives]
    if scene.impersonated is not None:
        label = labels[Speaker("account", scene.impersonated.user_id)]
        wanted.insert(0, f'Write the next message of "{label}" here, as "{label}" would write it.')
    out = [_told(block(" ".join(wanted)))] if wanted else []
    if scene.asked.is_queued:
        quote = quoted(asked.text, MOST_QUEUED)
        words = f": {quote}" if quote else "."
        out.append(_told(block(f'Answer this message of "{labels[asked.speaker]}" now{words}')))
    return out


def opening(emitted: str, prefill: str, *, is_answerable: bool) -> list[StructuredContextItem]:
    """How the reply goes on after what was shown of it, or how it must begin; else something to answer.

    `is_answerable`: what comes before ends with another's words; no provider answers the model's own, or nothing at all.
    """
    if emitted.strip():
        return [_own(emitted), _told(CONTINUE)]
    if prefill.strip():
        return [_own(prefill)]
    return [] if is_answerable else [_told(CONTINUE)]


def _note(scene: Scene) -> Note | None:
    """The persona's, else the server's."""
    own = None if scene.persona is None or scene.impersonated is not None else scene.persona.note
    return own or scene.server.note


def _has_too_many_emojis(said: Sequence[Said]) -> bool:
    own = [one for one in said if one.is_model]
    return sum(one.emojis for one in own[-EMOJI_LOOKBACK:]) > EMOJI_THRESHOLD


def _told(text: str, tag: ContextTag = "knowledge_current_context") -> StructuredContextItem:
    return StructuredContextItem(role="user", parts=(TextPart(text=text),), tag=tag)


def _own(text: str) -> StructuredContextItem:
    return StructuredContextItem(role="model", parts=(TextPart(text=text),), tag="dialogue_history")
