"""Where a context has its media, numbered, and the same context with other parts in those places."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.context import (
    ContextPart,
    FunctionExchange,
    FunctionResult,
    ImagePart,
    NeutralContext,
    OmittedPart,
    StructuredContextItem,
    TextPart,
    VideoPart,
)

Replacements = Mapping[int, Sequence[ContextPart]]
"""By the identity of the part whose place they take."""


@dataclass(frozen=True, slots=True)
class Place:
    """A medium of the request. `index` counts those of its kind from 0, also those left out before.

    `of_a_tool`: a tool returned it; `of_the_model`: it is in an item in the model's role.
    """

    part: ImagePart | VideoPart
    index: int
    of_a_tool: bool = False
    of_the_model: bool = False


def places(context: NeutralContext) -> Iterator[Place]:
    """All media that still are media, in the request's order: items first, then what tools returned."""
    images = videos = 0
    for part, of_a_tool, of_the_model in _parts(context):
        match part:
            case ImagePart():
                yield Place(part, images, of_a_tool, of_the_model)
                images += 1
            case VideoPart():
                yield Place(part, videos, of_a_tool, of_the_model)
                videos += 1
            case OmittedPart():
                images += part.medium == "image"
                videos += part.medium == "video"
            case TextPart():
                pass


def replaced(context: NeutralContext, made: Replacements) -> NeutralContext:
    """The context with what was made in the places of its media; hidden data stay."""
    items = tuple(_item(item, made) for item in context.items)
    history = tuple(_exchange(exchange, made) for exchange in context.function_history)
    return context.model_copy(update={"items": items, "function_history": history})


def _parts(context: NeutralContext) -> Iterator[tuple[ContextPart, bool, bool]]:
    for item in context.items:
        for part in item.parts:
            yield part, False, item.role == "model"
    for exchange in context.function_history:
        for result in exchange.results:
            for image in result.images:
                yield image, True, False


def _item(item: StructuredContextItem, made: Replacements) -> StructuredContextItem:
    if not any(id(part) in made for part in item.parts):
        return item
    parts = tuple(new for part in item.parts for new in made.get(id(part), (part,)))
    return item.model_copy(update={"parts": parts})


def _exchange(exchange: FunctionExchange, made: Replacements) -> FunctionExchange:
    return exchange.model_copy(update={"results": tuple(_result(result, made) for result in exchange.results)})


def _result(result: FunctionResult, made: Replacements) -> FunctionResult:
    images = tuple(new for image in result.images for new in made.get(id(image), (image,)))
    return result.model_copy(update={"images": images})
