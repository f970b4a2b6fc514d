"""The runtime's errors: what a handler raises to say what is wrong, one reason each."""


class OdradekError(Exception):
    """Base of all errors that Odradek raises on purpose. `remedy` says what to do next, where that is known."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class Unavailable(OdradekError):
    """A dependency (broker, Discord, database) is down: not poison, so the record waits and is tried again.

    `retry_after_s` is the wait that the dependency asked for; None leaves it to the runtime's backoff.
    """

    def __init__(self, dependency: str, message: str, *, remedy: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(f"{dependency} is unavailable: {message}", remedy=remedy)
        self.dependency = dependency
        self.retry_after_s = retry_after_s


class Poison(OdradekError):
    """The record can never be handled; it goes to the dead letters and its turn ends with an error."""

    reason = "poison"


class RecordTooLarge(Poison):
    """An output is larger than its topic allows."""

    reason = "too_large"


class TopicMismatch(OdradekError):
    """The cluster's topics are not as topics.yaml declares them."""


class ConfigurationError(OdradekError):
    """A setting or file is wrong; the message names it."""
