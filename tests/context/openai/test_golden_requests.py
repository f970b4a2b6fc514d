"""One request of each provider in full, with everything that a context can hold.

Reviewed against "context assembly" and "strict chat-completion compatibility"; a change here changes what providers see.
"""

from typing import Any

from inline_snapshot import snapshot

from services.context.render import render
from tests.context.openai.conftest import LOOK, PNG, answered, called, context, exchange, item, made_by, target

FULL = context(
    item("system", "You are Mira."),
    item("user", "Rules of the server.", tag="knowledge_server_info"),
    item("model", "I am here.", PNG, sender="Mira"),
    item("user", "Ada: hello"),
    item("user", "Ada: look", PNG),
    tools=(LOOK,),
    function_history=(
        exchange(
            calls=(called(thought_signature="sig"),),
            results=(answered(images=(PNG,)),),
            replay=({"type": "reasoning_content", "reasoning_content": "A cat?"},),
        ),
    ),
    options={
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
        "stop_strings": ["###", "\n\n\n"],
        "speaker_stop": True,
        "persona_name": "Mira",
        "prefill": "Well",
        "thinking_level": "low",
    },
)


def told(to: Any) -> dict[str, Any]:
    """The whole request."""
    made = render(made_by(FULL, to), to)
    return {"url": made.url, "headers": made.headers, "body": made.body}


def test_openai_chat() -> None:
    assert told(target("openai", "gpt-4.1")) == snapshot(
        {
            "url": "https://api.openai.com/v1/chat/completions",
            "headers": {"accept": "text/event-stream"},
            "body": {
                "model": "gpt-4.1",
                "messages": [
                    {
                        "role": "system",
                        "content": """\
You are Mira.

Rules of the server.\
""",
                    },
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Ada: look"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "look", "arguments": '{"what":"the café"}'},
                                "extra_content": {"google": {"thought_signature": "sig"}},
                            }
                        ],
                        "reasoning_content": "A cat?",
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was returned by look.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "assistant", "content": "Well"},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "temperature": 0.7,
                "top_p": 0.9,
                "stop": [
                    "<｜begin▁of▁sentence｜>",
                    "###",
                    """\



""",
                    """\

Mira:\
""",
                ],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "look",
                            "description": "Looks at something.",
                            "parameters": {
                                "type": "object",
                                "properties": {"what": {"type": "string"}},
                                "required": ["what"],
                            },
                        },
                    }
                ],
            },
        }
    )


def test_openai_responses() -> None:
    assert told(target("openai", "gpt-5.1", "openai-responses")) == snapshot(
        {
            "url": "https://api.openai.com/v1/responses",
            "headers": {"accept": "text/event-stream"},
            "body": {
                "model": "gpt-5.1",
                "input": [
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "[System: The following image was sent by Mira.]"},
                            {
                                "type": "input_image",
                                "image_url": "data:image/png;base64,iVBORw0KGgo=",
                                "detail": "auto",
                            },
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "Ada: look"},
                            {
                                "type": "input_image",
                                "image_url": "data:image/png;base64,iVBORw0KGgo=",
                                "detail": "auto",
                            },
                        ],
                    },
                    {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"what":"the café"}'},
                    {"type": "function_call_output", "call_id": "call_1", "output": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "[System: The following image was returned by look.]"},
                            {
                                "type": "input_image",
                                "image_url": "data:image/png;base64,iVBORw0KGgo=",
                                "detail": "auto",
                            },
                        ],
                    },
                    {"role": "assistant", "content": "Well"},
                ],
                "stream": True,
                "store": False,
                "instructions": """\
You are Mira.

Rules of the server.\
""",
                "tools": [
                    {
                        "type": "function",
                        "name": "look",
                        "description": "Looks at something.",
                        "parameters": {
                            "type": "object",
                            "properties": {"what": {"type": "string"}},
                            "required": ["what"],
                        },
                        "strict": False,
                    }
                ],
                "reasoning": {"effort": "low"},
                "include": ["reasoning.encrypted_content"],
            },
        }
    )


