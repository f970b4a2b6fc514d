"""What the orchestrator worker counts."""

from prometheus_client import Counter, Gauge

ACTORS = Gauge("odradek_channels", "Channels whose state is in memory as it is")
PACKED = Gauge("odradek_channels_packed", "Channels at rest whose state is kept compressed")
SNAPSHOTS = Counter("odradek_snapshots_total", "Snapshots acknowledged")
TURNS = Counter("odradek_turns_finished_total", "Turns that ended", ["status"])
FOREIGN_SNAPSHOTS = Counter("odradek_foreign_snapshots_total", "Snapshots that settle offsets the inbox does not have")
