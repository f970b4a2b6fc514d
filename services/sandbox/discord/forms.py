"""What a request body may hold, as Discord validates it.

Source: https://docs.discord.com/developers/resources/message#create-message
"""

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic import JsonValue as PydanticJson

from services.sandbox.discord.components import checked_components
from services.sandbox.discord.errors import DiscordError, invalid_form, invalid_form_at
from services.sandbox.discord.jsontypes import JsonObject, JsonValue

CONTENT_LIMIT = 2_000
NONCE_LIMIT = 25
EMBEDS_LIMIT = 10
EMBED_TEXT_LIMIT = 6_000

_Id = Annotated[int, Field(ge=0, lt=1 << 64)]
_Text = Annotated[str, Field(strict=True)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class EmbedFooter(_Form):
    text: Annotated[str, Field(max_length=2048)]
    icon_url: str | None = None


class EmbedAuthor(_Form):
    name: Annotated[str, Field(max_length=256)]
    url: str | None = None
    icon_url: str | None = None


class EmbedField(_Form):
    name: Annotated[str, Field(max_length=256, min_length=1)]
    value: Annotated[str, Field(max_length=1024, min_length=1)]
    inline: bool = False


class EmbedMedia(_Form):
    url: str


class EmbedForm(_Form):
    title: Annotated[str, Field(max_length=256)] | None = None
    description: Annotated[str, Field(max_length=4096)] | None = None
    url: str | None = None
    timestamp: str | None = None
    color: Annotated[int, Field(ge=0, le=0xFFFFFF)] | None = None
    footer: EmbedFooter | None = None
    author: EmbedAuthor | None = None
    image: EmbedMedia | None = None
    thumbnail: EmbedMedia | None = None
    fields: Annotated[list[EmbedField], Field(max_length=25)] = []

    def text_length(self) -> int:
        texts = [self.title, self.description, self.footer and self.footer.text, self.author and self.author.name]
        texts += [text for field in self.fields for text in (field.name, field.value)]
        return sum(len(text) for text in texts if text)

    def stored(self) -> JsonObject:
        return {"type": "rich", **self.model_dump(exclude_unset=True, exclude_none=True)}


class Reference(_Form):
    message_id: _Id
    channel_id: _Id | None = None
    fail_if_not_exists: bool = True


class AllowedMentions(_Form):
    parse: list[Literal["users", "roles", "everyone"]] = []
    users: Annotated[list[_Id], Field(max_length=100)] = []
    roles: Annotated[list[_Id], Field(max_length=100)] = []
    replied_user: bool = False


class AttachmentForm(_Form):
    id: _Id
    filename: str | None = None
    description: Annotated[str, Field(max_length=1024)] | None = None


class MessageForm(_Form):
    """A message to send or to change; for a change `model_fields_set` says what is given."""

    content: Annotated[_Text, Field(max_length=CONTENT_LIMIT)] | None = None
    nonce: Annotated[str, Field(max_length=NONCE_LIMIT)] | int | None = None
    enforce_nonce: bool = False
    embeds: Annotated[list[EmbedForm], Field(max_length=EMBEDS_LIMIT)] | None = None
    components: list[dict[str, PydanticJson]] | None = None
    allowed_mentions: AllowedMentions | None = None
    message_reference: Reference | None = None
    attachments: list[AttachmentForm] | None = None
    flags: int | None = None
    username: Annotated[str, Field(min_length=1, max_length=80)] | None = None

    def stored_components(self) -> list[JsonObject]:
        return checked_components(self.components or [])


_FormT = TypeVar("_FormT", bound=BaseModel)


def read_form(form: type[_FormT], body: JsonValue) -> _FormT:
    """`body` as a form; raises a 50035 that names each place that is wrong."""
    try:
        return TypeAdapter(form).validate_python(body)
    except ValidationError as error:
        raise _invalid(error) from None


def read_message(body: JsonValue) -> MessageForm:
    form = read_form(MessageForm, body)
    if sum(embed.text_length() for embed in form.embeds or ()) > EMBED_TEXT_LIMIT:
        message = f"Embed size exceeds maximum size of {EMBED_TEXT_LIMIT}"
        raise invalid_form(("embeds",), "MAX_EMBED_SIZE_EXCEEDED", message)
    allowed = form.allowed_mentions
    if allowed is not None:
        for name, ids in (("users", allowed.users), ("roles", allowed.roles)):
            if ids and name in allowed.parse:
                message = f'parse:["{name}"] and {name}: [ids...] are mutually exclusive.'
                raise invalid_form(("allowed_mentions",), "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message)
    return form


def _invalid(error: ValidationError) -> DiscordError:
    # A union names its branch in the path ("nonce", "constrained-str"): Discord's tree has places in the body only.
    reasons = dict[tuple[str | int, ...], tuple[str, str]]()
    for detail in error.errors(include_url=False, include_input=False):
        place = tuple(step for step in detail["loc"] if isinstance(step, int) or _in_body(step))
        reasons.setdefault(place, _reason(detail["type"], detail.get("ctx", {})))
    return invalid_form_at([(place, *reason) for place, reason in reasons.items()])


_BRANCHES = frozenset({"int", "str", "float", "bool", "none"})


def _in_body(step: str) -> bool:
    return step.isidentifier() and step not in _BRANCHES


def _reason(kind: str, context: dict[str, object]) -> tuple[str, str]:
    match kind:
        case "missing":
            return "BASE_TYPE_REQUIRED", "This field is required"
        case "string_too_long":
            return "BASE_TYPE_MAX_LENGTH", f"Must be {context['max_length']} or fewer in length."
        case "string_too_short":
            return "BASE_TYPE_MIN_LENGTH", f"Must be {context['min_length']} or more in length."
        case "too_long":
            return "BASE_TYPE_BAD_LENGTH", f"Must be {context['max_length']} or fewer in length."
        case "literal_error" | "enum":
            return "BASE_TYPE_CHOICES", f"Value must be one of {{{context.get('expected', '')}}}."
        case "less_than_equal":
            return "NUMBER_TYPE_MAX", f"Value should be less than or equal to {context['le']}."
        case "greater_than_equal":
            return "NUMBER_TYPE_MIN", f"Value should be greater than or equal to {context['ge']}."
        case _:
            return "BASE_TYPE_BAD_TYPE", f"Could not interpret the value ({kind})."


def within(limits: tuple[int, int], value: str, name: str) -> int:
    """`value` as a number within `limits`, both ends included; else a 50035 at `name`."""
    low, high = limits
    if not (value.isascii() and value.removeprefix("-").isdigit() and len(value) <= 20):
        raise invalid_form((name,), "NUMBER_TYPE_COERCE", f'Value "{value[:40]}" is not int.')
    number = int(value)
    if number < low:
        raise invalid_form((name,), "NUMBER_TYPE_MIN", f"int value should be greater than or equal to {low}.")
    if number > high:
        raise invalid_form((name,), "NUMBER_TYPE_MAX", f"int value should be less than or equal to {high}.")
    return number
