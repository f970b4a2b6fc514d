"""What is known of server, persona and turn. All but the message that asks may be missing; then nothing is said of it."""

from dataclasses import dataclass, field

from schemas.context import GenerationOptions
from services.context.building.names import name_line


@dataclass(frozen=True, slots=True)
class Asked:
    """The message that caused the turn. `emitted` is what the turn has shown of its reply already.

    `is_queued`: it waited while others were answered, so the model is told which message to answer.
    """

    message_id: str
    author_id: str
    author_name: str
    content: str
    emitted: str = ""
    is_queued: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A context note. `depth`: how many messages of the dialogue come after it, 0 to 100."""

    text: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """An exchange that shows how a persona speaks."""

    said: str
    answered: str


@dataclass(frozen=True, slots=True)
class Persona:
    """Whom the model plays. `webhook_name` None: it speaks through the bot's own account, else by webhook in that name."""

    name: str
    webhook_name: str | None = None
    prompt: str = ""
    attributes: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """What a server knows of itself, and has been taught. Emojis and stickers are names."""

    name: str = ""
    description: str = ""
    channel: str = ""
    topic: str = ""
    memories: tuple[str, ...] = ()
    emojis: tuple[str, ...] = ()
    stickers: tuple[str, ...] = ()
    conditioning: tuple[str, ...] = ()
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class KnownUser:
    """What is known of a participant. `name` None: as the channel shows it."""

    id: str
    name: str | None = None
    aliases: tuple[str, ...] = ()
    status: str = ""
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Impersonated:
    """The user whom the model speaks for in this turn, instead of a persona."""

    user_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Scene:
    """All that the builder knows beside the messages.

    `bot_name` is that of the bot's account. `private_authors` want nothing of theirs told. `minor_directives` stand before
    the latest two messages, `directives` behind all. `tools` are the names of the tools on offer.
    """

    bot_id: str
    asked: Asked
    bot_name: str = ""
    system_prompt: str = ""
    persona: Persona | None = None
    impersonated: Impersonated | None = None
    server: Server = field(default_factory=Server)
    users: tuple[KnownUser, ...] = ()
    private_authors: frozenset[str] = frozenset()
    short_term_memory: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    minor_directives: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    options: GenerationOptions = field(default_factory=GenerationOptions)

    @property
    def speaker(self) -> str:
        """The name in which the model speaks; empty where nothing but the bot's account has one."""
        if self.impersonated is not None:
            return name_line(self.impersonated.name)
        return "" if self.persona is None else name_line(self.persona.name)
