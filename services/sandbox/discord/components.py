"""Buttons and their rows: what Discord accepts, and finding one by its custom id.

Source: https://docs.discord.com/developers/components/reference
"""

from collections.abc import Iterator, Mapping, Sequence

from services.sandbox.discord.errors import DiscordError, invalid_form
from services.sandbox.discord.jsontypes import JsonObject, JsonValue

ACTION_ROW = 1
BUTTON = 2
_SELECTS = frozenset({3, 5, 6, 7, 8})
_LINK = 5
_PREMIUM = 6
_CONTAINERS = ("components", "accessory", "component")


def checked_components(components: Sequence[Mapping[str, JsonValue]]) -> list[JsonObject]:
    """The components as stored, each with an id; raises a 50035 for what Discord refuses in buttons and rows."""
    place = ("components",)
    if all(component.get("type") == ACTION_ROW for component in components) and len(components) > 5:
        raise invalid_form(place, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    seen = set[str]()
    stored = [_stored(component, (*place, index), seen) for index, component in enumerate(components)]
    for number, component in enumerate(walk(stored), 1):
        component.setdefault("id", number)
    return stored


def walk(components: JsonValue) -> Iterator[JsonObject]:
    """All components, each before those inside it."""
    if isinstance(components, dict):
        yield components
        for name in _CONTAINERS:
            yield from walk(components.get(name))
    elif isinstance(components, list):
        for component in components:
            yield from walk(component)


def find_usable(components: list[JsonObject], custom_id: str) -> JsonObject | None:
    """The component with this custom id, unless it is disabled."""
    for component in walk(components):
        if component.get("custom_id") == custom_id:
            return None if component.get("disabled") else component
    return None


def _stored(component: Mapping[str, JsonValue], place: tuple[str | int, ...], seen: set[str]) -> JsonObject:
    kind = component.get("type")
    if not isinstance(kind, int):
        raise invalid_form((*place, "type"), "BASE_TYPE_REQUIRED", "This field is required")
    if kind == BUTTON:
        _check_button(component, place)
    custom_id = component.get("custom_id")
    if isinstance(custom_id, str):
        if not 1 <= len(custom_id) <= 100:
            raise invalid_form((*place, "custom_id"), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
        if custom_id in seen:
            message = "Component custom id cannot be duplicated"
            raise invalid_form((*place, "custom_id"), "COMPONENT_CUSTOM_ID_DUPLICATED", message)
        seen.add(custom_id)
    stored = dict(component)
    inner = component.get("components")
    if isinstance(inner, Sequence) and not isinstance(inner, str):
        stored["components"] = [_inner(child, (*place, "components", index), seen) for index, child in enumerate(inner)]
        if kind == ACTION_ROW:
            _check_row(stored["components"], place)
    for name in ("accessory", "component"):
        if name in component:
            stored[name] = _inner(component[name], (*place, name), seen)
    return stored


def _inner(child: JsonValue, place: tuple[str | int, ...], seen: set[str]) -> JsonObject:
    if not isinstance(child, Mapping):
        raise invalid_form(place, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
    return _stored(child, place, seen)


def _check_row(children: Sequence[JsonObject], place: tuple[str | int, ...]) -> None:
    width = sum(5 if child["type"] in _SELECTS else 1 for child in children)
    if not 1 <= width <= 5:
        code = "COMPONENT_LAYOUT_WIDTH_EXCEEDED" if children else "BASE_TYPE_BAD_LENGTH"
        raise invalid_form((*place, "components"), code, "Must be between 1 and 5 in length.")


def _check_button(button: Mapping[str, JsonValue], place: tuple[str | int, ...]) -> None:
    style, label = button.get("style"), button.get("label")
    if not isinstance(style, int) or not 1 <= style <= _PREMIUM:
        raise invalid_form((*place, "style"), "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
    if isinstance(label, str) and len(label) > 80:
        raise invalid_form((*place, "label"), "BASE_TYPE_MAX_LENGTH", "Must be 80 or fewer in length.")
    if style < _LINK and not button.get("custom_id"):
        raise _missing((*place, "custom_id"))
    if style == _LINK and not button.get("url"):
        raise _missing((*place, "url"))
    if style != _PREMIUM and not label and not button.get("emoji"):
        raise invalid_form(place, "BUTTON_COMPONENT_INVALID_EMOJI_OR_LABEL", "A label or an emoji is required")


def _missing(place: tuple[str | int, ...]) -> DiscordError:
    return invalid_form(place, "BASE_TYPE_REQUIRED", "This field is required")
