"""The ladder: what is given up after refusals that name nothing, one thing after another.

First the stream options, which stay away for all later rungs; then one key at a time, in the order that the request gives;
then the images; then the tools; then all of it at once.
"""

from collections.abc import Collection, Iterator

from schemas.attempts import AttemptFacts, Rung

STREAM_OPTIONS = "stream_options"


def next_rung(facts: AttemptFacts, base: Rung, tried: Collection[Rung]) -> Rung | None:
    """The first rung whose body was not sent yet; `base` is what errors have named, which no rung sends again."""
    sent = {body_of(rung, facts) for rung in tried}
    return next((rung for rung in _rungs(facts, base) if body_of(rung, facts) not in sent), None)


def plus(rung: Rung, facts: AttemptFacts, *keys: str, images: bool = False, tools: bool = False) -> Rung:
    """The rung with more given up, the keys in the request's order."""
    without = {*rung.without, *keys}
    known = tuple(key for key in facts.droppable if key in without)
    return Rung(
        without=known,
        without_images=rung.without_images or images,
        without_tools=rung.without_tools or tools,
    )


def body_of(rung: Rung, facts: AttemptFacts) -> tuple[frozenset[str], bool, bool]:
    """What a rung leaves out of this very request: equal for two rungs whose bodies are equal."""
    return (
        frozenset(rung.without).intersection(facts.droppable),
        rung.without_images and facts.images,
        rung.without_tools and facts.tools,
    )


def _rungs(facts: AttemptFacts, base: Rung) -> Iterator[Rung]:
    baseline = plus(base, facts, STREAM_OPTIONS)
    yield baseline
    for key in facts.droppable:
        yield plus(baseline, facts, key)
    yield plus(baseline, facts, images=True)
    yield plus(baseline, facts, tools=True)
    yield plus(baseline, facts, *facts.droppable, images=True, tools=True)
