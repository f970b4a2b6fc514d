"""The table in docs/topics.md, made from topics.yaml. `python docs/topics_table.py` writes it into the page."""

from pathlib import Path

from schemas.topics import Topics, TopicSpec, load_topics

PAGE = Path(__file__).parent / "topics.md"
BEGIN = "<!-- table: made by docs/topics_table.py -->"
END = "<!-- end of table -->"


def table(topics: Topics) -> str:
    """The topics as a Markdown table, in the order of the file."""
    lines = [
        "| topic | what it is for | records | written by | read by | partitions | kept | largest value | time |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(name, spec) for name, spec in topics.topics.items()]
    return "\n".join(lines)


def page_with(text: str, made: str) -> str:
    """The page with the table put between its two marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{made}\n{END}{tail}"


def _row(name: str, spec: TopicSpec) -> str:
    cells = (
        f"`{name}`",
        spec.purpose,
        ", ".join(spec.records),
        ", ".join(spec.writers),
        ", ".join(spec.readers) or "nobody yet",
        "shared" if spec.partitions == "shared" else str(spec.partitions),
        "for ever, compacted" if spec.cleanup == "compact" else spec.retention,
        f"{spec.max_bytes:,}",
        "append" if spec.timestamps == "log-append" else "writer's",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), table(load_topics())), encoding="utf-8")
