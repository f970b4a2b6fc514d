"""What is read of a chunk of Google's generateContent stream: https://ai.google.dev/api/generate-content."""

from typing import Any

import msgspec

from services.normalizer.decode import PayloadDecoder


class Content(msgspec.Struct, gc=False):
    parts: list[dict[str, Any]] | None = None


class Candidate(msgspec.Struct, gc=False):
    index: int | None = None
    content: Content | None = None
    finish_reason: str | None = msgspec.field(name="finishReason", default=None)
    finish_message: str | None = msgspec.field(name="finishMessage", default=None)


class Counts(msgspec.Struct, gc=False):
    """The counts, of whatever type they are."""

    prompt: object = msgspec.field(name="promptTokenCount", default=None)
    tool_use: object = msgspec.field(name="toolUsePromptTokenCount", default=None)
    written: object = msgspec.field(name="candidatesTokenCount", default=None)
    thoughts: object = msgspec.field(name="thoughtsTokenCount", default=None)
    cached: object = msgspec.field(name="cachedContentTokenCount", default=None)
    total: object = msgspec.field(name="totalTokenCount", default=None)


class Chunk(msgspec.Struct, gc=False):
    candidates: list[Candidate] | None = None
    model: str | None = msgspec.field(name="modelVersion", default=None)
    response_id: str | None = msgspec.field(name="responseId", default=None)
    usage: Counts | None = msgspec.field(name="usageMetadata", default=None)
    feedback: object = msgspec.field(name="promptFeedback", default=None)
    error: object = None


class Report(msgspec.Struct):
    usage: dict[str, Any] | None = msgspec.field(name="usageMetadata", default=None)


CHUNK = PayloadDecoder(Chunk)
REPORT = PayloadDecoder(Report)
