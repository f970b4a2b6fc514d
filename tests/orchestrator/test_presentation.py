"""What users read of an error: the class decides before the type, the scope decides whose settings are named."""

import re
from string import Formatter
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.attempts import NO_ATTEMPT_LEFT
from schemas.chunks import ErrorClass, ProviderError, ProviderErrorType
from schemas.inbox import Locale
from services.catalog.errors import FailureKind
from services.context.failures import CannotAssemble
from services.orchestrator.notices import error_notice
from services.orchestrator.presentation.present import OWN_MESSAGES, UNCALLED_MESSAGES, Presentation, Scope, present
from services.orchestrator.presentation.texts import texts
from services.provider.failures import CallNotMade

SERVER = Scope("server", fallback=True)
BARE = Scope("server", fallback=False)
PERSONAL = Scope("personal", fallback=False)
LOCALES: tuple[Locale, ...] = get_args(Locale)


def an_error(**changed: Any) -> ProviderError:
    return ProviderError(**{"type": "api_error", "code": "400", "message": "No.", "retryable": False, **changed})


def tips(error: ProviderError, scope: Scope) -> list[str]:
    keys = present(error, scope).locale_keys
    return [key.removeprefix("genai.tips.") for key in keys if key.startswith("genai.tips.")]


def test_a_presentation_has_title_description_and_tips_with_their_keys() -> None:
    error = an_error(
        type="rate_limit", code="429", message="Slow down.", retryable=True, retry_after_s=2.4, original="{}"
    )
    assert present(error, BARE) == snapshot(
        Presentation(
            title="Too many requests",
            description="Error code 429: Slow down.",
            tips=(
                "Send your message again in 3 s.",
                "The bot's operator can add more keys, which then take turns.",
                "The bot's operator can set another model to fall back on.",
            ),
            locale_keys=(
                "genai.titles.rate_limit",
                "genai.descriptions.coded",
                "genai.tips.wait",
                "genai.tips.api_key_rotation",
                "genai.tips.model_fallback",
            ),
        )
    )


@pytest.mark.parametrize(
    ("error", "server", "personal"),
    [
        (an_error(classifiers=("exhausted_balance",)), ["top_up_balance"], ["top_up_balance_personal"]),
        (an_error(classifiers=("credit_affordability",)), ["reduce_output_tokens"], ["reduce_output_tokens_personal"]),
        (an_error(classifiers=("context_length",)), ["trim_history"], ["trim_history_personal"]),
        (an_error(classifiers=("model_error",)), ["choose_model"], ["choose_model_personal"]),
        (an_error(type="model_error"), ["choose_model"], ["choose_model_personal"]),
        (an_error(classifiers=("key_access",)), ["verify_api_key"], ["verify_api_key_personal"]),
        (an_error(), ["verify_api_key"], ["verify_api_key_personal"]),
        (an_error(code="404"), ["check_endpoint"], ["check_endpoint_personal"]),
        (an_error(retryable=True), ["try_again"], ["try_again"]),
        (an_error(type="timeout", retryable=True), ["try_again"], ["try_again"]),
        (an_error(type="content_blocked"), ["rephrase"], ["rephrase"]),
        (an_error(type="rate_limit", retryable=True), ["try_again", "api_key_rotation"], ["try_again"]),
        (an_error(type="provider_overloaded", retryable=True), ["try_again"], ["try_again"]),
        (an_error(code="stream_incomplete", retryable=True), ["try_again"], ["try_again"]),
    ],
)
def test_the_class_decides_the_advice_then_the_type_and_the_scope_decides_whose_settings(
    error: ProviderError, server: list[str], personal: list[str]
) -> None:
    assert tips(error, SERVER) == server
    assert tips(error, PERSONAL) == [*personal, "disable_personal_text_override"]


def test_a_spent_balance_is_never_taken_for_a_bad_key() -> None:
    for scope in (SERVER, BARE, PERSONAL):
        told = tips(an_error(type="api_error", code="429_balance", classifiers=("exhausted_balance",)), scope)
        assert not any("verify_api_key" in tip or "reduce" in tip for tip in told)


@pytest.mark.parametrize(
    ("changed", "hinted"),
    [
        ({"type": "rate_limit", "retryable": True}, True),
        ({"type": "provider_overloaded", "retryable": True}, True),
        ({"code": "503", "retryable": True}, True),
        ({"type": "timeout", "retryable": True}, False),
        ({"code": "500", "retryable": True}, False),
        ({"classifiers": ("exhausted_balance",)}, False),
    ],
)
def test_other_models_are_hinted_at_only_where_none_are_configured_and_the_key_is_the_servers(
    changed: dict[str, Any], hinted: bool
) -> None:
    error = an_error(**changed)
    assert ("model_fallback" in tips(error, BARE)) is hinted
    assert "model_fallback" not in tips(error, SERVER)
    assert not any(tip.startswith("model_fallback") for tip in tips(error, PERSONAL))


def test_turns_of_keys_are_no_advice_to_a_member_with_a_key_of_their_own() -> None:
    error = an_error(type="rate_limit", retryable=True)
    assert "api_key_rotation" in tips(error, SERVER)
    assert not any("rotation" in tip for tip in tips(error, PERSONAL))


@pytest.mark.parametrize("code", sorted({**OWN_MESSAGES, **UNCALLED_MESSAGES}))
def test_our_own_codes_and_messages_are_not_shown(code: str) -> None:
    error = an_error(code=code, message="services.normalizer.sse raised InternalWord", retryable=True)
    for locale in LOCALES:
        shown = present(error, BARE, locale)
        assert "InternalWord" not in shown.description
        assert "_" not in shown.title + shown.description + "".join(shown.tips)


