"""What holds of every request for Google's streamGenerateContent."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.context import NeutralContext
from services.context.render import render as build
from services.context.rendered import Rendered
from tests.context.native.making import GEMINI, model
from tests.context.native.strategies import contexts, patient, said_texts, stand_in_order

TARGETS = st.sampled_from(
    [
        model(GEMINI, "gemini-3-flash-preview"),
        model(GEMINI, "gemini-2.5-pro", sees_images=False, sees_videos=False),
        model(GEMINI, "gemma-3-27b-it"),
    ]
)
requests = st.builds(lambda context, target: (context, build(context, target)), contexts, TARGETS)


def contents(made: Rendered) -> Any:
    return made.body["contents"]


@patient
@given(requests)
def test_responses_of_functions_are_alone_in_a_users_turn_and_follow_their_calls(
    made: tuple[NeutralContext, Rendered],
) -> None:
    answered = 0
    for position, turn in enumerate(contents(made[1])):
        responses = [part for part in turn["parts"] if "functionResponse" in part]
        if not responses:
            continue
        assert turn["role"] == "user"
        assert len(responses) == len(turn["parts"])
        before = contents(made[1])[position - 1]
        calls = [part["functionCall"] for part in before["parts"] if "functionCall" in part]
        assert before["role"] == "model"
        assert [call["name"] for call in calls] == [part["functionResponse"]["name"] for part in responses]
        assert [call.get("id") for call in calls] == [part["functionResponse"].get("id") for part in responses]
        answered += len(responses)
    assert answered == sum(len(exchange.calls) for exchange in made[0].function_history)


@patient
@given(requests)
def test_all_that_was_said_is_there_in_its_order(made: tuple[NeutralContext, Rendered]) -> None:
    replayed = any(exchange.replay for exchange in made[0].function_history)
    prose = "\n".join(part["text"] for turn in contents(made[1]) for part in turn["parts"] if "text" in part)
    # What is replayed has the model's own text, which need not be the exchange's in these made-up contexts.
    assert replayed or stand_in_order(said_texts(made[0]), prose)


@patient
@given(requests)
def test_no_part_is_blank_and_the_models_turns_hold_no_media(made: tuple[NeutralContext, Rendered]) -> None:
    for turn in contents(made[1]):
        assert turn["parts"]
        for part in turn["parts"]:
            assert "text" not in part or part["text"].strip()
            assert turn["role"] == "user" or not {"inlineData", "fileData"} & part.keys()


@patient
@given(requests)
def test_the_configuration_stays_within_the_providers_bounds(made: tuple[NeutralContext, Rendered]) -> None:
    config: Any = made[1].body["generationConfig"]
    assert len(config.get("stopSequences", ())) <= 5
    assert 0 <= config.get("topP", 0) < 1
    assert config["maxOutputTokens"] >= 1
