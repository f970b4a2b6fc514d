"""Whom a text mentions, after `allowed_mentions` has had its say.

Source: https://docs.discord.com/developers/resources/message#allowed-mentions-object
"""

import re
from collections.abc import Mapping

from services.sandbox.discord.entities import User
from services.sandbox.discord.forms import AllowedMentions

_USER = re.compile(r"<@!?(\d{1,20})>")
_EVERYONE = re.compile(r"@(everyone|here)\b")


def mentioned(
    content: str, known: Mapping[int, User], replied_to: User | None, allowed: AllowedMentions | None
) -> tuple[tuple[User, ...], bool]:
    """The users that are notified, in the order of the text, and whether everybody is.

    Without `allowed` all mentions count, and so does the author of the message that is replied to.
    """
    named = dict.fromkeys(int(found) for found in _USER.findall(content))
    users = {user_id: known[user_id] for user_id in named if user_id in known and _may(user_id, allowed)}
    if replied_to is not None and not replied_to.webhook and (allowed is None or allowed.replied_user):
        users.setdefault(replied_to.id, replied_to)
    everyone = allowed is None or "everyone" in allowed.parse
    return tuple(users.values()), everyone and _EVERYONE.search(content) is not None


def _may(user_id: int, allowed: AllowedMentions | None) -> bool:
    return allowed is None or "users" in allowed.parse or user_id in allowed.users
