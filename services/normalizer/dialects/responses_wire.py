"""What is read of an event of OpenAI's responses: https://platform.openai.com/docs/api-reference/responses-streaming."""

import msgspec

from services.normalizer.decode import PayloadDecoder


class Response(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    status: str | None = None
    output: object = None
    usage: object = None
    error: object = None
    incomplete_details: object = None


class Payload(msgspec.Struct, gc=False):
    type: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: object = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None
    item: object = None
    part: object = None
    response: Response | None = None
    error: object = None


class Owner(msgspec.Struct, gc=False):
    item_id: str | None = None


PAYLOAD = PayloadDecoder(Payload)
_OWNER = PayloadDecoder(Owner)


def item_id_of(data: bytes) -> str:
    """The item that an event names. It is no field of Payload: few events need it, and it can be as long as a text."""
    owner = _OWNER.decode(data)
    return (owner.item_id if owner is not None else None) or ""
