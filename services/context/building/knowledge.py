"""What the model should know before the dialogue: its prompts, its server, and what was remembered.

Prompts are the operator's and may hold macros. What users taught or wrote stands in quotes, or on a line of its own behind
what it is, so that it poses as nothing else.
"""

from collections.abc import Callable, Iterable, Sequence

from schemas.context import ContextRole, ContextTag, StructuredContextItem, TextPart
from services.context.building.known import Scene
from services.context.building.names import block
from services.context.building.participants import Participants
from services.context.hostile import inside_block, quoted

MOST_LINE = 4_096
MOST_NAMES = 250
SAMPLE_SPEAKER = "User"

Resolve = Callable[[str], str]


def system_items(scene: Scene, resolve: Resolve) -> list[StructuredContextItem]:
    """The system text, in its order. A turn that speaks for a user has nothing of the bot's in it."""
    server = scene.server
    is_persona = scene.impersonated is None
    persona = scene.persona if is_persona else None
    own = "\n".join(() if persona is None else map(resolve, persona.attributes))
    texts: list[tuple[ContextTag, str]] = [
        ("system_instruction_block", resolve(scene.system_prompt) if is_persona else ""),
        ("system_personality", "" if persona is None else resolve(persona.prompt)),
        ("system_personality", own),
        ("knowledge_server_info", _server(scene)),
        ("knowledge_server_memories", _listed("Remembered of this server:", server.memories if is_persona else ())),
        ("knowledge_server_emojis", _named("Custom emojis of this server:", [f":{name}:" for name in server.emojis])),
        ("knowledge_server_stickers", _named("Stickers of this server:", server.stickers)),
    ]
    return [_item("system", tag, text.strip()) for tag, text in texts if text.strip()]


def dialogue_items(scene: Scene, people: Participants, resolve: Resolve, summary: str) -> list[StructuredContextItem]:
    """What comes before the history in the dialogue: participants, lately, documents, conditioning, samples."""
    is_persona = scene.impersonated is None
    lately = (*((summary,) if summary.strip() else ()), *(scene.short_term_memory if is_persona else ()))
    told: list[tuple[ContextTag, str]] = [
        ("knowledge_short_term_memory", _listed("What happened before:", lately)),
        ("knowledge_server_documents", _listed("Found in documents:", scene.documents)),
        ("knowledge_server_conditioning", "\n".join(map(resolve, scene.server.conditioning))),
    ]
    items = [_item("user", tag, block(text)) for tag, text in told if text.strip()]
    if users := _users(scene, people):
        item = _item("user", "knowledge_users_in_conversation", block(users))
        items.insert(0, item.model_copy(update={"conversation_users": people.users}))
    return [*items, *_samples(scene, resolve)]


def _samples(scene: Scene, resolve: Resolve) -> Iterable[StructuredContextItem]:
    if scene.persona is None or scene.impersonated is not None:
        return
    for sample in scene.persona.samples:
        yield _item("user", "dialogue_sample", f"{SAMPLE_SPEAKER}: {resolve(sample.said)}")
        yield _item("model", "dialogue_sample", f"{scene.speaker}: {resolve(sample.answered)}")


def _server(scene: Scene) -> str:
    server = scene.server
    facts = [
        ("Server", server.name),
        ("About it", server.description),
        ("Channel", server.channel),
        ("Topic of the channel", server.topic),
    ]
    return "\n".join(f"{what}: {inside_block(text, MOST_LINE)}" for what, text in facts if text.strip())


def _users(scene: Scene, people: Participants) -> str:
    """Nothing where nothing more than names is known: those stand before what everybody says."""
    lines: list[str] = []
    labels = {speaker.id: label for speaker, label in people.labels.items() if speaker.kind == "account"}
    for user in scene.users:
        if user.id not in labels or user.id in scene.private_authors:
            continue
        aliases = _each_quoted(user.aliases)
        facts = [f"also called {', '.join(aliases)}"] if aliases else []
        facts += _each_quoted((user.status, *user.memories))
        if facts:
            lines.append(f'"{labels[user.id]}": {"; ".join(facts)}')
    return _lines("Known of those who take part:", lines)


def _listed(title: str, lines: Sequence[str]) -> str:
    return _lines(title, _each_quoted(lines))


def _lines(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)]) if lines else ""


def _each_quoted(words: Iterable[str]) -> list[str]:
    return [told for one in words if (told := quoted(one, MOST_LINE))]


def _named(title: str, names: Sequence[str]) -> str:
    told = [inside_block(name, 100) for name in names[:MOST_NAMES]]
    return f"{title} {', '.join(told)}" if told else ""


def _item(role: ContextRole, tag: ContextTag, text: str) -> StructuredContextItem:
    return StructuredContextItem(role=role, parts=(TextPart(text=text),), tag=tag)
