"""Why a local broker could not be had: one class a reason, each with what to do about it."""

from pathlib import Path

_LAST_BYTES = 16_384
_LAST_LINES = 5


class BrokerError(Exception):
    """A local broker could not be had. ``remedy`` says what the reader can do; it is part of the message."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}\n  {remedy}")
        self.reason = reason
        self.remedy = remedy


class BrokerUnavailable(BrokerError):
    """Something that the broker needs is not on this machine: a binary, Java, Maven, a Docker engine, an image."""


class PortInUse(BrokerError):
    """Another process listens on the port."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"port {port} on 127.0.0.1 is in use",
            "stop what listens there, or give another port (0 takes any free one)",
        )
        self.port = port


class BrokerFailed(BrokerError):
    """The broker was started and ended, or did not answer in time. ``log`` is its log file."""

    def __init__(self, reason: str, log: Path) -> None:
        super().__init__(reason, f"see its log: {log}")
        self.log = log


def last_words(log: bytes) -> str:
    """The last lines of a broker's log that say something: of a Java stack trace, the exceptions without their frames."""
    lines = log[-_LAST_BYTES:].decode(errors="replace").splitlines()
    telling = [line for line in lines if line.strip() and not line.startswith("\tat ")]
    return "\n".join(telling[-_LAST_LINES:]) or "it wrote nothing"
