"""A call of a chat stream so far: whether a piece that names a call again goes on with it or begins another."""

from typing import Any

from services.normalizer.argument_recovery import parsed_arguments
from services.normalizer.decode import is_object
from services.normalizer.json_prefix import JsonPrefix


class CallSoFar:
    """What came of one call. `id` and `name` are the first that it got."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self._given: dict[str, Any] | None = None
        self._pieces: list[str] = []
        self._looked_at = 0
        self._prefix: JsonPrefix | None = None
        self._goes_on = False

    def grow(self, text: str) -> None:
        """Take a piece of the arguments' text."""
        self._pieces.append(text)

    def give(self, arguments: dict[str, Any]) -> None:
        """Take the arguments as an object."""
        self._given = arguments

    def ends_before(self, call_id: str, name: str, arguments: object) -> bool:
        """Whether a piece of the same slot, with this name and these arguments, is the beginning of another call.

        For providers that number all calls alike and give them no ids (https://github.com/diegosouzapw/OmniRoute/pull/11043,
        https://github.com/cloudwego/eino/pull/1057). Only a call whose arguments are whole can have ended. Another name
        begins another call then, but not under the same id and without arguments; the same name does if neither has an id
        and the piece is a whole call by itself, and not this one once more, or more of it.
        Arguments without entries may stand for those that follow.
        """
        if not name or not self.name:
            return False
        if name != self.name:
            is_same = call_id != "" and call_id == self.id and arguments in (None, "", {})
            return not is_same and self._is_whole()
        if call_id or self.id:
            return False
        again = _whole_object(arguments)
        if again is None or not self._is_whole():
            return False
        told = parsed_arguments("".join(self._pieces)) if self._pieces else self._given
        if not told:
            return False
        try:
            return not _holds(again, told)
        except RecursionError:
            return False

    def _is_whole(self) -> bool:
        """Whether the arguments are one object and nothing else. However often this is asked, a piece is looked at once."""
        if not self._pieces:
            return self._given is not None
        prefix = self._prefix
        if prefix is None:
            prefix = self._prefix = JsonPrefix()
        for piece in self._pieces[self._looked_at :]:
            if piece[prefix.feed(piece) :].strip():
                self._goes_on = True
        self._looked_at = len(self._pieces)
        return prefix.whole and not self._goes_on


def _holds(again: dict[str, Any], told: dict[str, Any]) -> bool:
    """Whether the object has all entries of the one before, as it has when a server sends it whole each time it grows."""
    return all(key in again and again[key] == value for key, value in told.items())


def _whole_object(arguments: object) -> dict[str, Any] | None:
    if isinstance(arguments, str):
        # Most pieces of a call that is named in each of them are no object, and need not be parsed to see it.
        text = arguments.strip()
        return parsed_arguments(text) if text.startswith("{") and text.endswith("}") else None
    return arguments if is_object(arguments) else None
