"""Every record type by name, and the two functions that turn records into bytes and back."""

import json
from collections.abc import Iterable
from typing import TypeVar, cast

from pydantic import ValidationError

from schemas.base import Record
from schemas.channels import ChannelSnapshot
from schemas.claims import Alive, Claimed, Closed
from schemas.deliveries import Cancel, ClearStopButton, SendText, Typing
from schemas.errors import BadRecord, InvalidValue, NewerVersion, UnknownRecordType
from schemas.generations import GenerationRequested
from schemas.headers import Facts, HeaderReader
from schemas.inbox import ChunkBatch, DeliveryReceipt, GenerationFailed, MessageReceived, TimerFired
from schemas.prompts import ProviderRequest
from schemas.stops import StopRequested, TurnInterrupted
from schemas.turns import TurnFinished
from schemas.upcasters import JsonObject, upcast

RecordT = TypeVar("RecordT", bound=Record)

RECORD_TYPES: dict[str, type[Record]] = {
    model.__name__: model
    for model in (
        MessageReceived,
        StopRequested,
        ChunkBatch,
        GenerationFailed,
        DeliveryReceipt,
        TimerFired,
        TurnInterrupted,
        GenerationRequested,
        ProviderRequest,
        SendText,
        Typing,
        ClearStopButton,
        Cancel,
        Claimed,
        Alive,
        Closed,
        TurnFinished,
        ChannelSnapshot,
    )
}


def encode(record: Record) -> bytes:
    """The record's value: compact JSON, keys in the model's order, so that equal records are equal bytes."""
    return record.model_dump_json().encode()


def decode(headers: Iterable[tuple[str, bytes | None]], value: bytes | None) -> tuple[Facts, Record]:
    """The facts and the record behind one Kafka message.

    Raises a `schemas.errors.BadRecord`: HeaderMissing, HeaderInvalid, UnknownRecordType, NewerVersion or InvalidValue.
    """
    facts = HeaderReader(headers).facts()
    model = RECORD_TYPES.get(facts.type)
    if model is None:
        raise UnknownRecordType(
            f"no record type {facts.type[:60]!r}; this code knows {', '.join(sorted(RECORD_TYPES))}"
        )
    if facts.version > model.version:
        raise NewerVersion(
            f"{facts.type} has version {facts.version}, this code reads up to {model.version}; deploy the readers first"
        )
    if value is None:
        raise InvalidValue(f"{facts.type} has no value")
    try:
        if facts.version == model.version:
            return facts, model.model_validate_json(value)
        return facts, model.model_validate(upcast(facts.type, facts.version, model.version, _json_object(facts, value)))
    except ValidationError as error:
        raise InvalidValue(f"{facts.type} does not fit its schema: {_places(error)}") from error


def decode_any(
    headers: Iterable[tuple[str, bytes | None]], value: bytes | None, *models: type[RecordT]
) -> RecordT | None:
    """The record if it is one of `models`, for whoever looks for these in another's topic.

    None for all others, which are not decoded, and for what cannot be read: the topic's own reader puts it aside.
    """
    try:
        if HeaderReader(headers).text("type") not in {model.__name__ for model in models}:
            return None
        _, record = decode(headers, value)
    except BadRecord:
        return None
    return record if isinstance(record, models) else None


def _json_object(facts: Facts, value: bytes) -> JsonObject:
    try:
        parsed: object = json.loads(value)
    except ValueError as error:
        raise InvalidValue(f"{facts.type} is not JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise InvalidValue(f"{facts.type} is JSON, but no object")
    return cast(JsonObject, parsed)


def _places(error: ValidationError) -> str:
    """The fields at fault and why, without their values, which may hold what users wrote."""
    found = [f"{'.'.join(str(part) for part in item['loc']) or 'value'}: {item['msg']}" for item in error.errors()]
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return "; ".join(found[:5]) + more
