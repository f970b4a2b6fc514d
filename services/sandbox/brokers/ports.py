"""Ports on 127.0.0.1 for brokers that come back on the same port after a kill."""

import random
import socket

from services.sandbox.brokers.errors import PortInUse

# Below the ephemeral range of Linux (32768) and macOS (49152). A client that redials a dead broker on an ephemeral port
# can be given that very port as its own source port: TCP then connects it to itself, and the broker cannot bind again.
_RANGE = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Whether a listener could bind 127.0.0.1:port now."""
    with socket.socket() as probe:
        # as the brokers do, so that connections in TIME_WAIT do not count
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(*, other_than: int = 0) -> int:
    """A port that nobody listens on and that the system gives to no client."""
    for port in random.sample(_RANGE, 200):
        if port != other_than and is_free(port):
            return port
    raise PortInUse(_RANGE.start)


def claim(port: int) -> int:
    """The port itself if it is free, any free one for 0. Raises PortInUse."""
    if port == 0:
        return free_port()
    if not is_free(port):
        raise PortInUse(port)
    return port
