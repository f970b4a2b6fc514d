"""`odradek doctor`."""


def examine() -> None:
    """Check."""
