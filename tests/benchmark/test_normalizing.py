"""The normalizer's benchmark: what it feeds, what it compares with, and what the command says."""

import json
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from schemas.chunks import Dialect
from services.cli.main import app
from services.sandbox.benchmark.normalizing import measure
from services.sandbox.benchmark.normalizing.measure import normalize, read_floor
from services.sandbox.benchmark.normalizing.samples import NoStreams, load_samples
from services.sandbox.benchmark.normalizing.sdks import MODULES, sdk_reader

DATA = Path(__file__).parent.parent / "data" / "normalizer"
PLAIN = {
    "openai-chat": "xai__text",
    "openai-responses": "openai__pyd-openai_responses_model_file_search_tool_stream.3",
    "anthropic": "anthropic__text",
    "google": "google__pyd-google_model_stream",
}
"""A recorded stream of each dialect that has nothing but text."""


def test_a_sample_is_its_streams_bytes_cut_behind_each_event() -> None:
    for dialect, samples in load_samples(DATA).items():
        for sample in samples:
            assert b"".join(sample.pieces) == (DATA / dialect / f"{sample.name}.sse").read_bytes()
            assert all(piece.rstrip(b"\r\n") for piece in sample.pieces)
            assert all(piece.endswith((b"\n\n", b"\r\n\r\n")) for piece in sample.pieces[:-1])


def test_the_floor_loads_every_payload_that_the_normalizer_reads() -> None:
    pieces = (b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', b'data: {"choices":[]}\n\ndata: [DONE]\n\n')
    assert read_floor(pieces) == [{"choices": [{"delta": {"content": "a"}}]}, {"choices": []}]
    assert normalize("openai-chat", pieces).text == "a"


def test_a_directory_without_streams_says_where_to_find_some(tmp_path: Path) -> None:
    with pytest.raises(NoStreams, match="no recorded streams") as raised:
        load_samples(tmp_path)
    assert "DIALECT/NAME.sse" in str(raised.value.remedy)


@pytest.mark.parametrize("dialect", sorted(MODULES))
def test_each_official_sdk_reads_a_stream_as_we_do(dialect: Dialect) -> None:
    pytest.importorskip(MODULES[dialect])
    read = sdk_reader(dialect)
    assert read is not None
    sample = next(one for one in load_samples(DATA)[dialect] if one.name == PLAIN[dialect])
    said = read(sample.pieces)
    text = normalize(dialect, sample.pieces).text
    dumped = json.dumps([one.model_dump(mode="json") for one in (said if isinstance(said, list) else [said])])
    assert text
    assert all(json.dumps(word)[1:-1] in dumped for word in text.split()[:3])


def test_the_command_reports_each_dialect_that_has_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "ROUNDS", 1)
    monkeypatch.setattr(measure, "sdk_reader", lambda _: None)
    monkeypatch.setattr(measure, "_growth", lambda: measure.Growth(1.0, 2.0, 2.0))
    result = CliRunner().invoke(app, ["bench", "normalize", str(DATA), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert set(report["dialects"]) <= set(get_args(Dialect))
    assert all(one["ratio_to_floor"] > 1 and one["ratio_to_sdk"] is None for one in report["dialects"].values())
    assert report["growth"]["line_doubled"] == 2.0
