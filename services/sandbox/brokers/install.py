"""What a local Kafka needs on the disk, made once per user: its jars, a formatted data folder, a class-data archive.

``$XDG_CACHE_HOME/odradek/kafka/<version>/`` (``~/.cache`` by default) holds ``libs/`` and, for each Java version,
``boot-<java>/``. Each is made beside its place and renamed into it, under a lock, so that any number of processes may
ask at once and none sees a half of it. With both there neither the network nor Maven is needed.
"""

import asyncio
import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TextIO

from services.sandbox.brokers.errors import BrokerFailed, BrokerUnavailable
from services.sandbox.brokers.java import Java, find_java, find_maven
from services.sandbox.brokers.ports import free_port
from services.sandbox.brokers.process import BrokerProcess

Progress = Callable[[str], None]
"""Takes one line of text for the person who waits."""

# Any valid id does: the data of a local broker meets no other cluster.
_CLUSTER_ID = "b2RyYWRlay1zYW5kYm94LQ"
_FIRST_START_TIMEOUT_S = 90.0
_STOP_GRACE_S = 30.0
_PROGRESS_EVERY_S = 2.0
_WORK = ".work-"


def _data_file(name: str) -> str:
    return resources.files(__package__ or "").joinpath(name).read_text()


def kafka_version() -> str:
    """The version of Apache Kafka that ``pom.xml`` names."""
    found = re.search(r"<kafka\.version>(.+?)</kafka\.version>", _data_file("pom.xml"))
    assert found is not None  # noqa: S101 - the file is a part of this package
    return found[1]


def cache_folder() -> Path:
    """Where this version's files are or will be."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "odradek" / "kafka" / kafka_version()


@dataclass(frozen=True, slots=True)
class KafkaInstall:
    """A Kafka that can start at once.

    formatted: a data folder as Kafka's own format tool leaves it, to be copied. archive: the classes that a start
    loads, in the form that this Java maps into memory (https://openjdk.org/jeps/350); None while it is being made.
    """

    java: Java
    jars: tuple[Path, ...]
    formatted: Path
    archive: Path | None

    def java_command(self, main: str, *arguments: str, log4j: Path, extra: tuple[str, ...] = ()) -> list[str]:
        """The command line that runs the class ``main`` with a small heap and a quick start."""
        shared = () if self.archive is None else (f"-XX:SharedArchiveFile={self.archive}", "-Xshare:auto")
        return [
            str(self.java.program),
            *("-Xms64m", "-Xmx160m", "-XX:MaxDirectMemorySize=128m", "-Xss512k"),
            # one compiler tier: a broker that lives for minutes never earns the second one's cost
            *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *shared,
            *extra,
            f"-Dlog4j2.configurationFile={log4j}",
            *("-cp", ":".join(map(str, self.jars))),
            main,
            *arguments,
        ]


def write_config(directory: Path, *, port: int, controller_port: int, properties: Mapping[str, str]) -> Path:
    """Writes ``server.properties`` and ``log4j2.properties`` into ``directory``; returns the former."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "log4j2.properties").write_text(_data_file("log4j2.properties"))
    text = _data_file("server.properties.template")
    filled = {"@PORT@": str(port), "@CONTROLLER_PORT@": str(controller_port), "@DATA@": str(directory / "data")}
    for place, value in filled.items():
        text = text.replace(place, value)
    config = directory / "server.properties"
    config.write_text(text + "".join(f"{name}={value}\n" for name, value in properties.items()))
    return config


def settings_without_addresses() -> dict[str, str]:
    """The broker settings of ``server.properties.template`` that name neither a port nor a folder."""
    lines = _data_file("server.properties.template").splitlines()
    settings = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name: value for name, value in settings if "@" not in value}


def missing() -> BrokerUnavailable | None:
    """What keeps this machine from a local Kafka, or None. Downloads nothing."""
    try:
        find_java()
        if not (cache_folder() / "libs").is_dir():
            find_maven()
    except BrokerUnavailable as error:
        return error
    return None


