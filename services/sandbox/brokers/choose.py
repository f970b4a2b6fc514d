"""Which broker a test run uses, why that one, and what it leaves untested."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from services.sandbox.brokers import container, embedded, install
from services.sandbox.brokers.errors import BrokerUnavailable

VARIABLE = "ODRADEK_TEST_KAFKA"

Source = Literal["address", "container", "jvm", "embedded"]

# What Tansu in memory does not do and Kafka does; a test of any of these passes over it.
_EMBEDDED_LEAVES_UNTESTED = (
    "compaction",
    "retention and deleted records",
    "idempotent and transactional producers",
    "LogAppendTime",
    "commit metadata",
)
# Tests that kill brokers start their own on the local Java, whichever broker the rest shares.
_KILLS = "a broker that is killed and comes back with its data"


@dataclass(frozen=True, slots=True)
class BrokerChoice:
    """The broker of a test run. ``bootstrap`` is set for an address that was given, and None for one to be started."""

    source: Source
    why: str
    untested: tuple[str, ...] = ()
    bootstrap: str | None = None

    @property
    def kind(self) -> Literal["kafka", "embedded"]:
        """Whose behaviour tests may rely on."""
        return "embedded" if self.source == "embedded" else "kafka"


def choose(environment: Mapping[str, str] = os.environ) -> BrokerChoice:
    """Decides without starting or downloading anything: what $ODRADEK_TEST_KAFKA says, else the first of container,
    JVM and embedded that this machine can run. Raises BrokerUnavailable when it can run none, or not the one asked for.
    """
    asked = environment.get(VARIABLE, "").strip()
    match asked:
        case "":
            return _first_possible()
        case "container":
            if reason := container.missing():
                raise reason
            return BrokerChoice("container", f"{VARIABLE}={asked}", _kills())
        case "jvm":
            if reason := install.missing():
                raise reason
            return BrokerChoice("jvm", f"{VARIABLE}={asked}")
        case "embedded":
            embedded.binary()
            return BrokerChoice("embedded", f"{VARIABLE}={asked}", _EMBEDDED_LEAVES_UNTESTED + _kills())
        case address if re.fullmatch(r"[^\s:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}", address):
            return BrokerChoice("address", f"{VARIABLE}={asked}", _kills(), bootstrap=asked)
        case _:
            raise BrokerUnavailable(
                f"{VARIABLE}={asked} names no broker", "set it to HOST:PORT, container, jvm or embedded, or unset it"
            )


def _first_possible() -> BrokerChoice:
    no_container = container.missing()
    if no_container is None:
        return BrokerChoice("container", "a Docker engine answers and has the image or can pull it", _kills())
    no_jvm = install.missing()
    if no_jvm is None:
        return BrokerChoice("jvm", f"no container: {no_container.reason}")
    embedded.binary()
    why = f"no container: {no_container.reason}; no JVM broker: {no_jvm.reason}"
    return BrokerChoice("embedded", why, (*_EMBEDDED_LEAVES_UNTESTED, _KILLS))


def _kills() -> tuple[str, ...]:
    return () if install.missing() is None else (_KILLS,)
