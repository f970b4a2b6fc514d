"""How ids are made from what caused them, so that a repeated output has the same id and a reader can drop it."""

import hashlib


def turn_of_message(message_id: str) -> str:
    """The turn that a message starts."""
    return f"m{message_id}"


def message_of_turn(turn: str) -> str:
    """The snowflake of the message that started the turn; "0" for a turn of another kind."""
    snowflake = turn.removeprefix("m")
    return snowflake if snowflake.isascii() and snowflake.isdigit() else "0"


def stream_effect(turn: str, generation: int) -> str:
    """The effect id under which a provider call is claimed."""
    return f"stream:{turn}:{generation}"


def batch_of_stream(turn: str, generation: int, sequence: int) -> str:
    """The event id of a stream's chunk batch."""
    return f"batch:{turn}:{generation}:{sequence}"


def nonce(turn: str, sequence: int) -> str:
    """The nonce of a bot message: 25 characters at most, as Discord demands, the same for the same output.

    https://discord.com/developers/docs/resources/message#create-message
    """
    return hashlib.blake2b(f"{turn}/{sequence}".encode(), digest_size=12).hexdigest()


def traceparent(turn: str, span: str) -> str:
    """A W3C trace context whose trace id comes from the turn and whose span id from the output.

    https://www.w3.org/TR/trace-context/#traceparent-header
    """
    trace_id = hashlib.blake2b(turn.encode(), digest_size=16).hexdigest()
    span_id = hashlib.blake2b(f"{turn}/{span}".encode(), digest_size=8).hexdigest()
    return f"00-{trace_id}-{span_id}-01"
