"""Slots: an instance name that one process at a time holds, guarded on this machine by a lock on a file.

Two live processes with one static member id are not fenced by Kafka: they take each other's partitions for ever. Across
machines a StatefulSet gives the same guarantee.
"""

import fcntl
import os
import tempfile
from pathlib import Path

from services.runtime.errors import ConfigurationError


def lock_folder() -> Path:
    """Where this user's processes keep their locks; two that look in different places do not see each other."""
    return Path(tempfile.gettempdir()) / f"odradek-{os.getuid()}" / "slots"


class Slot:
    """A held slot; the lock goes with the process, however that ends."""

    def __init__(self, directory: Path, instance: str) -> None:
        """Take the slot. Raises ConfigurationError where another process holds it."""
        directory.mkdir(parents=True, exist_ok=True)
        self._file = (directory / f"{instance}.lock").open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            holder = self._file.read().strip() or "unknown"
            self._file.close()
            raise ConfigurationError(
                f"the slot {instance!r} is held by another process (pid {holder})",
                remedy="stop that process, or set ODRADEK_INSTANCE to another name",
            ) from error
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()
