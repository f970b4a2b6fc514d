"""Why a local broker could not be had: one class a reason, each with what to do about it."""

from pathlib import Path


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
