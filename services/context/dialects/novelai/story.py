"""A context as a story that goes on, for models that continue text and know no roles.

Attributes at the top and a rule between scenes: https://docs.novelai.net/text/specialsymbols.html
"""

from collections.abc import Sequence
from itertools import groupby

from services.context.dialects.novelai.items import Said

RULE = "***"
UNNAMED = "Bot"


def story(system: str, dialogue: Sequence[Said], *, persona: str | None, opening: str) -> str:
    """Attribution, style, the system text, examples and the conversation, up to the persona's next line.

    `opening` is how that line begins; it may bear the persona's label itself.
    """
    name = line(persona or "") or UNNAMED
    scenes = [system] if system else []
    for _, said in groupby(dialogue, key=lambda one: one.is_sample):
        scenes.append("\n".join(one.text for one in said))
    label = f"{name}:"
    next_line = opening if opening.startswith(label) else f"{label} {opening}"
    top = f"[ Author: {name}; Title: Chat with {name}; Tags: chat, dialogue; Genre: chat ]\n[ Style: chat ]"
    return f"\n{RULE}\n".join([top, *scenes]) + f"\n{next_line}"


def line(name: str) -> str:
    """A name on one line and without what ends an attribute."""
    return " ".join(name.translate(str.maketrans("[];:", "()  ")).split())