def test_openrouter() -> None:
    assert told(target("openrouter", "google/gemini-3-flash", max_output_tokens=65_536)) == snapshot(
        {
            "url": "https://openrouter.ai/api/v1/chat/completions",
            "headers": {"accept": "text/event-stream", "http-referer": "https://odradek.example", "x-title": "Odradek"},
            "body": {
                "model": "google/gemini-3-flash",
                "messages": [
                    {
                        "role": "system",
                        "content": """\
You are Mira.

Rules of the server.\
""",
                    },
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Ada: look"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "look", "arguments": '{"what":"the café"}'},
                                "thought_signature": "sig",
                            }
                        ],
                        "reasoning_content": "A cat?",
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was returned by look.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "assistant", "content": "Well"},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": 8192,
                "temperature": 0.7,
                "top_p": 0.9,
                "top_k": 40,
                "repetition_penalty": 1.1,
                "stop": [
                    "<｜begin▁of▁sentence｜>",
                    "###",
                    """\



""",
                    """\

Mira:\
""",
                ],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "look",
                            "description": "Looks at something.",
                            "parameters": {
                                "type": "object",
                                "properties": {"what": {"type": "string"}},
                                "required": ["what"],
                            },
                        },
                    }
                ],
                "provider": {"require_parameters": True},
                "reasoning": {"effort": "low"},
            },
        }
    )


def test_deepseek() -> None:
    assert told(target("deepseek", "deepseek-v4-flash")) == snapshot(
        {
            "url": "https://api.deepseek.com/beta/chat/completions",
            "headers": {"accept": "text/event-stream"},
            "body": {
                "model": "deepseek-v4-flash",
                "messages": [
                    {
                        "role": "system",
                        "content": """\
You are Mira.

Rules of the server.\
""",
                    },
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Ada: look"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "look", "arguments": '{"what":"the café"}'},
                                "extra_content": {"google": {"thought_signature": "sig"}},
                            }
                        ],
                        "reasoning_content": "A cat?",
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was returned by look.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "assistant", "content": "Well", "prefix": True},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": 4096,
                "top_k": 40,
                "stop": [
                    "<｜begin▁of▁sentence｜>",
                    "###",
                    """\



""",
                    """\

Mira:\
""",
                ],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "look",
                            "description": "Looks at something.",
                            "parameters": {
                                "type": "object",
                                "properties": {"what": {"type": "string"}},
                                "required": ["what"],
                            },
                        },
                    }
                ],
                "thinking": {"type": "enabled"},
            },
        }
    )


def test_zai() -> None:
    assert told(target("zai", "zai/glm-4.7")) == snapshot(
        {
            "url": "https://api.z.ai/api/paas/v4/chat/completions",
            "headers": {"accept": "text/event-stream"},
            "body": {
                "model": "glm-4.7",
                "messages": [
                    {
                        "role": "system",
                        "content": """\
You are Mira.

Rules of the server.\
""",
                    },
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Ada: look"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "look", "arguments": '{"what":"the café"}'},
                                "extra_content": {"google": {"thought_signature": "sig"}},
                            }
                        ],
                        "reasoning_content": "A cat?",
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was returned by look.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "assistant", "content": "Well", "prefix": True},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": 4096,
                "top_k": 40,
                "stop": ["###"],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "look",
                            "description": "Looks at something.",
                            "parameters": {
                                "type": "object",
                                "properties": {"what": {"type": "string"}},
                                "required": ["what"],
                            },
                        },
                    }
                ],
                "tool_stream": True,
                "thinking": {"type": "enabled"},
            },
        }
    )


def test_zaicoding() -> None:
    assert told(target("zaicoding", "glm-4.7")) == snapshot(
        {
            "url": "https://api.z.ai/api/coding/paas/v4/chat/completions",
            "headers": {"accept": "text/event-stream"},
            "body": {
                "model": "glm-4.7",
                "messages": [
                    {
                        "role": "system",
                        "content": """\
You are Mira.

Rules of the server.\
""",
                    },
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Ada: look"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "look", "arguments": '{"what":"the café"}'},
                                "extra_content": {"google": {"thought_signature": "sig"}},
                            }
                        ],
                        "reasoning_content": "A cat?",
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was returned by look.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "assistant", "content": "Well", "prefix": True},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": 4096,
                "top_k": 40,
                "stop": ["###"],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "look",
                            "description": "Looks at something.",
                            "parameters": {
                                "type": "object",
                                "properties": {"what": {"type": "string"}},
                                "required": ["what"],
                            },
                        },
                    }
                ],
                "tool_stream": True,
                "thinking": {"type": "enabled"},
            },
        }
    )


