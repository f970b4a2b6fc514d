"""All scenarios by their names."""

from collections.abc import Mapping

from services.sandbox.chaos.scenarios.mixed import MIXED
from services.sandbox.chaos.scenarios.scenario import Kind

SCENARIOS: Mapping[str, Kind] = {"mixed": MIXED}
