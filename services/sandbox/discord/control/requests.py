"""What a control request may hold. People, channels and guilds are named by name or by id, messages by id."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from services.sandbox.discord.entities import DenyCode
from services.sandbox.discord.faults import Away
from services.sandbox.discord.gateway.service import Parting


class Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewUser(Wanted):
    username: Annotated[str, Field(min_length=1, max_length=32)]
    guild: str | None = None


class NewGuild(Wanted):
    name: Annotated[str, Field(min_length=2, max_length=100)]
    members: list[str] = []


class NewChannel(Wanted):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    guild: str | None = None


class NewDm(Wanted):
    user: str


class File(Wanted):
    filename: str
    content: str


class NewMessage(Wanted):
    user: str
    channel: str
    content: str = ""
    reply_to: str | None = None
    files: list[File] = []


class Edit(Wanted):
    user: str
    content: str


class Typing(Wanted):
    user: str
    channel: str


class Press(Wanted):
    user: str
    message: str
    custom_id: str


class Use(Wanted):
    user: str
    channel: str
    name: str
    options: dict[str, JsonValue] = {}


class Submit(Wanted):
    user: str
    interaction: str
    values: dict[str, str]


class Deny(Wanted):
    code: DenyCode | None


class NewFault(Wanted):
    method: str = "*"
    path: str = "*"
    delay_s: Annotated[float, Field(ge=0, le=600)] = 0.0
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    cut: bool = False
    apply: bool = False
    retry_after: Annotated[float, Field(ge=0)] = 1.0
    skip: Annotated[int, Field(ge=0)] = 0
    times: Annotated[int, Field(ge=1)] | None = 1


class GoAway(Wanted):
    seconds: Annotated[float, Field(ge=0)]
    how: Away = "cut"


class Disconnect(Wanted):
    how: Parting = "close"
    code: Annotated[int, Field(ge=1000, le=4999)] = 4000
    resumable: bool = True
    shard: int | None = None