def test_nvidia() -> None:
    assert told(target("nvidia", "qwen/qwen3.5-397b")) == snapshot(
        {
            "url": "https://integrate.api.nvidia.com/v1/chat/completions",
            "headers": {"accept": "text/event-stream"},
            "body": {
                "model": "qwen/qwen3.5-397b",
                "messages": [
                    {
                        "role": "system",
                        "content": """\
You are Mira.

Rules of the server.\
""",
                    },
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Ada: look"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "look", "arguments": '{"what":"the café"}'},
                                "extra_content": {"google": {"thought_signature": "sig"}},
                            }
                        ],
                        "reasoning_content": "A cat?",
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was returned by look.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "assistant", "content": "Well"},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": 4096,
                "temperature": 0.7,
                "top_p": 0.9,
                "top_k": 40,
                "stop": [
                    "<｜begin▁of▁sentence｜>",
                    "###",
                    """\



""",
                    """\

Mira:\
""",
                ],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "look",
                            "description": "Looks at something.",
                            "parameters": {
                                "type": "object",
                                "properties": {"what": {"type": "string"}},
                                "required": ["what"],
                            },
                        },
                    }
                ],
                "chat_template_kwargs": {"enable_thinking": True, "thinking": True},
                "reasoning_effort": "low",
            },
        }
    )


def test_a_custom_endpoint_with_both_switches_off() -> None:
    assert told(target("custom", "my-model", num_ctx=16_384)) == snapshot(
        {
            "url": "http://models.example/v1/chat/completions",
            "headers": {"accept": "text/event-stream"},
            "body": {
                "model": "my-model",
                "messages": [
                    {
                        "role": "system",
                        "content": """\
You are Mira.

Rules of the server.\
""",
                    },
                    {"role": "assistant", "content": "I am here."},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "user", "content": "Ada: hello"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Ada: look"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "look", "arguments": '{"what":"the café"}'},
                                "extra_content": {"google": {"thought_signature": "sig"}},
                            }
                        ],
                        "reasoning_content": "A cat?",
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "[System: The following image was returned by look.]"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                        ],
                    },
                    {"role": "assistant", "content": "Well"},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": 4096,
                "temperature": 0.7,
                "top_p": 0.9,
                "top_k": 40,
                "repetition_penalty": 1.1,
                "stop": [
                    "<｜begin▁of▁sentence｜>",
                    "###",
                    """\



""",
                ],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "look",
                            "description": "Looks at something.",
                            "parameters": {
                                "type": "object",
                                "properties": {"what": {"type": "string"}},
                                "required": ["what"],
                            },
                        },
                    }
                ],
                "options": {"num_ctx": 16384},
                "max_context_length": 16384,
            },
        }
    )


def test_a_custom_endpoint_with_both_switches_on() -> None:
    strict = target("custom", "my-model", strict_role_alternation=True, supports_prefix_completion=True)
    assert told(strict)["body"]["messages"] == snapshot(
        [
            {
                "role": "system",
                "content": """\
You are Mira.

Rules of the server.\
""",
            },
            {"role": "user", "content": "[System: The conversation began before this.]"},
            {"role": "assistant", "content": "I am here."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "[System: The following image was sent by Mira.]"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                    {"type": "text", "text": "Ada: hello"},
                    {"type": "text", "text": "Ada: look"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                ],
            },
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"what":"the café"}'},
                        "extra_content": {"google": {"thought_signature": "sig"}},
                    }
                ],
                "reasoning_content": "A cat?",
            },
            {"role": "tool", "tool_call_id": "call_1", "content": '{"seen":"a cat"}'},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "[System: The following image was returned by look.]"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                ],
            },
            {"role": "assistant", "content": "Well", "prefix": True},
        ]
    )
