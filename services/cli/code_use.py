"""Which topics each service's code reads and writes, as far as its source says so in plain words.

The source is parsed, never imported, so the answer costs milliseconds and has no side effects. A topic counts as written
where `output`, `bare`, `Output` or `NewRecord` gets its name, and as read where `tail` or `read_to_end` does or the
service's `WorkerSpec` says so; the name is a literal or a module's constant. What the runtime does for a service is
added: the runtime modules that it imports, the claims and control that its spec asks for, dead letters where it reads a
topic. A name that is only known while the code runs is not found.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import services
from schemas.topics import SERVICES

ROOT = Path(services.__path__[0])
_WRITES = frozenset({"output", "bare", "Output", "NewRecord"})
_READS = frozenset({"tail", "read_to_end"})
_RUNTIME = "services.runtime."


@dataclass(frozen=True, slots=True)
class CodeUse:
    """Topics that one service's code reads and writes. `has_worker`: there is a `WorkerSpec` to read."""

    reads: frozenset[str]
    writes: frozenset[str]
    has_worker: bool


@dataclass(slots=True)
class _Found:
    reads: set[str] = field(default_factory=set[str])
    writes: set[str] = field(default_factory=set[str])
    runtime: set[str] = field(default_factory=set[str])
    spec: dict[str, object] | None = None


def code_use(root: Path = ROOT) -> dict[str, CodeUse]:
    """What the code of each service reads and writes; `root` is the folder `services`."""
    return {name: _service_use(root, name) for name in SERVICES}


def _service_use(root: Path, service: str) -> CodeUse:
    found = _Found()
    for path in sorted((root / service).rglob("*.py")):
        _read_module(path, root, found)
    for module in found.runtime:
        path = root / "runtime" / f"{module.replace('.', '/')}.py"
        if path.is_file():
            _read_module(path, root, found, follow=False)
    spec = found.spec or {}
    reads = spec.get("reads")
    if isinstance(reads, str):
        found.reads.add(reads)
        found.writes.add("dead-letters")
    if spec.get("needs_claims") is True:
        found.reads.add("claims")
        found.writes.add("claims")
    if spec.get("needs_control") is True:
        found.reads.add("control")
    return CodeUse(frozenset(found.reads), frozenset(found.writes), found.spec is not None)


def _read_module(path: Path, root: Path, found: _Found, *, follow: bool = True) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    names = dict(_constants(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(_RUNTIME):
            module = node.module.removeprefix(_RUNTIME)
            names.update(_imported_constants(node, root / "runtime" / f"{module.replace('.', '/')}.py"))
            if follow:
                found.runtime.add(module)
        elif isinstance(node, ast.Call):
            _read_call(node, names, found)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.targets[0].id, node.value.value


def _imported_constants(node: ast.ImportFrom, path: Path) -> Mapping[str, str]:
    if not path.is_file():
        return {}
    there = dict(_constants(ast.parse(path.read_text(encoding="utf-8"), str(path))))
    return {alias.asname or alias.name: there[alias.name] for alias in node.names if alias.name in there}


def _read_call(call: ast.Call, names: Mapping[str, str], found: _Found) -> None:
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    if function == "WorkerSpec":
        found.spec = {name: node.value for name, node in keywords.items() if isinstance(node, ast.Constant)}
    elif function in _WRITES or function in _READS:
        given = call.args[0] if call.args else keywords.get("topic")
        topic = given.value if isinstance(given, ast.Constant) else names.get(getattr(given, "id", ""))
        if isinstance(topic, str):
            (found.writes if function in _WRITES else found.reads).add(topic)
