"""Macros in what operators write: `{user}`, `{bot}`, `{char}`, and a choice such as `{{random:red,green}}`."""

import hashlib
import re

_NAMED = re.compile(r"\{\{[ \t]*(user|bot|char)[ \t]*\}\}|\{[ \t]*(user|bot|char)[ \t]*\}", re.IGNORECASE)
_CHOICE = re.compile(r"\{\{[ \t]*random[ \t]*::?([^{}]+)\}\}", re.IGNORECASE)


def resolve(text: str, *, user: str, bot: str, seed: str) -> str:
    """The text with its macros resolved; one without a value stays.

    Choices come last and are drawn by `seed`, so that the same turn draws the same. Options are divided by `::` where
    there is one, else by commas.
    """
    values = {"user": user, "bot": bot, "char": bot}

    def value(macro: re.Match[str]) -> str:
        return values[(macro[1] or macro[2]).lower()] or macro[0]

    drawn = 0

    def choice(macro: re.Match[str]) -> str:
        nonlocal drawn
        drawn += 1
        options = [option.strip() for option in macro[1].split("::" if "::" in macro[1] else ",")]
        dice = hashlib.blake2b(f"{seed}:{drawn}:{macro[1]}".encode(), digest_size=8).digest()
        return options[int.from_bytes(dice, "big") % len(options)]

    return _CHOICE.sub(choice, _NAMED.sub(value, text))
