"""The bytes of a file that a command was given; - is standard input."""

import sys
from pathlib import Path

from services.runtime.errors import ConfigurationError


def read_file(name: str) -> bytes:
    """All bytes of it; raises ConfigurationError where it cannot be read."""
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {name}: {error.strerror}", remedy="Name a file, or - for standard input."
        ) from error
