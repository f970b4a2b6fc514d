"""Who does which effect of the outside world, and how it ended.

An instance is a slot that one process at a time holds (`provider-0`); an incarnation is one life of a process in it.
"""

from typing import Literal

from schemas.base import Record

Closing = Literal["done", "stopped", "failed", "expired", "lost"]
"""How an effect ended. `lost`: its holder was dead or silent, and nobody knows how far it came."""


class Claimed(Record):
    """The first claim of an effect in the log wins; only its writer may act."""

    effect: str
    instance: str
    incarnation: str


class Alive(Record):
    """The incarnation lives; written every 2 s into each partition in which it holds a claim."""

    instance: str
    incarnation: str


class Closed(Record):
    """The effect has ended; `by` is the incarnation that says so, not always the holder."""

    effect: str
    outcome: Closing
    by: str