def test_a_code_of_ours_that_a_provider_uses_is_the_providers() -> None:
    error = an_error(code="invalid_value", message="Invalid value: 'tool'.", original="{}")
    assert present(error, SERVER).description == "Error code invalid_value: Invalid value: 'tool'."
    assert tips(error, SERVER) == ["verify_api_key"]
    assert tips(an_error(code="invalid_value"), SERVER) == ["tell_operator"]


def test_a_refused_key_is_told_without_the_providers_words() -> None:
    error = an_error(code="401", message="the key ab12 is wrong", classifiers=("key_access",))
    shown = present(error, BARE)
    assert "ab12" not in shown.description
    assert shown.description.startswith("Error code 401: ")


@pytest.mark.parametrize("message", ["", "HTTP 502", "error 502"])
def test_where_the_provider_said_nothing_we_say_what_it_means(message: str) -> None:
    shown = present(an_error(type="provider_overloaded", code="502", message=message, retryable=True), SERVER)
    assert shown.description == "Error code 502: The provider cannot serve the request right now."


def test_a_quotation_pings_nobody_hides_no_link_and_no_code_block_and_is_cut() -> None:
    message = "Hi @everyone <@1> ```x``` [here](https://evil.example)\n# big sk-abcdefghijklmnop " + "x" * 9_000
    description = present(an_error(message=message), SERVER).description
    assert "@everyone" not in description
    assert not re.search(r"[`<\n]|\]\(|sk-a", description)
    assert len(description) < 400


@pytest.mark.parametrize("locale", LOCALES)
def test_every_language_has_the_same_keys_with_the_same_placeholders(locale: Locale) -> None:
    def placeholders(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    english, other = texts("en"), texts(locale)
    assert list(other) == list(english)
    assert {key for key in english if placeholders(english[key]) != placeholders(other[key])} == set()
    assert [key for key, text in other.items() if not text.strip()] == []


ERRORS = st.builds(
    ProviderError,
    type=st.sampled_from(get_args(ProviderErrorType)),
    code=st.sampled_from([*OWN_MESSAGES, *UNCALLED_MESSAGES, "503", "404", "401"]) | st.text(max_size=30),
    message=st.text(max_size=50),
    retryable=st.booleans(),
    retry_after_s=st.none() | st.floats(),
    classifiers=st.just(()) | st.sampled_from(get_args(ErrorClass)).map(lambda one: (one,)),
)
SCOPES = st.builds(Scope, st.sampled_from(["server", "personal"]), st.booleans())


@given(error=ERRORS, scope=SCOPES, locale=st.sampled_from(LOCALES))
def test_any_error_can_be_presented_with_one_text_a_key(error: ProviderError, scope: Scope, locale: Locale) -> None:
    shown = present(error, scope, locale)
    assert shown.title
    assert shown.description
    assert 1 <= len(shown.tips) <= 4
    assert len(set(shown.locale_keys)) == len(shown.locale_keys)
    assert texts(locale)[shown.locale_keys[0]] == shown.title
    assert "{" not in "".join(shown.tips)
    notice = error_notice(error, locale, Scope())
    assert "\n" not in notice
    assert 0 < len(notice) < 1_500


def test_no_text_is_there_for_nothing() -> None:
    shown = {
        key
        for kind in get_args(ProviderErrorType)
        for code in (*OWN_MESSAGES, *UNCALLED_MESSAGES, "400", "404")
        for message in ("", "No.")
        for retryable in (False, True)
        for wait in (None, 3.0)
        for classes in ((), *((one,) for one in get_args(ErrorClass)))
        for scope in (BARE, PERSONAL)
        for key in present(
            ProviderError(
                type=kind,
                code=code,
                message=message,
                retryable=retryable,
                retry_after_s=wait,
                classifiers=classes,
            ),
            scope,
        ).locale_keys
    }
    assert texts("en").keys() - shown == set()


def every_subclass(kind: type[Any]) -> set[type[Any]]:
    return {kind}.union(*(every_subclass(one) for one in kind.__subclasses__()))


UNCALLED = {
    NO_ATTEMPT_LEFT,
    *get_args(FailureKind),
    *(kind.code for kind in every_subclass(CannotAssemble)),
    *(kind.code for kind in every_subclass(CallNotMade)),
}


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("code", sorted(UNCALLED))
def test_every_reason_why_no_provider_was_called_has_a_text_in_every_language(code: str, locale: Locale) -> None:
    assert code in {**OWN_MESSAGES, **UNCALLED_MESSAGES}
    for scope in (SERVER, PERSONAL):
        shown = present(an_error(code=code, message="Internal words."), scope, locale)
        assert "Internal words" not in shown.description
        assert code not in shown.description
        assert shown.tips
        assert "genai.descriptions.coded" not in shown.locale_keys


def test_no_reason_why_no_provider_was_called_is_told_that_nobody_gives() -> None:
    assert UNCALLED_MESSAGES.keys() <= UNCALLED


@pytest.mark.parametrize("code", [*get_args(FailureKind), NO_ATTEMPT_LEFT])
@pytest.mark.parametrize("locale", LOCALES)
def test_what_is_not_set_up_is_told_with_the_command_that_helps_its_owner(code: str, locale: Locale) -> None:
    error = an_error(code=code)
    assert "`odradek " in present(error, PERSONAL, locale).tips[0]
    assert "--user`" in present(error, PERSONAL, locale).tips[0]
    if code != "personal_provider_required":
        assert re.search(r"`odradek [a-z ]+`", present(error, SERVER, locale).tips[0])
