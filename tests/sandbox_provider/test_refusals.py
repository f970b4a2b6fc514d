"""Calls that a provider would refuse get its native error."""

import pytest
from inline_snapshot import snapshot

from services.sandbox.provider.script import Script


async def test_a_wrong_or_missing_key_is_a_native_401(sandbox, dialect):
    wrong = await sandbox.ask(sandbox.native(dialect, "hi", key="sk-other"))
    request = sandbox.native(dialect, "hi")
    missing = await sandbox.http.post(request.path, json=request.body)
    assert (wrong.status_code, missing.status_code) == (401, 401)
    assert wrong.json() == missing.json()
    kind = {
        "openai-chat": "invalid_api_key",
        "openai-responses": "invalid_api_key",
        "anthropic": "authentication_error",
        "google": "UNAUTHENTICATED",
    }[dialect]
    assert kind in wrong.text
    call = sandbox.provider.calls[0]
    assert (call.body, call.ended.how, call.ended.status) == (None, "refused", 401)
    assert "sk-other" not in repr(call)


async def test_an_unknown_model_is_a_native_404_until_a_script_names_it(sandbox, dialect):
    request = sandbox.native(dialect, "hi", model="other-model")
    unknown = await sandbox.ask(request)
    assert unknown.status_code == 404
    kind = {
        "openai-chat": "model_not_found",
        "openai-responses": "model_not_found",
        "anthropic": "not_found_error",
        "google": "NOT_FOUND",
    }[dialect]
    assert kind in unknown.text
    sandbox.provider.enqueue(Script(model="other-model"))
    assert (await sandbox.ask(request)).status_code == 200
    assert (await sandbox.ask(request)).status_code == 200
    sandbox.provider.reset()
    assert (await sandbox.ask(request)).status_code == 404


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"model": 1}', b"\xff", b'"\\ud800"', b"null"])
async def test_a_malformed_body_is_a_native_400(sandbox, dialect, content):
    request = sandbox.native(dialect, "hi")
    answer = await sandbox.http.post(request.path, content=content, headers=request.headers)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["message"]
    assert "INVALID_ARGUMENT" in answer.text if dialect == "google" else error["type"] == "invalid_request_error"


async def test_the_place_of_a_fault_is_named(sandbox):
    request = sandbox.native("openai-chat", "hi")
    request.body["messages"][0]["role"] = 7
    answer = await sandbox.ask(request)
    assert answer.json() == snapshot(
        {
            "error": {
                "message": "Invalid request body: Expected `str`, got `int` - at `$.messages[0].role`",
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            }
        }
    )


async def test_messages_need_a_version(sandbox):
    request = sandbox.native("anthropic", "hi")
    del request.headers["anthropic-version"]
    answer = await sandbox.ask(request)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "anthropic-version: header is required")


async def test_messages_take_the_key_as_a_bearer_too(sandbox):
    request = sandbox.native("anthropic", "hi")
    del request.headers["x-api-key"]
    request.headers["authorization"] = "Bearer sandbox-key"
    assert (await sandbox.ask(request)).status_code == 200


async def test_google_answers_either_version_but_only_with_alt_sse(sandbox):
    request = sandbox.native("google", "hi")
    stable = request.path.replace("v1beta", "v1")
    assert (await sandbox.http.post(stable, json=request.body, headers=request.headers)).status_code == 200
    bare = request.path.removesuffix("?alt=sse")
    answer = await sandbox.http.post(bare, json=request.body, headers=request.headers)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_a_body_that_is_too_large_is_a_native_413(sandbox, dialect):
    request = sandbox.native(dialect, "x" * (32 * 1024 * 1024))
    answer = await sandbox.ask(request)
    assert answer.status_code == 413
    assert "too large" in answer.json()["error"]["message"]
    assert sandbox.provider.calls[0].body is None


async def test_a_call_without_streaming_is_refused_with_advice(sandbox):
    for dialect in ("openai-chat", "openai-responses", "anthropic"):
        request = sandbox.native(dialect, "hi")
        del request.body["stream"]
        answer = await sandbox.ask(request)
        assert answer.status_code == 400
        assert "set `stream` to true" in answer.text


async def test_models_are_listed_in_the_callers_form(sandbox):
    sandbox.provider.enqueue(Script(model="extra"))
    openai = await sandbox.http.get("/v1/models", headers={"authorization": "Bearer sandbox-key"})
    anthropic = await sandbox.http.get(
        "/v1/models", headers={"x-api-key": "sandbox-key", "anthropic-version": "2023-06-01"}
    )
    names = ["sandbox-echo", "sandbox-long", "sandbox-code", "sandbox-marked", "sandbox-lines", "extra"]
    assert [model["id"] for model in openai.json()["data"]] == names
    assert [model["id"] for model in anthropic.json()["data"]] == names
    assert (await sandbox.http.get("/v1/models")).status_code == 401
