"""The Java and Maven of this machine, as far as a local Kafka needs them."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from services.sandbox.brokers.errors import BrokerUnavailable

MINIMUM_JAVA = 17  # Kafka 4's brokers: https://kafka.apache.org/documentation/#java

_JAVA_REMEDY = "install Java 17 or newer (Debian: apt install openjdk-17-jre-headless; macOS: brew install openjdk)"
_MAVEN_REMEDY = "install Maven (Debian: apt install maven; macOS: brew install maven): it fetches Kafka's jars once"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime. ``version`` is its full version, such as ``17.0.15``."""

    program: Path
    version: str


def find_java() -> Java:
    """$JAVA_HOME's java, else the one on the PATH. Raises BrokerUnavailable where it is absent or older than 17."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin") if home else None
    program = program or shutil.which("java")
    if program is None:
        raise BrokerUnavailable("Java is not installed", _JAVA_REMEDY)
    try:
        # macOS has a java that only says that there is none: it exits with 1
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=20, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        raise BrokerUnavailable(f"{program} does not run", _JAVA_REMEDY) from None
    found = re.search(r'version "(?:1\.)?((\d+)[^"]*)"', answer.stderr + answer.stdout)
    if found is None or int(found[2]) < MINIMUM_JAVA:
        version = found[1] if found else "of an unknown version"
        raise BrokerUnavailable(f"Java {version} is too old for Kafka ({program})", _JAVA_REMEDY)
    return Java(Path(program), found[1])


def find_maven() -> Path:
    """The program ``mvn``. Raises BrokerUnavailable where it is absent."""
    program = shutil.which("mvn")
    if program is None:
        raise BrokerUnavailable("Maven is not installed", _MAVEN_REMEDY)
    return Path(program)
