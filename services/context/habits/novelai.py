"""NovelAI, whose path depends on the model, so the dialect makes it."""

from services.catalog.providers import PROVIDERS
from services.context.habits.row import Habits

NOVELAI = Habits(
    provider="novelai",
    dialect="novelai",
    base_url=PROVIDERS["novelai"].base_url,
    path="",
    max_tokens=4096,
    defaults={"top_p": 0.95, "top_k": 40, "presence_penalty": 0.5},
)
