"""Discord's Markdown, in part, as a tree of blocks and spans: bold, italic, code, quotes, list items, small print, mentions.

What is not understood stays text, and text is never markup of the page: the browser makes elements of the tree and puts
the texts into them as texts. Source: https://support.discord.com/hc/en-us/articles/210298617
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from services.sandbox.page.jsontypes import Block, Span

_LineKind = Literal["text", "quote", "item", "small"]

CHARS = 4_000
_DEPTH = 4

_FENCE = re.compile(r"```(?:([A-Za-z0-9_+.#-]{1,20})\n)?(.*?)```", re.DOTALL)
_INLINE = re.compile(
    r"\\(?P<escaped>[\\*_`~|>#-])"
    r"|(?P<tick>``?)(?P<code>[^`]+)(?P=tick)"
    r"|<@!?(?P<mention>[0-9]{1,20})>"
    r"|\*\*(?P<bold>(?=\S).+?)\*\*(?!\*)"
    r"|\*(?P<star>(?=\S)[^*]+?)\*"
    r"|(?<![A-Za-z0-9_])_(?P<under>(?=\S)[^_]+?)_(?![A-Za-z0-9_])",
    re.DOTALL,
)


def blocks_of(content: str, names: Mapping[str, str]) -> list[Block]:
    """The blocks of a message's first 4,000 characters. `names` are people's names by id, for mentions."""
    text = content[:CHARS]
    blocks: list[Block] = []
    position = 0
    for fence in _FENCE.finditer(text):
        blocks.extend(_lines(text[position : fence.start()], names))
        blocks.append(Block(kind="code", language=fence[1] or "", text=fence[2].strip("\n")))
        position = fence.end()
    blocks.extend(_lines(text[position:], names))
    return blocks


def _lines(text: str, names: Mapping[str, str]) -> Iterator[Block]:
    """The text outside code: lines of one kind that follow each other are one block."""
    open_block: tuple[_LineKind, list[str]] | None = None
    for line in text.strip("\n").split("\n") if text.strip() else ():
        kind, rest = _kind(line)
        if open_block is not None and open_block[0] == kind and kind in ("text", "quote"):
            open_block[1].append(rest)
            continue
        if open_block is not None:
            yield from _block(*open_block, names)
        open_block = (kind, [rest])
    if open_block is not None:
        yield from _block(*open_block, names)


def _kind(line: str) -> tuple[_LineKind, str]:
    if line.startswith("> "):
        return "quote", line[2:]
    if line.startswith("-# "):
        return "small", line[3:]
    if line.startswith(("- ", "* ")):
        return "item", line[2:]
    return "text", line


def _block(kind: _LineKind, lines: list[str], names: Mapping[str, str]) -> Iterator[Block]:
    for text in _paragraphs(lines) if kind == "text" else ("\n".join(lines),):
        yield Block(kind=kind, spans=list(_spans(text, names, _DEPTH)))


def _paragraphs(lines: list[str]) -> Iterator[str]:
    for paragraph in re.split(r"\n{2,}", "\n".join(lines).strip("\n")):
        if paragraph.strip():
            yield paragraph


def _spans(text: str, names: Mapping[str, str], depth: int) -> Iterator[Span]:
    position = 0
    for found in _INLINE.finditer(text) if depth else ():
        if found.start() > position:
            yield Span(kind="text", text=text[position : found.start()])
        position = found.end()
        yield _span(found, names, depth)
    if position < len(text):
        yield Span(kind="text", text=text[position:])


def _span(found: re.Match[str], names: Mapping[str, str], depth: int) -> Span:
    match found.lastgroup:
        case "escaped":
            return Span(kind="text", text=found["escaped"])
        case "code":
            return Span(kind="code", text=found["code"])
        case "mention":
            known = names.get(found["mention"])
            return Span(kind="mention", text=f"@{known}") if known else Span(kind="text", text=found[0])
        case "bold":
            return Span(kind="bold", spans=list(_spans(found["bold"], names, depth - 1)))
        case _:
            inside = found["star"] or found["under"] or ""
            return Span(kind="italic", spans=list(_spans(inside, names, depth - 1)))
