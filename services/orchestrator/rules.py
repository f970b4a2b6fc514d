"""What a turn is decided by that may change: how its text is cut, what follows a failed call, how errors are told.

Changed code must not decide old turns anew: a turn keeps the rules version that its message was stamped with, and the code
carries the present version and at least the one before. New code is deployed first, then the gateway's stamp is raised; a
message stamped with a version that this code does not know waits for the code that does. What has an older stamp than these
is decided by the oldest of them, since no code that knows its version will come.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.orchestrator.attempts.rules import AttemptRules


@dataclass(frozen=True, slots=True)
class Rules:
    """`segment_limit`: most code points of source text in a message; fence marks add up to 40, below Discord's 2,000.

    `line_group`: a single newline outside a fence ends a message once this many code points are pending; a blank line
    always does. `attempts`: how far a turn goes on after calls that failed; with None, as in version 2, only after streams
    that were lost. `tells_uncalled`: why no provider was called is told in words of ours, in the user's language, with the
    command that helps and for whose provider it is; before version 4 as the reason's code and its English message.
    """

    segment_limit: int = 1_850
    line_group: int = 300
    attempts: AttemptRules | None = field(default_factory=AttemptRules)
    tells_uncalled: bool = True


RulesByVersion = Mapping[int, Rules]

RULES: RulesByVersion = {
    2: Rules(attempts=None, tells_uncalled=False),
    3: Rules(tells_uncalled=False),
    4: Rules(),
}


class UnknownRules(Exception):
    """A message has a rules version that this code does not carry yet."""

    def __init__(self, version: int, newest: int) -> None:
        super().__init__(f"the message has rules version {version}, this code carries up to {newest}")


def rules_of(rules: RulesByVersion, version: int) -> Rules:
    """The rules of a stamp; raises UnknownRules for one of newer code."""
    if version > max(rules):
        raise UnknownRules(version, max(rules))
    return rules[max(version, min(rules))]
