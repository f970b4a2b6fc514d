"""Orchestrator and normalizer carry the same rules versions, and new turns get one that both know."""

from services.normalizer.rules import RULES
from services.orchestrator import rules as orchestrator
from services.runtime.settings import Settings


def test_the_stamp_of_new_turns_is_known_to_orchestrator_and_normalizer() -> None:
    assert RULES.keys() == orchestrator.RULES.keys()
    assert Settings.model_fields["rules_version"].default in RULES
