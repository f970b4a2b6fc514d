"""A request is made fast enough to be no part of a turn's time."""

import time

from services.context.render import render
from tests.context.openai.conftest import LOOK, context, exchange, item, target

MOST_CPU_MS = 5


def test_a_context_of_100_messages_is_rendered_within_5_ms_of_cpu() -> None:
    said = [
        item("user" if n % 3 else "model", f"Ada: message {n} " + "words " * 60, message_id=str(n)) for n in range(100)
    ]
    given = context(
        item("system", "You are Mira. " * 50), *said, tools=(LOOK,) * 20, function_history=(exchange(),) * 3
    )
    took: list[float] = []
    for _ in range(50):
        before = time.process_time()
        render(given, target(strict_role_alternation=True))
        took.append((time.process_time() - before) * 1000)
    assert sorted(took)[25] < MOST_CPU_MS
