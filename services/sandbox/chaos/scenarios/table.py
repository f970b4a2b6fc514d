"""All scenarios by their names."""

from collections.abc import Mapping

from services.sandbox.chaos.scenarios.broker_away import BROKER_AWAY
from services.sandbox.chaos.scenarios.discord_away import DISCORD_AWAY
from services.sandbox.chaos.scenarios.disk_full import DISK_FULL
from services.sandbox.chaos.scenarios.mixed import MIXED
from services.sandbox.chaos.scenarios.refusing_leader import REFUSING_LEADER
from services.sandbox.chaos.scenarios.rolling import ROLLING
from services.sandbox.chaos.scenarios.rules_raised import RULES_RAISED
from services.sandbox.chaos.scenarios.scenario import Kind
from services.sandbox.chaos.scenarios.soak import SOAK

SCENARIOS: Mapping[str, Kind] = {
    "mixed": MIXED,
    "rolling": ROLLING,
    "rules-raised": RULES_RAISED,
    "soak": SOAK,
    "broker-away": BROKER_AWAY,
    "discord-away": DISCORD_AWAY,
    "disk-full": DISK_FULL,
    "refusing-leader": REFUSING_LEADER,
}
