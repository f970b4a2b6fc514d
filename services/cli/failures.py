"""What a person reads when a command fails as foreseen: one message, what to do, and the exit code."""

from dataclasses import dataclass

from schemas.topics import TopicsFileError
from services.cli.printable import printable
from services.runtime.errors import ConfigurationError, OdradekError, Unavailable
from services.sandbox.brokers.errors import BrokerError

FAILED = 1
_MOST_SHOWN = 2_000
"""Characters of a line: what was given stands in it, and may be of any length."""
BAD_USAGE = 2


@dataclass(frozen=True, slots=True)
class Failure:
    """The text for standard error and the exit code."""

    text: str
    exit_code: int


def explain(error: Exception) -> Failure | None:
    """The failure behind an error that Odradek raises on purpose; None for a defect, which keeps its traceback."""
    match error:
        case TopicsFileError():
            return Failure(_text(str(error), ""), BAD_USAGE)
        case ConfigurationError():
            return Failure(_text(str(error), error.remedy), BAD_USAGE)
        case OdradekError():
            return Failure(_text(str(error), error.remedy or _remedy(error)), FAILED)
        case BrokerError():
            return Failure(_text(error.reason, error.remedy), FAILED)
        case _:
            return None


def _remedy(error: OdradekError) -> str:
    if isinstance(error, Unavailable) and error.dependency == "Kafka":
        return "start a broker there (`odradek up` starts one with everything else), or set ODRADEK_KAFKA or --kafka"
    return ""


def _text(message: str, remedy: str) -> str:
    lines = [f"error: {_cut(printable(line))}" for line in message.splitlines()]
    if remedy:
        lines.append(f"what to do: {printable(remedy)}")
    return "\n".join(lines)


def _cut(line: str) -> str:
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + "…"
