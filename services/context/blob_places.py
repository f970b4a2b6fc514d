"""Takes the blobs out of a rendered body: an empty string stays in each one's place, and a list says what belongs there."""

from pydantic import JsonValue

from schemas.prompts import BlobPlace
from services.context.rendered import BlobText, NativeValue


def take_out(body: dict[str, NativeValue]) -> tuple[dict[str, JsonValue], tuple[BlobPlace, ...]]:
    """The body as JSON, and where the provider worker puts which blob; places are in the order of the body."""
    places: list[BlobPlace] = []
    taken = {name: _taken(value, f"/{_token(name)}", places) for name, value in body.items()}
    return taken, tuple(places)


def _taken(value: NativeValue, path: str, places: list[BlobPlace]) -> JsonValue:
    match value:
        case BlobText():
            places.append(BlobPlace(path=path, blob=value.blob, prefix=value.prefix))
            return ""
        case dict():
            return {name: _taken(member, f"{path}/{_token(name)}", places) for name, member in value.items()}
        case list():
            return [_taken(item, f"{path}/{number}", places) for number, item in enumerate(value)]
        case _:
            return value


def _token(name: str) -> str:
    """A member's name as a reference token of a JSON Pointer (RFC 6901, section 3)."""
    return name.replace("~", "~0").replace("/", "~1")
