"""What the context worker measures."""

from prometheus_client import Counter, Histogram

HISTORY = Histogram(
    "odradek_context_history_seconds",
    "Time to read a channel's history.",
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
WITHOUT_HISTORY = Counter("odradek_context_without_history", "Prompts made without history, which Discord refused.")
UNUSABLE = Counter("odradek_context_unusable_settings", "Generations that failed because of the settings.")
SUPERSEDED = Counter(
    "odradek_context_superseded", "Generations without a prompt, since a newer one of their channel had come."
)
MEDIA = Counter(
    "odradek_context_media",
    "Pictures and videos that prompts were to show: shown, or the stage at which they failed.",
    ["medium", "outcome"],
)
MEDIA_TIME = Histogram(
    "odradek_context_media_seconds",
    "Time to fetch and prepare all media of a prompt that has any.",
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60),
)
