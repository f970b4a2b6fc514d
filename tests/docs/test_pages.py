"""README and docs against what they speak of: links, topics, settings, metrics, commands, the example's code."""

import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from typer.testing import CliRunner

from schemas.topics import load_topics
from services.cli.environment import OTHER_VARIABLES, variables
from services.cli.main import app
from services.runtime.settings import Settings

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
OWN_METRICS = ("gateway", "context", "provider", "normalizer", "orchestrator", "delivery", "runtime")


def named(pattern: str) -> Iterator[tuple[str, str]]:
    """(page, what the pattern's group finds in it)."""
    for page in PAGES:
        for found in re.findall(pattern, page.read_text(encoding="utf-8")):
            yield str(page.relative_to(ROOT)), found


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = [
        (page, target)
        for page, target in named(r"\]\(([^)\s]+)\)")
        if not target.startswith(("http:", "https:", "#"))
        and not ((ROOT / page).parent / target.partition("#")[0]).exists()
    ]
    assert broken == []


def test_every_setting_that_a_page_names_exists() -> None:
    known = {name for field in Settings.model_fields for name in variables(field)} | OTHER_VARIABLES
    assert [(page, name) for page, name in named(r"\b(ODRADEK_[A-Z0-9_]+)") if name not in known] == []


def test_every_metric_that_a_page_names_exists() -> None:
    for service in OWN_METRICS:
        importlib.import_module(f"services.{service}.metrics")
    known = {sample.name for metric in REGISTRY.collect() for sample in metric.samples}
    known |= {metric.name for metric in REGISTRY.collect()}
    known |= {f"{metric.name}_total" for metric in REGISTRY.collect() if metric.type == "counter"}
    strange = [(page, name) for page, name in named(r"\b(odradek_[a-z_]+)\b") if name not in known | {"odradek_"}]
    assert [(page, name) for page, name in strange if not name.startswith("odradek_pace")] == []


def test_every_metric_stands_in_the_operators_page() -> None:
    for service in OWN_METRICS:
        importlib.import_module(f"services.{service}.metrics")
    text = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    names = {metric.name for metric in REGISTRY.collect() if metric.name.startswith("odradek_")}
    assert sorted(name for name in names if name not in text and not name.startswith("odradek_pace")) == []


@pytest.mark.parametrize(
    "command", sorted({found.strip() for _, found in named(r"\bodradek ((?:[a-z]+ ?){1,2})(?=[\s`])")})
)
def test_every_command_that_a_page_shows_exists(command: str) -> None:
    words = command.split()
    group = {"topics", "sandbox", "discord", "schemas", "catalog", "context", "provider", "model", "endpoint"}
    if words[0] == "worker":
        words = words[:1]
    result = CliRunner().invoke(app, [*words[: 2 if words[0] in group else 1], "--help"])
    assert result.exit_code == 0, result.output


def test_the_table_of_topics_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("topics_table", ROOT / "docs/topics_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.PAGE.read_text(encoding="utf-8")
    assert module.page_with(text, module.table(load_topics())) == text, "run: python docs/topics_table.py"


def test_the_tables_of_errors_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("errors_tables", ROOT / "docs/errors_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.PAGE.read_text(encoding="utf-8")
    assert module.page_with(text) == text, "run: python docs/errors_tables.py"


def test_the_page_about_workers_shows_the_example_as_it_is() -> None:
    example = (ROOT / "docs/examples/pace_worker.py").read_text(encoding="utf-8")
    assert f"```python\n{example}```" in (ROOT / "docs/writing-a-worker.md").read_text(encoding="utf-8")
