"""What sanitizing found, gathered as warnings."""

from services.context.rendered import RenderWarning


class Findings:
    """Warnings in the order in which they were found. They name places, never what stands there."""

    def __init__(self) -> None:
        self._found: list[RenderWarning] = []

    @property
    def warnings(self) -> tuple[RenderWarning, ...]:
        """All of them."""
        return tuple(self._found)

    def add(self, place: str, message: str) -> None:
        """Something is said otherwise, or not at all."""
        self._found.append(RenderWarning("history_sanitized", place, message))
