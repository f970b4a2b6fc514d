"""What of a request an error names, which refusals name nothing, and the order in which parts are given up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.attempts import AttemptFacts, Chosen, Rung
from schemas.chunks import ErrorClass, ProviderError, ProviderErrorType
from services.orchestrator.attempts.degrading import degrades, status_of
from services.orchestrator.attempts.ladder import body_of, next_rung
from services.orchestrator.attempts.naming import named_keys, refuses_images

KEYS = ("stream_options", "top_k", "stop", "reasoning", "user", "provider", "generationConfig.topK", "min_p")


def facts(**changes: object) -> AttemptFacts:
    values = {"chosen": Chosen(provider="home", model="m"), "droppable": KEYS}
    return AttemptFacts.model_validate(values | changes)


def error(
    message: str,
    *,
    code: str = "400",
    kind: ProviderErrorType = "api_error",
    original: str | None = None,
    classifiers: tuple[ErrorClass, ...] = (),
) -> ProviderError:
    return ProviderError(
        type=kind, code=code, message=message, retryable=False, original=original, classifiers=classifiers
    )


@pytest.mark.parametrize(
    ("message", "status", "named"),
    [
        ("Unsupported parameter: 'top_k' is not supported with this model.", 400, ("top_k",)),
        ("top_k and min_p: Extra inputs are not permitted", 422, ("top_k", "min_p")),
        ("top_k", 400, ("top_k",)),
        ("top_k", 500, ()),
        ("unknown field top_k", 500, ("top_k",)),
        ("no field of the name my_top_k or top_k2 or top_k-x", 400, ()),
        (
            "Invalid JSON payload received. Unknown name \"topK\" at 'generation_config'",
            400,
            ("generationConfig.topK",),
        ),
        ("reasoning.effort is not supported", 400, ("reasoning",)),
        ("the parameter `stop` is bad", 400, ("stop",)),
        ("please stop sending this, user", 400, ()),
        ("Provider returned error", 400, ()),
        ("stop is not allowed here", 400, ("stop",)),
        ("", 400, ()),
    ],
)
def test_a_refusal_names_keys_as_whole_words(message: str, status: int, named: tuple[str, ...]) -> None:
    assert named_keys(error(message), status, facts()) == named


@pytest.mark.parametrize(
    ("original", "named"),
    [
        ('{"error": {"message": "bad value", "param": "top_k"}}', ("top_k",)),
        (
            '{"detail": [{"loc": ["body", "min_p"], "msg": "Extra inputs"}, {"loc": ["body", "stop", 0]}]}',
            ("stop", "min_p"),
        ),
        ('{"detail": "bad", "input": {"top_k": 1, "stop": 2}}', ()),
    ],
)
def test_a_body_names_keys_in_its_own_fields_alone(original: str, named: tuple[str, ...]) -> None:
    assert named_keys(error("bad value", original=original), 422, facts()) == named


@pytest.mark.parametrize(
    ("kind", "classifiers"),
    [
        ("rate_limit", ()),
        ("content_blocked", ()),
        ("timeout", ()),
        ("api_error", ("context_length",)),
        ("api_error", ("credit_affordability",)),
        ("api_error", ("key_access",)),
    ],
)
def test_an_error_of_another_kind_names_nothing(kind: ProviderErrorType, classifiers: tuple[ErrorClass, ...]) -> None:
    told = error("top_k and image input are not supported", kind=kind, classifiers=classifiers)
    assert named_keys(told, 400, facts()) == ()
    assert not refuses_images(told)


@pytest.mark.parametrize(
    "message",
    [
        "No endpoints found that support image input",
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        "some/model is not a multimodal model",
        "At most 0 image(s) may be provided in one prompt.",
        "This model does not support images",
        "Invalid content type. image_url is only supported by certain models; this one can't process it.",
        "unsupported content: image_url",
        "The model is text-only and images were sent",
    ],
)
def test_a_refusal_of_images_is_known_by_its_words(message: str) -> None:
    assert refuses_images(error(message, kind="provider_overloaded"))


@pytest.mark.parametrize(
    "message", ["no", "Internal Server Error", "top_k is not supported", "could not load the image of the container"]
)
def test_other_errors_do_not_refuse_images(message: str) -> None:
    assert not refuses_images(error(message))


@given(message=st.text(max_size=300), original=st.none() | st.text(max_size=1_000))
def test_no_message_names_what_is_not_in_it(message: str, original: str | None) -> None:
    told = error(message, original=original)
    for key in named_keys(told, 400, facts()):
        assert key.rpartition(".")[2] in message + (original or "")


@pytest.mark.parametrize("part", ["image not ", "image_url ", '"loc": [', '"param": "', "not support ", "top_k"])
def test_a_hostile_message_costs_little(part: str) -> None:
    told = error(part * 100, original=(part * 1_000)[:1_000])
    named_keys(told, 400, facts())
    refuses_images(told)


@pytest.mark.parametrize(
    ("message", "status", "kind", "classifiers", "expected"),
    [
        ("no", 400, "api_error", (), "bad_request"),
        ("no", 422, "api_error", (), "bad_request"),
        ("No endpoints found for this model", 404, "model_error", ("model_error",), "bad_request"),
        ("no such page", 404, "api_error", (), None),
        ("too long", 400, "api_error", ("context_length",), None),
        ("unsafe", 400, "content_blocked", (), None),
        ("anything", 502, "provider_overloaded", (), "bad_gateway"),
        ("Internal Server Error", 500, "provider_overloaded", (), "opaque_failure"),
        ("HTTP 500", 500, "provider_overloaded", (), "opaque_failure"),
        ("", 500, "api_error", (), "opaque_failure"),
        ("CUDA out of memory", 500, "api_error", (), None),
        ("Internal Server Error", 503, "provider_overloaded", (), None),
        ("no", None, "api_error", (), None),
    ],
)
def test_which_refusals_name_nothing(
    message: str,
    status: int | None,
    kind: ProviderErrorType,
    classifiers: tuple[ErrorClass, ...],
    expected: str | None,
) -> None:
    told = error(message, kind=kind, classifiers=classifiers)
    for one in ("bad_request", "bad_gateway", "opaque_failure"):
        assert degrades(told, status, facts(degrades=(one,))) == (one == expected)


@pytest.mark.parametrize(
    ("code", "answered", "status"),
    [("x", 429, 429), ("502", 200, 502), ("502", None, 502), ("x", 200, None), ("99", 200, None)],
)
def test_an_errors_status_is_the_answers_or_the_one_that_it_names(
    code: str, answered: int | None, status: int | None
) -> None:
    assert status_of(error("no", code=code), answered) == status


@given(
    droppable=st.lists(st.sampled_from(KEYS), unique=True).map(tuple),
    images=st.booleans(),
    tools=st.booleans(),
    base=st.lists(st.sampled_from(KEYS), unique=True).map(tuple),
)
def test_the_ladder_ends_with_everything_given_up_and_no_body_comes_twice(
    droppable: tuple[str, ...], images: bool, tools: bool, base: tuple[str, ...]
) -> None:
    request = facts(droppable=droppable, images=images, tools=tools)
    tried = [Rung(without=base)]
    while (rung := next_rung(request, Rung(without=base), tried)) is not None:
        tried.append(rung)
    bodies = [body_of(rung, request) for rung in tried]
    assert len(set(bodies)) == len(bodies)
    assert bodies[-1] == (frozenset(droppable), images, tools)
    assert all(set(base) & set(droppable) <= body[0] for body in bodies)
    assert len(tried) <= len(droppable) + 5
