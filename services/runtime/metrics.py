"""The runtime's Prometheus metrics; each service adds its own in `services/<name>/metrics.py`."""

from prometheus_client import Counter, Gauge, Histogram

APPENDED = Counter("odradek_records_appended_total", "Records acknowledged by the broker", ["topic"])
APPENDS_REPEATED = Counter("odradek_appends_repeated_total", "Appends that failed and were repeated", ["topic"])
READ = Counter("odradek_records_read_total", "Records read from the input topic", ["topic"])
DEAD_LETTERS = Counter("odradek_dead_letters_total", "Records that could not be handled", ["topic", "reason"])
REFUSED_STOPS = Counter("odradek_refused_stops_total", "Records of control that are not believed", ["reason"])
RETRIES = Counter(
    "odradek_handler_retries_total", "Handler calls repeated because a dependency was away", ["dependency"]
)
REBALANCES = Counter("odradek_rebalances_total", "Assignments received from the group")
OWNED = Gauge("odradek_partitions_owned", "Partitions assigned to this process")
UNPROCESSED = Gauge("odradek_records_unprocessed", "Records read and not yet processed")
UNFINISHED = Gauge("odradek_records_unfinished", "Records read and not yet finished, processed or not")
CLAIMS_OPEN = Gauge("odradek_claims_open", "Effects claimed and not closed that this process knows of, anybody's")
PAUSED = Gauge("odradek_partitions_paused", "Partitions paused because of a backlog or a recovery")
HANDLE_SECONDS = Histogram(
    "odradek_handle_seconds",
    "Time in the handler for one record",
    ["topic"],
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60),
)
