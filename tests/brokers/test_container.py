"""What a Docker engine has to answer before Kafka is started in it."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from services.sandbox.brokers import container

KAFKA = "example.test/kafka:4"
RYUK = "example.test/ryuk:1"


class Engine(ThreadingHTTPServer):
    """A Docker engine's HTTP API, as far as images are looked up."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.has: set[str] = set()
        self.registry: set[str] = set()
        self.pulled: list[str] = []


class _Answers(BaseHTTPRequestHandler):
    server: Engine

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        name = path.partition("/images/")[2] or path.partition("/distribution/")[2]
        name = name.removesuffix("/json")
        if path.endswith("/_ping"):
            self._answer(200, "OK")
        elif path.endswith("/version"):
            self._answer(200, {"ApiVersion": "1.45"})
        elif "/images/" in path and name in self.server.has:
            self._answer(200, {"Id": "sha256:1", "RepoTags": [name]})
        elif "/distribution/" in path and name in self.server.registry:
            self._answer(200, {"Descriptor": {"digest": "sha256:1"}, "Platforms": []})
        else:
            self._answer(404, {"message": f"No such image: {name}"})

    def do_POST(self) -> None:
        query = self.path.partition("?")[2]
        tag, _, image = query.replace("%2F", "/").partition("&fromImage=")
        name = f"{image}:{tag.removeprefix('tag=')}"
        self.server.pulled.append(name)
        self.server.has.add(name)
        self._answer(200, {"status": "done"})

    def _answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    from testcontainers.core.config import testcontainers_config

    with Engine() as server:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        monkeypatch.setattr(testcontainers_config, "ryuk_disabled", False)
        monkeypatch.setattr(testcontainers_config, "ryuk_image", RYUK)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _reason() -> str | None:
    found = container.missing(KAFKA)
    return found.reason if found else None


def test_the_images_are_on_the_engine(engine: Engine) -> None:
    engine.has = {KAFKA, RYUK}
    assert _reason() is None


def test_an_absent_image_that_a_registry_has_is_pulled_and_announced(engine: Engine) -> None:
    engine.has, engine.registry = {RYUK}, {KAFKA}
    assert _reason() is None
    assert engine.pulled == []
    lines: list[str] = []
    container.pull(lines.append, KAFKA)
    assert engine.pulled == [KAFKA]
    assert lines == [f"pulling the image {KAFKA} (once)"]


def test_an_absent_image_that_no_registry_has_is_named(engine: Engine) -> None:
    engine.has = {RYUK}
    assert _reason() == f"the image {KAFKA} is neither on the Docker engine nor to be pulled from its registry"


def test_an_absent_helper_image_is_named_with_the_way_around_it(engine: Engine) -> None:
    engine.has = {KAFKA}
    found = container.missing(KAFKA)
    assert found is not None
    assert RYUK in found.reason
    assert "TESTCONTAINERS_RYUK_DISABLED" in found.remedy


def test_an_engine_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'nobody.sock'}")
    assert _reason() == "no Docker engine answers"


def test_a_missing_package_is_not_taken_for_a_missing_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "testcontainers.core.docker_client", None)
    assert _reason() == "the Python package testcontainers is not installed"
