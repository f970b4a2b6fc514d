"""Delivery's metrics."""

from prometheus_client import Counter, Histogram

SEND_SECONDS = Histogram(
    "odradek_delivery_send_seconds",
    "Time from the first try of a message to Discord's answer, waits for rate limits included",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
RECEIPTS = Counter("odradek_delivery_receipts_total", "Receipts by what became of the output", ["outcome"])
FOUND = Counter("odradek_delivery_found_total", "Old outputs that were in the channel already, so not sent again")
RATE_LIMITED = Counter("odradek_delivery_rate_limited_total", "Answers of Discord with status 429")
