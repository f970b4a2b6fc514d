"""Opaque ids: what the model and its tools call a message instead of its snowflake."""

from collections.abc import Mapping


class References:
    """The ids of one context, which no other one knows. `media_1`: a message for its files; `ref_1`: for itself."""

    def __init__(self) -> None:
        self._media: dict[str, str] = {}
        self._messages: dict[str, str] = {}

    def media(self, message_id: str) -> str:
        """The id by which tools find the files of the message."""
        return self._media.setdefault(message_id, f"media_{len(self._media) + 1}")

    def message(self, message_id: str) -> str:
        """The id by which tools find the message."""
        return self._messages.setdefault(message_id, f"ref_{len(self._messages) + 1}")

    def known(self) -> Mapping[str, str]:
        """Snowflakes by opaque id."""
        return {key: message for table in (self._media, self._messages) for message, key in table.items()}
