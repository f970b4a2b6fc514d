"""What stands for a custom endpoint before one is set up. It is no model, so the rules of the seeds leave it out."""

from services.catalog.seeds.model import ModelSeed

MODELS = (ModelSeed("custom/bootstrap", "Until an endpoint is added", is_free=True, is_uncensored=True),)
