"""Each dialect streams the reply in its own shape."""

from inline_snapshot import snapshot

from services.sandbox.provider.neutral import Usage
from services.sandbox.provider.replies import whole_reply
from services.sandbox.provider.script import Finish, Script, Stream, Text, Thinking, ToolCall


async def test_the_default_model_streams_its_known_reply(sandbox, dialect):
    answer = await sandbox.ask(sandbox.native(dialect, "Hello, what happens to this?"))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    said = sandbox.heard(dialect, answer.text)
    assert said.text == whole_reply("sandbox-echo", "Hello, what happens to this?")
    assert "Hello, what happens to this?" in said.text


async def test_thinking_text_and_tool_calls_arrive_in_order(sandbox, dialect):
    steps = (
        Thinking("First I think."),
        Text(("Then ", "I speak.")),
        ToolCall("weather", ('{"city": ', '"Prague"}')),
        ToolCall("clock"),
    )
    sandbox.provider.enqueue(Script(Stream(steps)))
    answer = await sandbox.ask(sandbox.native(dialect, "go"))
    said = sandbox.heard(dialect, answer.text)
    assert (said.thinking, said.text) == ("First I think.", "Then I speak.")
    assert said.calls == [("weather", {"city": "Prague"}), ("clock", {})]


async def test_finish_reasons_are_native(sandbox, dialect):
    reasons = {}
    for reason in ("stop", "length", "tool_calls", "content_filter", "odd"):
        sandbox.provider.enqueue(Script(Stream((Text("x"),), Finish(reason))))
        answer = await sandbox.ask(sandbox.native(dialect, "go"))
        reasons[reason] = sandbox.heard(dialect, answer.text).finish_reason
    assert (
        reasons
        == {
            "openai-chat": {
                "stop": "stop",
                "length": "length",
                "tool_calls": "tool_calls",
                "content_filter": "content_filter",
                "odd": "odd",
            },
            "openai-responses": {
                "stop": "completed",
                "length": "max_output_tokens",
                "tool_calls": "completed",
                "content_filter": "content_filter",
                "odd": "odd",
            },
            "anthropic": {
                "stop": "end_turn",
                "length": "max_tokens",
                "tool_calls": "tool_use",
                "content_filter": "refusal",
                "odd": "odd",
            },
            "google": {
                "stop": "STOP",
                "length": "MAX_TOKENS",
                "tool_calls": "STOP",
                "content_filter": "SAFETY",
                "odd": "odd",
            },
        }[dialect]
    )


async def test_chat_sends_usage_only_when_asked_and_always_the_end_mark(sandbox):
    request = sandbox.native("openai-chat", "hi")
    sandbox.provider.enqueue(Script(Stream((Text("x"),), Finish(usage=Usage(7, 3, 1))), times=2))
    asked = await sandbox.ask(request)
    del request.body["stream_options"]
    unasked = await sandbox.ask(request)
    assert sandbox.payloads(asked.text)[-1]["usage"] == snapshot(
        {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "total_tokens": 10,
            "completion_tokens_details": {"reasoning_tokens": 1},
        }
    )
    assert all("usage" not in payload for payload in sandbox.payloads(unasked.text))
    assert asked.text.endswith("data: [DONE]\n\n")
    assert unasked.text.endswith("data: [DONE]\n\n")


async def test_the_event_names_of_messages_and_responses(sandbox):
    sandbox.provider.enqueue(Script(Stream((Thinking("hm"), Text("x"))), times=2))
    names = {}
    for dialect in ("anthropic", "openai-responses"):
        answer = await sandbox.ask(sandbox.native(dialect, "hi"))
        names[dialect] = [line[7:] for line in answer.text.splitlines() if line.startswith("event: ")]
        assert names[dialect] == [payload["type"] for payload in sandbox.payloads(answer.text)]
    assert names == snapshot(
        {
            "anthropic": [
                "message_start",
                "content_block_start",
                "content_block_delta",
                "content_block_delta",
                "content_block_stop",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop",
            ],
            "openai-responses": [
                "response.created",
                "response.in_progress",
                "response.output_item.added",
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
                "response.reasoning_summary_part.done",
                "response.output_item.done",
                "response.output_item.added",
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.completed",
            ],
        }
    )


async def test_broken_tool_arguments_are_sent_raw_but_end_googles_reply(sandbox):
    sandbox.provider.enqueue(Script(Stream((ToolCall("weather", '{"city": '),)), times=2))
    chat = await sandbox.ask(sandbox.native("openai-chat", "hi"))
    google = await sandbox.ask(sandbox.native("google", "hi"))
    assert r'{\"city\": "' in chat.text
    said = sandbox.heard("google", google.text)
    assert (said.finish_reason, said.calls) == ("MALFORMED_FUNCTION_CALL", [])


async def test_content_parts_and_system_texts_are_read(sandbox):
    chat = sandbox.native("openai-chat")
    chat.body["messages"] = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "a picture"}, {"type": "image_url", "image_url": {}}]},
    ]
    messages = sandbox.native("anthropic", "unused")
    messages.body["system"] = [{"type": "text", "text": "Be kind."}]
    messages.body["messages"] = [{"role": "user", "content": [{"type": "text", "text": "a picture"}]}]
    responses = sandbox.native("openai-responses")
    responses.body.update({"instructions": "Be kind.", "input": "a picture"})
    google = sandbox.native("google", "a picture")
    google.body["systemInstruction"] = {"parts": [{"text": "Be kind."}]}
    for dialect, request in {
        "openai-chat": chat,
        "anthropic": messages,
        "openai-responses": responses,
        "google": google,
    }.items():
        sandbox.provider.enqueue(Script(Stream((Text("matched"),)), contains="Be kind.", dialect=dialect))
        assert sandbox.heard(dialect, (await sandbox.ask(request)).text).text == "matched"
        assert "> a picture" in sandbox.heard(dialect, (await sandbox.ask(request)).text).text
