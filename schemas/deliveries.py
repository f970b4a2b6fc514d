"""What the orchestrator tells delivery to show in Discord, in order, each with turn and sequence."""

from typing import Annotated

from pydantic import Field

from schemas.base import Record, Sequence, Snowflake, TurnId

NOTICE = "-# "
"""How the text of every notice begins: Discord shows it small, and context leaves it out of what the model reads.

https://support.discord.com/hc/en-us/articles/210298617
"""


class SendText(Record):
    """One new message. `text` fits into Discord's 2,000 code points as it is.

    `start` and `end` are the range of the turn's decided text that the message shows, in code points; both are None
    for a notice, which is not part of the reply. `reply_to` is shown as a reply where that message still is.
    """

    channel_id: Snowflake
    turn: TurnId
    sequence: Sequence
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    start: int | None = None
    end: int | None = None
    reply_to: Snowflake | None = None
    stop_button: bool = False


class Typing(Record):
    """Show the typing indicator until the turn's `active=False`, its last message, or a cap in the worker."""

    channel_id: Snowflake
    turn: TurnId
    sequence: Sequence
    active: bool


class ClearStopButton(Record):
    """Take the Stop button off the message that the turn's output `of` made."""

    channel_id: Snowflake
    turn: TurnId
    sequence: Sequence
    of: Sequence
    message_id: Snowflake


class Cancel(Record):
    """Send none of the turn's messages from `first` to this output that have not begun; it overtakes what still waits.

    Outputs of the turn that follow it, such as the end of typing, count.
    """

    channel_id: Snowflake
    turn: TurnId
    sequence: Sequence
    first: Sequence
