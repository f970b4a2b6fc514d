"""What the normalizer worker counts."""

from prometheus_client import Counter, Gauge

BATCHES = Counter("odradek_chunk_batches_total", "Raw records that became a chunk batch")
STANDING = Counter(
    "odradek_chunk_batches_standing_total", "Raw records read again whose chunk batch stood in the inbox already"
)
DROPPED = Counter("odradek_raw_dropped_total", "Raw records that changed nothing", ["why"])
OPEN = Gauge("odradek_normalizer_streams_open", "Streams whose end has not been read")
TRUNCATED = Counter(
    "odradek_tool_arguments_truncated",
    "Tool calls whose arguments were cut off; a record that is read again counts again",
    ["dialect"],
)
