"""Whose a configuration is: a Discord server's or a person's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Server:
    """A Discord server, by its id."""

    id: str

    def __str__(self) -> str:
        return f"server:{self.id}"


@dataclass(frozen=True, slots=True)
class Person:
    """A Discord user, by their id."""

    id: str

    def __str__(self) -> str:
        return f"user:{self.id}"


Owner = Server | Person
