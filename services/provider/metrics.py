"""What the provider worker measures."""

from prometheus_client import Counter, Gauge, Histogram

STREAMS = Gauge("odradek_provider_streams", "Provider calls in flight.")
WAITING = Gauge("odradek_provider_waiting", "Prompts that wait for a free stream.")
FIRST_BYTE = Histogram(
    "odradek_provider_first_byte_seconds",
    "From sending the request to the first byte of the response's body.",
    ["dialect"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120),
)
BYTES = Counter("odradek_provider_bytes", "Bytes of response bodies.", ["dialect"])
ENDINGS = Counter("odradek_provider_endings", "Ends of streams by kind.", ["dialect", "ending"])
STOP_TO_CLOSED = Histogram(
    "odradek_provider_stop_to_closed_seconds",
    "From reading a stop to the closed connection.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
)
MASKED = Counter("odradek_provider_masked", "Slices in which a key that the provider echoed was masked.", ["dialect"])
