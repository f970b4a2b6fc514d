"""How far the attempts of a turn may go."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AttemptRules:
    """`most_generations` counts those of a turn, the first one too. Beyond `longest_wait_ms` nobody waits for a provider.

    `most_named`: retries of one request without what its errors named. `most_keys`: keys that are tried for one model.
    `most_empty`: further attempts after empty replies, each after `empty_pause_ms`.
    """

    most_generations: int = 30
    most_named: int = 3
    most_keys: int = 3
    most_empty: int = 2
    empty_pause_ms: int = 1_000
    longest_wait_ms: int = 5_000
