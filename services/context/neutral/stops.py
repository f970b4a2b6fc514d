"""Stop strings: those of the dialect, of the server and of the persona in one list, within what the provider takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from schemas.context import GenerationOptions
from services.catalog.target import ProviderName
from services.context.rendered import RenderWarning

UNIVERSAL = ("<\uff5cbegin\u2581of\u2581sentence\uff5c>",)
"""Tokens that no reply may hold: DeepSeek's begin of sentence, which several models write when they run on."""

MOST_STOPS: Mapping[ProviderName, int | None] = {
    "openai": 4,  # https://platform.openai.com/docs/api-reference/chat/create
    "google": 5,  # https://ai.google.dev/api/generate-content#generationconfig
    "vertex": 5,
    "vertexexpress": 5,
    "openrouter": 4,  # it states none, but hands them to providers that take no more
    "anthropic": None,
    "deepseek": 16,  # https://api-docs.deepseek.com/api/create-chat-completion
    "zai": 1,  # https://docs.z.ai/api-reference/llm/chat-completion
    "zaicoding": 1,
    "nvidia": None,
    "novelai": None,
    "custom": None,
}
"""How many stop strings a provider takes; None: it states no limit."""

_Source = Literal["dialect", "user", "universal"]
_PRECEDENCE: Mapping[_Source, int] = {"dialect": 0, "user": 1, "universal": 2}


@dataclass(frozen=True, slots=True)
class Stops:
    """What to send, which may be nothing, and what of the wishes is not in it."""

    strings: tuple[str, ...]
    warnings: tuple[RenderWarning, ...] = ()


def stop_strings(
    options: GenerationOptions,
    *,
    own: tuple[str, ...] = (),
    universal: tuple[str, ...] = UNIVERSAL,
    specialised: tuple[str, ...] = (),
    most: int | None = None,
    with_speaker: bool = True,
    takes_blank: bool = True,
) -> Stops:
    """The stop strings in their order: `own` of the dialect, universal, specialised for a model, server's, persona's.

    Empty ones and repetitions are left out. Beyond `most` those go first that nobody asked for, the universal, then the
    last of the user's; the dialect's own are needed. `with_speaker` False: this provider gets no persona's stop.
    `takes_blank` False: it refuses stop strings of blanks alone.
    """
    found: dict[str, tuple[_Source, str]] = {}

    def offer(source: _Source, texts: Iterable[str], place: str) -> None:
        for index, text in enumerate(texts):
            held = found.get(text)
            if text and (held is None or _PRECEDENCE[source] < _PRECEDENCE[held[0]]):
                found[text] = (source, f"{place}[{index}]")

    offer("dialect", own, "own")
    offer("universal", universal, "universal")
    offer("dialect", specialised, "specialised")
    offer("user", options.stop_strings, "options.stop_strings")
    if options.speaker_stop and with_speaker and (name := " ".join((options.persona_name or "").split())):
        found.setdefault(f"\n{name}:", ("user", "options.persona_name"))
    taken = [text for text in found if takes_blank or text.strip()]
    # sorted() is stable, so within a source the first stay.
    kept = set(sorted(taken, key=lambda text: _PRECEDENCE[found[text][0]])[:most])
    cut = [place for text, (_, place) in found.items() if text not in kept]
    strings = tuple(text for text in found if text in kept)
    return Stops(strings, (_warning(cut, most, takes_blank=takes_blank),) if cut else ())


def _warning(cut: list[str], most: int | None, *, takes_blank: bool) -> RenderWarning:
    limits = [] if most is None else [f"takes at most {most} stop strings"]
    if not takes_blank:
        limits.append("takes none of blanks alone")
    message = f"the provider {' and '.join(limits)}; left out: {', '.join(cut)}"
    return RenderWarning("stop_strings_cut", "options.stop_strings", message)
