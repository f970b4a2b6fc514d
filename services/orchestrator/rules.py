"""What a turn is decided by that may change: how its text is cut, how errors are told; by rules version.

Changed code must not decide old turns anew: a turn keeps the version that its message was stamped with, and the code
carries the present version and the one before. New code is deployed first, then the gateway's stamp is raised; a message
stamped with a version that this code does not know waits for the code that does.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """`segment_limit`: most code points of source text in a message; fence marks add up to 40, below Discord's 2,000.

    `line_group`: a single newline outside a fence ends a message once this many code points are pending; a blank line
    always does. `plain_notices`: errors are told in the fixed words of version 1. `one_queue_notice`: see
    `services.orchestrator.refusals`.
    """

    segment_limit: int = 1_850
    line_group: int = 300
    plain_notices: bool = False
    one_queue_notice: bool = False


RulesByVersion = Mapping[int, Rules]

RULES: RulesByVersion = {1: Rules(plain_notices=True), 2: Rules(one_queue_notice=True)}
