"""Showing one message in Discord so that it stands there once, however often it is tried.

A nonce makes Discord itself drop a repetition for a few minutes. What is older than that is looked for in the channel
before it is sent; history tells no nonces, so a message counts as found if it is the bot's, has the same text, came
after the order, and is not another output of the turn.
"""

from dataclasses import dataclass

import discord

from schemas.deliveries import ClearStopButton, SendText
from schemas.discord import stop_custom_id
from schemas.identities import nonce
from schemas.inbox import Failed, Sent
from services.delivery.metrics import FOUND
from services.delivery.refusals import reaching_discord, refusal
from services.runtime.logs import get_logger

logger = get_logger("delivery.sending")

NONCE_MS = 60_000
_LOOKED_AT = 100
_CLOCKS_APART_MS = 5_000
_DISCORD_EPOCH_MS = 1_420_070_400_000
_NO_HISTORY_FOR_REPLY = 160002


@dataclass(frozen=True, slots=True)
class Order:
    """A text to be shown. `written_ms` is the record's time, `now_ms` the time of this try, in ms since 1970.

    `others`: messages that are known to be other outputs of the turn.
    """

    text: SendText
    written_ms: int
    now_ms: int
    others: frozenset[str]


async def send_text(client: discord.Client, order: Order) -> Sent | Failed:
    """Show the text, or find that it is shown; raises Unavailable where it may be shown later."""
    with reaching_discord(client):
        try:
            if order.now_ms - order.written_ms >= NONCE_MS:
                found = await _find(client, order)
                if found is not None:
                    FOUND.inc()
                    return Sent(message_id=str(found.id))
            return Sent(message_id=str((await _post(client, order.text)).id))
        except discord.HTTPException as error:
            return refusal(error)


async def clear_stop_button(client: discord.Client, order: ClearStopButton) -> None:
    """Take the button off a message. A refusal is logged; raises Unavailable where it may be done later."""
    channel = client.get_partial_messageable(int(order.channel_id))
    with reaching_discord(client):
        try:
            await channel.get_partial_message(int(order.message_id)).edit(view=None)
        except discord.HTTPException as error:
            failed = refusal(error)
            logger.info("stop button not cleared", channel=order.channel_id, turn=order.turn, code=failed.code)


async def _post(client: discord.Client, text: SendText) -> discord.Message:
    channel = client.get_partial_messageable(int(text.channel_id))
    reference = None
    if text.reply_to is not None:
        reference = discord.MessageReference(
            message_id=int(text.reply_to), channel_id=int(text.channel_id), fail_if_not_exists=False
        )
    try:
        return await _send(channel, text, reference)
    except discord.Forbidden as error:
        if reference is None or error.code != _NO_HISTORY_FOR_REPLY:
            raise
        return await _send(channel, text, None)


async def _send(
    channel: discord.PartialMessageable, text: SendText, reference: discord.MessageReference | None
) -> discord.Message:
    mark = nonce(text.turn, text.sequence)
    silent = discord.AllowedMentions.none()
    # discord.py's overloads know no `None` for a reference or a view.
    if text.stop_button:
        view = _stop_view(text.turn)
        if reference is None:
            return await channel.send(text.text, nonce=mark, allowed_mentions=silent, view=view)
        return await channel.send(text.text, nonce=mark, allowed_mentions=silent, view=view, reference=reference)
    if reference is None:
        return await channel.send(text.text, nonce=mark, allowed_mentions=silent)
    return await channel.send(text.text, nonce=mark, allowed_mentions=silent, reference=reference)


def _stop_view(turn: str) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Stop", style=discord.ButtonStyle.secondary, custom_id=stop_custom_id(turn)))
    # The gateway answers presses, by custom id; a view that is not stopped would be kept here for ever.
    view.stop()
    return view


async def _find(client: discord.Client, order: Order) -> discord.Message | None:
    user = client.user
    if user is None:
        return None
    text = order.text
    since_ms = max(0, order.written_ms - _CLOCKS_APART_MS - _DISCORD_EPOCH_MS)
    channel = client.get_partial_messageable(int(text.channel_id))
    after = discord.Object(since_ms << 22)
    try:
        async for message in channel.history(limit=_LOOKED_AT, after=after, oldest_first=True):
            own = message.author.id == user.id and str(message.id) not in order.others
            if own and message.content.strip() == text.text.strip():
                return message
    except discord.Forbidden:
        logger.warning("history is closed to the bot, so an old output is sent unseen", channel=text.channel_id)
    return None
