"""Which modules of the normalizer run as machine code in a checkout, and whether it is that of their sources."""

from pathlib import Path

_HERE = Path(__file__).parent
_CHECKOUT = _HERE.parents[1]


def compiled() -> dict[Path, Path]:
    """The machine code by its source; empty unless somebody compiled it."""
    found = {made.with_name(f"{made.name.partition('.')[0]}.py"): made for made in _HERE.rglob("*.so")}
    return {source: made for source, made in found.items() if source.exists()}


def stale() -> list[str]:
    """The sources that were changed since, relative to the checkout: what runs is what they were.

    Of an installed wheel nothing is stale, whatever the times of its files.
    """
    if not (_CHECKOUT / "pyproject.toml").exists():
        return []
    changed = [source for source, made in compiled().items() if made.stat().st_mtime < source.stat().st_mtime]
    return [str(source.relative_to(_CHECKOUT)) for source in sorted(changed)]
