"""The neutral context: all that a model is told in one provider call, before any provider's words for it.

Context assembles it, a dialect of services.context says it natively, and `odradek context render` reads it from a file.
The names are those of TomoriBot's context assembly (StructuredContextItem and what belongs to it), in snake case.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from schemas.base import Model
from schemas.chunks import Dialect, FunctionCall
from schemas.finite import FiniteObject
from schemas.sampling import SamplingParameter, ThinkingLevel

ContextRole = Literal["system", "user", "model"]

ContextTag = Literal[
    "system_instruction_block",
    "system_personality",
    "system_humanizer_rules",
    "system_function_guide",
    "knowledge_server_info",
    "knowledge_server_emojis",
    "knowledge_server_stickers",
    "knowledge_server_memories",
    "knowledge_server_documents",
    "knowledge_server_conditioning",
    "knowledge_user_memories",
    "knowledge_user_status",
    "knowledge_current_context",
    "knowledge_users_in_conversation",
    "knowledge_short_term_memory",
    "dialogue_sample",
    "dialogue_history",
    "context_note_injection",
]
"""What an item is for; it decides whether a user's item is told as system text."""

Medium = Literal["image", "video"]

MediaStage = Literal["download", "validate", "decode", "encode", "limit"]
"""Where a medium on its way into a request failed."""


class ConversationUser(Model):
    """A participant whom tools and mentions may name. Hidden data: it never stands in a prompt's text."""

    target_id: str
    display_label: str
    aliases: tuple[str, ...] = ()
    mentionable: bool = True


class TextPart(Model):
    """Text."""

    type: Literal["text"] = "text"
    text: str


class BlobRef(Model):
    """Bytes that wait in the blob store under their SHA-256, in hex, so that they need no room in the log."""

    key: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0, description="bytes, before base64")]


class InlineData(Model):
    """Bytes as base64 without line breaks."""

    mime_type: str
    data: str


class ImagePart(Model):
    """A picture. Serializers need `blob` or `inline_data`; `uri` is where it came from and never leaves this system.

    `name` is a file name for notices. `is_profile_picture` and `enhanced_context` say that a tool asked for it;
    `is_expression`, that it is an emoji or a sticker, of which a message may have any number.
    """

    type: Literal["image"] = "image"
    mime_type: str
    uri: str | None = None
    blob: BlobRef | None = None
    inline_data: InlineData | None = None
    name: str | None = None
    is_profile_picture: bool = False
    is_expression: bool = False
    enhanced_context: bool = False


class VideoPart(Model):
    """A video: bytes as for an image, or a link. `enhanced_context`: a tool asked for it, so a link may be passed on."""

    type: Literal["video"] = "video"
    mime_type: str = "video/mp4"
    uri: str | None = None
    blob: BlobRef | None = None
    inline_data: InlineData | None = None
    name: str | None = None
    is_youtube_link: bool = False
    enhanced_context: bool = False


class OmittedPart(Model):
    """A picture or video that could not be had. `index` counts the request's pictures from 0, as `name` names the file.

    It stays where the medium was, so that labels keep their positions and the model is told of the gap. `status` is the
    HTTP status where there was one. Neither its address nor its bytes are kept.
    """

    type: Literal["omitted"] = "omitted"
    medium: Medium
    index: Annotated[int, Field(ge=0)]
    stage: MediaStage
    reason: str
    name: str | None = None
    status: int | None = None


ContextPart = Annotated[TextPart | ImagePart | VideoPart | OmittedPart, Field(discriminator="type")]


class StructuredContextItem(Model):
    """One thing said, or one block of what the model should know.

    `sender` is who sent it, as the channel shows the name. `message_id` is its Discord message. `sender`,
    `conversation_users` and `participant_target_index` (which of them the item is about) are hidden data: they survive
    every copy, split, merge and relocation, and no code reads them back out of prose.
    """

    role: ContextRole
    parts: tuple[ContextPart, ...]
    tag: ContextTag | None = None
    sender: str | None = None
    message_id: str | None = None
    conversation_users: tuple[ConversationUser, ...] = ()
    participant_target_index: int | None = None


class Origin(Model):
    """Which model said something; what only that model may be shown again depends on it."""

    provider: str
    dialect: Dialect
    model: str


class FunctionResult(Model):
    """What a tool answered. `images` are shown to models that see, in a turn of their own; `note` says what they are."""

    call_id: str
    name: str
    response: FiniteObject
    images: tuple[ImagePart | OmittedPart, ...] = ()
    note: str | None = None


class FunctionExchange(Model):
    """One model turn that called tools, and their results, in the calls' order.

    `text` was shown before the calls. `replay` holds the provider-native parts of the turn (`DoneMetadata.replay`), which
    go back to the provider that made them: thought signatures, signed thinking, reasoning details, reasoning content.
    """

    text: str = ""
    calls: Annotated[tuple[FunctionCall, ...], Field(min_length=1)]
    results: tuple[FunctionResult, ...] = ()
    replay: tuple[FiniteObject, ...] = ()
    origin: Origin | None = None


class ToolDeclaration(Model):
    """A tool on offer; `parameters` is a JSON Schema of an object."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$")]
    description: str = ""
    parameters: FiniteObject = Field(default_factory=lambda: {"type": "object", "properties": {}})


class LogitBias(Model):
    """How much likelier a text, or a numeric token id, becomes."""

    text: Annotated[str, Field(min_length=1, max_length=200)]
    bias: Annotated[float, Field(ge=-100, le=100)]


class GenerationOptions(Model):
    """What is asked of the model beside the words.

    Sampling parameters that are None are left to the provider; `disabled_parameters` are never sent. `max_output_tokens`
    None means the provider's default. `force_reasoning` raises auto and none to high. `speaker_stop` stops before the
    persona `persona_name` would speak for itself again. `prefill` is how the reply must begin.
    """

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    repetition_penalty: Annotated[float, Field(gt=0, le=2)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    disabled_parameters: tuple[SamplingParameter, ...] = ()
    logit_bias: tuple[LogitBias, ...] = ()
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    thinking_level: ThinkingLevel = "auto"
    force_reasoning: bool = False
    stop_strings: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=40)] = ()
    speaker_stop: bool = False
    persona_name: str | None = None
    prefill: str | None = None
    tools_enabled: bool = True


class NeutralContext(Model):
    """All that one provider call says. `current_turn_model_parts` is what the model has said in this turn already."""

    items: tuple[StructuredContextItem, ...]
    tools: tuple[ToolDeclaration, ...] = ()
    function_history: tuple[FunctionExchange, ...] = ()
    current_turn_model_parts: tuple[TextPart, ...] = ()
    options: GenerationOptions = GenerationOptions()
