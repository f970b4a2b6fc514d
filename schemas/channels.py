"""A channel's actor as it stood at an offset of the inbox."""

from typing import Annotated

from pydantic import Field, JsonValue

from schemas.base import Record, Snowflake


class ChannelSnapshot(Record):
    """The state after folding the channel's events up to and with inbox offset `settled`.

    Of several snapshots of a channel the one with the highest `settled` counts, never the last one written.
    `state_version` is that of the orchestrator's state model.
    """

    channel_id: Snowflake
    settled: Annotated[int, Field(ge=0)]
    state_version: Annotated[int, Field(ge=1)]
    state: dict[str, JsonValue]
