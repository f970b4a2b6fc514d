"""The port to Discord's channels through discord.py."""

from collections.abc import Callable, Set

import discord

from schemas.deliveries import ClearStopButton, SendText
from schemas.discord import stop_custom_id
from schemas.inbox import Failed, Sent
from services.delivery.refusals import reaching_discord, refusal
from services.runtime.errors import Unavailable
from services.runtime.logs import get_logger

logger = get_logger("delivery.discord")

LONGEST_WAIT_S = 60.0
"""A message that Discord would take only later than this is given up: whoever waits for it has gone, and while it waits
nothing of its partition that comes behind it is committed."""

RATE_LIMITED = "rate_limited"
"""The code of such an output."""

_LOOKED_AT = 300
_NO_HISTORY_FOR_REPLY = 160002


class DiscordChannels:
    """Channels as a logged-in client reaches them; see `services.delivery.channels.Channels`.

    `limits_all`: whether it is the whole bot from which Discord takes nothing now, and not one channel.
    """

    def __init__(self, client: discord.Client, limits_all: Callable[[], bool]) -> None:
        self._client = client
        self._limits_all = limits_all

    async def post(self, order: SendText, nonce: str) -> Sent | Failed:
        """Make one message; a reply falls back to a plain message where the bot may not read the history."""
        try:
            async with reaching_discord(self._client):
                return await self._post(order, nonce)
        except discord.RateLimited as error:
            if self._limits_all():
                raise Unavailable("discord", "it limits the whole bot", retry_after_s=LONGEST_WAIT_S) from error
            return Failed(code=RATE_LIMITED, reason=f"Discord asks to wait for {error.retry_after:.0f} s")

    async def _post(self, order: SendText, nonce: str) -> Sent | Failed:
        reference = None
        if order.reply_to is not None:
            reference = discord.MessageReference(
                message_id=int(order.reply_to), channel_id=int(order.channel_id), fail_if_not_exists=False
            )
        try:
            return await self._send(order, nonce, reference)
        except discord.Forbidden as error:
            if reference is None or error.code != _NO_HISTORY_FOR_REPLY:
                return refusal(error)
        except discord.HTTPException as error:
            return refusal(error)
        try:
            return await self._send(order, nonce, None)
        except discord.HTTPException as error:
            return refusal(error)

    async def _send(self, order: SendText, nonce: str, reference: discord.MessageReference | None) -> Sent:
        channel = self._client.get_partial_messageable(int(order.channel_id))
        silent = discord.AllowedMentions.none()
        # discord.py's overloads know no `None` for a reference or a view.
        if order.stop_button:
            view = _stop_view(order.turn)
            if reference is None:
                made = await channel.send(order.text, nonce=nonce, allowed_mentions=silent, view=view)
            else:
                made = await channel.send(
                    order.text, nonce=nonce, allowed_mentions=silent, view=view, reference=reference
                )
        elif reference is None:
            made = await channel.send(order.text, nonce=nonce, allowed_mentions=silent)
        else:
            made = await channel.send(order.text, nonce=nonce, allowed_mentions=silent, reference=reference)
        return Sent(message_id=str(made.id))

    async def find(self, order: SendText, after: str, others: Set[str]) -> Sent | None:
        """Look through the channel's messages after one; None also where history is closed to the bot."""
        user = self._client.user
        if user is None:
            return None
        channel = self._client.get_partial_messageable(int(order.channel_id))
        async with reaching_discord(self._client):
            try:
                async for message in channel.history(
                    limit=_LOOKED_AT, after=discord.Object(int(after)), oldest_first=True
                ):
                    own = message.author.id == user.id and str(message.id) not in others
                    if own and message.content.strip() == order.text.strip():
                        return Sent(message_id=str(message.id))
            except discord.Forbidden:
                logger.warning(
                    "history is closed to the bot, so an old output is sent unseen", channel=order.channel_id
                )
            except discord.HTTPException as error:
                failed = refusal(error)
                logger.info("history refused", channel=order.channel_id, code=failed.code)
            except discord.RateLimited:
                logger.info("history refused", channel=order.channel_id, code=RATE_LIMITED)
        return None

    async def clear_stop_button(self, order: ClearStopButton) -> None:
        """Take the button off a message."""
        channel = self._client.get_partial_messageable(int(order.channel_id))
        async with reaching_discord(self._client):
            try:
                await channel.get_partial_message(int(order.message_id)).edit(view=None)
            except discord.HTTPException as error:
                failed = refusal(error)
                logger.info("stop button not cleared", channel=order.channel_id, turn=order.turn, code=failed.code)
            except discord.RateLimited:
                logger.info("stop button not cleared", channel=order.channel_id, turn=order.turn, code=RATE_LIMITED)

    async def show_typing(self, channel: str) -> bool:
        """Show the typing indicator once."""
        async with reaching_discord(self._client):
            try:
                await self._client.get_partial_messageable(int(channel)).typing()
            except (discord.Forbidden, discord.NotFound) as error:
                logger.info("typing refused", channel=channel, code=error.code)
                return False
            except discord.RateLimited:
                logger.info("typing refused", channel=channel, code=RATE_LIMITED)
                return False
            except discord.HTTPException as error:
                raise Unavailable("discord", f"status {error.status}") from error
        return True


def _stop_view(turn: str) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Stop", style=discord.ButtonStyle.secondary, custom_id=stop_custom_id(turn)))
    # The gateway answers presses, by custom id; a view that is not stopped would be kept here for ever.
    view.stop()
    return view
