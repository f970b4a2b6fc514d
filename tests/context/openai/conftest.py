"""Neutral contexts that between them hold everything, and targets to render them for."""

from typing import Any

from schemas.chunks import Dialect, FunctionCall
from schemas.context import (
    BlobRef,
    FunctionExchange,
    FunctionResult,
    GenerationOptions,
    ImagePart,
    InlineData,
    NeutralContext,
    OmittedPart,
    Origin,
    StructuredContextItem,
    TextPart,
    ToolDeclaration,
    VideoPart,
)
from services.catalog.target import ModelFacts, ProviderName, Target
from services.context.render import render
from services.context.rendered import Rendered

PNG = ImagePart(
    mime_type="image/png", inline_data=InlineData(mime_type="image/png", data="iVBORw0KGgo="), name="cat.png"
)
PNG_URL = "data:image/png;base64,iVBORw0KGgo="
BLOB = ImagePart(mime_type="image/jpeg", blob=BlobRef(key="ab" * 32, size=9))
GIF = ImagePart(mime_type="image/gif", inline_data=InlineData(mime_type="image/gif", data="R0lGODlh"))
LOST = OmittedPart(medium="image", index=1, stage="download", reason="gone", name="dog.png", status=404)
VIDEO = VideoPart(inline_data=InlineData(mime_type="video/mp4", data="AAAA"))
YOUTUBE = VideoPart(uri="https://www.youtube.com/watch?v=abcdefghijk", is_youtube_link=True, enhanced_context=True)

LOOK = ToolDeclaration(
    name="look",
    description="Looks at something.",
    parameters={"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
)


def item(role: str, *parts: Any, **more: Any) -> StructuredContextItem:
    """An item of texts and media."""
    told = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return StructuredContextItem(role=role, parts=told, **more)


def called(call_id: str = "call_1", /, **more: Any) -> FunctionCall:
    """A call of the tool `look`."""
    return FunctionCall(**{"id": call_id, "name": "look", "args": {"what": "the café"}} | more)


def answered(call_id: str = "call_1", /, **more: Any) -> FunctionResult:
    """What the tool `look` said."""
    return FunctionResult(**{"call_id": call_id, "name": "look", "response": {"seen": "a cat"}} | more)


def exchange(**more: Any) -> FunctionExchange:
    """One call and its result."""
    return FunctionExchange(**{"calls": (called(),), "results": (answered(),)} | more)


TALK = (
    item("system", "Be brief."),
    item("user", "ada: hello"),
    item("model", "Hello, Ada."),
    item("user", "ada: and?"),
)


def context(*items: StructuredContextItem, options: dict[str, Any] | None = None, **more: Any) -> NeutralContext:
    """A context of these items, or of a short talk."""
    return NeutralContext(items=items or TALK, options=GenerationOptions(**options or {}), **more)


def target(
    provider: ProviderName = "custom", model: str = "m", dialect: Dialect = "openai-chat", **more: Any
) -> Target:
    """A target whose model can do all; facts of the model and of the target by name."""
    base_url = more.pop("base_url", "http://models.example/v1" if provider == "custom" else None)
    num_ctx = more.pop("num_ctx", None)
    facts = {"has_tools": True, "sees_images": True} | more
    return Target(provider, dialect, ModelFacts(model, **facts), base_url, num_ctx)


def made_by(given: NeutralContext, to: Target) -> NeutralContext:
    """The context whose calls the target made itself, so that it gets all of them back."""
    origin = Origin(provider=to.provider, dialect=to.dialect, model=to.model.codename)
    own = tuple(exchange.model_copy(update={"origin": origin}) for exchange in given.function_history)
    return given.model_copy(update={"function_history": own})


def body(given: NeutralContext, to: Target) -> Any:
    """The rendered body."""
    return render(made_by(given, to), to).body


def messages(given: NeutralContext, to: Target | None = None) -> Any:
    """The rendered chat messages."""
    return body(given, to or target())["messages"]


def warned(made: Rendered) -> list[tuple[str, str]]:
    """Codes and places of the warnings."""
    return [(warning.code, warning.place) for warning in made.warnings]


ORIGIN = Origin(provider="custom", dialect="openai-chat", model="m")
