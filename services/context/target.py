"""The target's former place, until every serializer reads it from the catalog."""

from services.catalog.target import ModelFacts as ModelFacts
from services.catalog.target import ProviderName as ProviderName
from services.catalog.target import Target as Target
