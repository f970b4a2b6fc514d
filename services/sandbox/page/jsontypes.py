"""What the page's server sends to the browser: plain JSON values with known keys."""

from typing import Literal, NotRequired, TypedDict

Status = Literal["connecting", "connected", "reconnecting"]


class Span(TypedDict):
    """A piece of a line. `text` for text, code and mentions; `spans` for what is inside bold or italic."""

    kind: Literal["text", "bold", "italic", "code", "mention"]
    text: NotRequired[str]
    spans: NotRequired[list["Span"]]


class Block(TypedDict):
    """One or more lines. `text` and `language` for code, `spans` for everything else."""

    kind: Literal["text", "quote", "item", "small", "code"]
    spans: NotRequired[list[Span]]
    text: NotRequired[str]
    language: NotRequired[str]


class PersonView(TypedDict):
    id: str
    name: str
    bot: bool


class ButtonView(TypedDict):
    label: str
    custom_id: str


class ReplyView(TypedDict):
    """What a message replies to: its id and, while it is still known, its author and its beginning."""

    id: str
    author: str | None
    excerpt: str


class MessageView(TypedDict):
    """`visible_to` is the only person who may see it, None for everybody. `thinking`: the bot has yet to fill it."""

    id: str
    author: PersonView
    at_ms: int
    edited: bool
    thinking: bool
    blocks: list[Block]
    buttons: list[ButtonView]
    files: list[str]
    reply: ReplyView | None
    visible_to: str | None


class ChannelView(TypedDict):
    """The whole channel. `name` is empty until the local Discord has answered once."""

    name: str
    bot: PersonView | None
    people: list[PersonView]
    messages: list[MessageView]


class RowView(TypedDict):
    """One record of a turn. `key` is unique in the log; `at_ms` is the record's own time, in ms since 1970."""

    key: str
    topic: str
    partition: int
    offset: int
    at_ms: int
    type: str
    generation: int | None
    sequence: int | None
    glance: str
    size: int


class HopView(TypedDict):
    """One step of a turn: `worker` wrote to `topic` at `at_ms`, `took_ms` after the step before.

    `worker` is None where nobody had anything to do for the turn: it waited for the end of the one before.
    """

    step: str
    worker: str | None
    topic: str
    at_ms: int
    took_ms: int


class TurnView(TypedDict):
    """A turn in short. `began_ms` is the time of its message, `last_ms` that of its end, or of its newest record before.

    `rows` counts all its records, `kept` those that are listed, `unkept_stream` the slices and batches that are not.
    """

    turn: str
    channel: str
    began_ms: int
    last_ms: int
    title: str
    author: str
    status: str
    model: str
    generations: int
    rows: int
    kept: int
    unkept_stream: int
    hops: list[HopView]


class RecordView(TypedDict):
    """One record in full. `form` says how the value is to be read; `cut` that only its beginning was kept."""

    row: RowView
    headers: list[tuple[str, str]]
    form: Literal["json", "text", "none", "dropped"]
    value: str
    cut: bool
