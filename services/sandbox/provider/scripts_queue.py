"""The queue of scripts: which one a call gets, and which model names scripts have made known."""

from dataclasses import dataclass, field

from services.sandbox.provider.neutral import DialectName, Prompt
from services.sandbox.provider.script import Script


class QueueFullError(RuntimeError):
    """More scripts wait than the queue holds."""


@dataclass(slots=True)
class _Waiting:
    script: Script
    left: int | None


@dataclass(slots=True)
class ScriptQueue:
    """Scripts in the order they came; a call gets the first that matches it."""

    limit: int = 1000
    _waiting: list[_Waiting] = field(default_factory=list[_Waiting], init=False)
    _models: set[str] = field(default_factory=set[str], init=False)

    @property
    def models(self) -> frozenset[str]:
        """Model names that scripts named since the last reset; they stay known after the script was played."""
        return frozenset(self._models)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, script: Script) -> None:
        """Put a script at the end; raises `QueueFullError`."""
        if len(self._waiting) >= self.limit or len(self._models) >= self.limit:
            raise QueueFullError(f"{self.limit} scripts are waiting; reset the sandbox first")
        self._waiting.append(_Waiting(script, script.times))
        if script.model is not None:
            self._models.add(script.model)

    def take(self, dialect: DialectName, prompt: Prompt) -> Script | None:
        """The script for this call, if one matches; it is used up after its `times`."""
        for index, waiting in enumerate(self._waiting):
            if _matches(waiting.script, dialect, prompt):
                if waiting.left is not None:
                    waiting.left -= 1
                    if waiting.left == 0:
                        del self._waiting[index]
                return waiting.script
        return None

    def clear(self) -> None:
        """Forget all scripts and the model names they made known."""
        self._waiting.clear()
        self._models.clear()


def _matches(script: Script, dialect: DialectName, prompt: Prompt) -> bool:
    if script.dialect not in (None, dialect) or script.model not in (None, prompt.model):
        return False
    return script.contains is None or any(script.contains in message.text for message in prompt.messages)
