"""What gateway and delivery must agree upon about Discord: the custom id of the Stop button."""

import re

STOP_CUSTOM_ID = re.compile(r"odradek:stop:(?P<turn>[A-Za-z0-9._-]{1,64})")
"""Matches the custom id of a Stop button; `turn` is the turn that it stops. The id is the button's whole memory."""


def stop_custom_id(turn: str) -> str:
    """The custom id of the turn's Stop button, below Discord's 100 characters.

    https://discord.com/developers/docs/components/reference#anatomy-of-a-component
    """
    return f"odradek:stop:{turn}"
