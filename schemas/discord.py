"""What workers must agree upon about Discord: the custom id of the Stop button, the time in a snowflake."""

import re

STOP_CUSTOM_ID = re.compile(r"odradek:stop:(?P<turn>[A-Za-z0-9._-]{1,64})")
"""Matches the custom id of a Stop button; `turn` is the turn that it stops. The id is the button's whole memory."""


def stop_custom_id(turn: str) -> str:
    """The custom id of the turn's Stop button, below Discord's 100 characters.

    https://discord.com/developers/docs/components/reference#anatomy-of-a-component
    """
    return f"odradek:stop:{turn}"


_EPOCH_MS = 1_420_070_400_000


def created_ms(snowflake: str) -> int:
    """When Discord made the id, in ms since 1970 by its own clock.

    https://discord.com/developers/docs/reference#snowflakes-snowflake-id-format-structure-left-to-right
    """
    return (int(snowflake) >> 22) + _EPOCH_MS