async def install(progress: Progress) -> KafkaInstall:
    """The files, made or downloaded if they are not there yet. Raises BrokerUnavailable or BrokerFailed."""
    java = await asyncio.to_thread(find_java)
    folder = cache_folder()
    libs = folder / "libs"
    if not libs.is_dir():
        async with _locked(folder, progress):
            if not libs.is_dir():
                await _fetch_jars(libs, progress)
    # sorted: an archive is only valid for the very class path that it was made with
    jars = tuple(sorted(libs.glob("*.jar")))
    boot = folder / f"boot-{java.version}"
    ready = KafkaInstall(java, jars, boot / "formatted", boot / "classes.jsa")
    if not boot.is_dir():
        async with _locked(folder, progress):
            if not boot.is_dir():
                await _prepare_start(java, jars, boot, progress)
    return ready


async def _fetch_jars(libs: Path, progress: Progress) -> None:
    maven = find_maven()
    progress(f"fetching Apache Kafka {kafka_version()} with Maven into {libs.parent} (about 45 MB, once)")
    with tempfile.TemporaryDirectory(dir=libs.parent, prefix=_WORK) as name:
        work = Path(name)
        (work / "pom.xml").write_text(_data_file("pom.xml"))
        process = await asyncio.create_subprocess_exec(
            *(str(maven), "-B", "dependency:copy-dependencies"),
            *("-DincludeScope=runtime", f"-DoutputDirectory={work / 'libs'}"),
            cwd=work,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            complaint = await _follow_maven(process, progress)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        if complaint is not None:
            raise BrokerUnavailable(
                f"Maven could not fetch Kafka's jars: {complaint}",
                "check the network and Maven's settings (~/.m2/settings.xml), then run this again",
            )
        (work / "libs").rename(libs)


async def _follow_maven(process: asyncio.subprocess.Process, progress: Progress) -> str | None:
    """Reads Maven's output to its end; its first complaint if it failed."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    fetched, told, complaint = 0, time.monotonic(), ""
    async for raw in process.stdout:
        line = raw.decode(errors="replace").strip()
        fetched += "Downloaded from" in line and ".jar" in line
        if "ERROR" in line and not complaint:
            complaint = line
        if time.monotonic() - told > _PROGRESS_EVERY_S:
            told = time.monotonic()
            progress(f"  {fetched} jars so far")
    return None if await process.wait() == 0 else complaint or "it did not say why"


async def _prepare_start(java: Java, jars: tuple[Path, ...], boot: Path, progress: Progress) -> None:
    """Formats a data folder and starts the broker once, so that Java writes down which classes it loads."""
    progress("preparing Kafka's first start (some seconds, once)")
    log = boot.with_name(f"{boot.name}.log")
    with tempfile.TemporaryDirectory(dir=boot.parent, prefix=_WORK) as name:
        run, result = Path(name, "run"), Path(name, "boot")
        plain = KafkaInstall(java, jars, result / "formatted", None)
        port = free_port()
        config = str(write_config(run, port=port, controller_port=free_port(other_than=port), properties={}))
        log4j = run / "log4j2.properties"
        tool = plain.java_command("kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", config, log4j=log4j)
        formatted = await asyncio.to_thread(
            subprocess.run, tool, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if formatted.returncode != 0:
            log.write_text(formatted.stdout + formatted.stderr)
            raise BrokerFailed("Kafka could not format a data folder", log)
        shutil.copytree(run / "data", plain.formatted)
        record = (f"-XX:ArchiveClassesAtExit={result / 'classes.jsa'}",)
        broker = BrokerProcess(plain.java_command("kafka.Kafka", config, log4j=log4j, extra=record), log=log)
        await broker.wait_ready(port, timeout_s=_FIRST_START_TIMEOUT_S)
        await broker.stop(grace_s=_STOP_GRACE_S)
        if not (result / "classes.jsa").is_file():
            raise BrokerFailed("Java wrote no class-data archive", log)
        result.rename(boot)


@contextlib.asynccontextmanager
async def _locked(folder: Path, progress: Progress) -> AsyncGenerator[None]:
    """The folder's lock. It ends with its process, so a killed one leaves nothing but the work that is removed here."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        told = False
        while not _try_lock(lock):
            if not told:
                progress("another process is preparing Kafka: waiting for it")
                told = True
            await asyncio.sleep(0.1)
        for left in folder.glob(f"{_WORK}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _try_lock(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
