"""The official SDKs' own accumulators, as readers of recorded streams.

The bytes come through the SDK's HTTP client from a transport in memory, one event a read, so that the SDK does what it
does for its users, network aside. Some recorded streams are too much for an SDK; it may give up there, and the time until
then counts.
"""
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportUntypedBaseClass=false, reportMissingParameterType=false

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from schemas.chunks import Dialect

Read = Callable[[tuple[bytes, ...]], object]
MODULES: dict[Dialect, str] = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google.genai",
}
"""The SDK that reads each dialect; novelai has none."""


def sdk_reader(dialect: Dialect) -> Read | None:
    """What reads one stream's pieces to the end and returns the SDK's final object; None where the SDK is not installed."""
    module = MODULES.get(dialect)
    if module is None or not _is_installed(module):
        return None
    match module:
        case "openai":
            return _openai_responses() if dialect == "openai-responses" else _openai_chat()
        case "anthropic":
            return _anthropic()
        case _:
            return _google()


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a parent package that is not there
        return False


class _Web:
    """An HTTP client whose every answer is the stream in `pieces`."""

    def __init__(self) -> None:
        import httpx2

        self.pieces: tuple[bytes, ...] = ()
        web = self

        class Pieces(httpx2.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                return iter(web.pieces)

            def close(self) -> None:
                pass

        def answer(_: Any) -> Any:
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Pieces())

        self.client = httpx2.Client(transport=httpx2.MockTransport(answer))


def _openai() -> tuple[_Web, Any]:
    import openai

    web = _Web()
    return web, openai.OpenAI(
        api_key="none", base_url="http://replay.invalid/v1", max_retries=0, http_client=web.client
    )


def _openai_chat() -> Read:
    from openai.lib.streaming.chat import ChatCompletionStreamState

    web, client = _openai()

    def read(pieces: tuple[bytes, ...]) -> object:
        web.pieces = pieces
        state: Any = ChatCompletionStreamState()
        # Mistral's lists of parts are not what the SDK's types say; it reads on and complains.
        warnings.simplefilter("ignore")
        for chunk in client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}], stream=True
        ):
            for _ in state.handle_chunk(chunk):
                pass
        return state.current_completion_snapshot

    return read


def _openai_responses() -> Read:
    web, client = _openai()

    def read(pieces: tuple[bytes, ...]) -> object:
        web.pieces = pieces
        with client.responses.stream(model="m", input="x") as stream:
            for _ in stream:
                pass
            return stream.get_final_response()

    return read


def _anthropic() -> Read:
    import anthropic

    web = _Web()
    client: Any = anthropic.Anthropic(
        api_key="none", base_url="http://replay.invalid", max_retries=0, http_client=web.client
    )

    def read(pieces: tuple[bytes, ...]) -> object:
        web.pieces = pieces
        with client.beta.messages.stream(
            model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]
        ) as stream:
            for _ in stream:
                pass
            return stream.get_final_message()

    return read


def _google() -> Read:
    from google import genai
    from google.genai import types

    web = _Web()
    client: Any = genai.Client(
        api_key="none",
        http_options=types.HttpOptions(
            base_url="http://replay.invalid",
            httpx_client=web.client,
            retry_options=types.HttpRetryOptions(attempts=1),
        ),
    )

    def read(pieces: tuple[bytes, ...]) -> object:
        web.pieces = pieces
        # This SDK joins nothing by itself: what its users do with the chunks is the least of it.
        return list(client.models.generate_content_stream(model="m", contents="x"))

    return read
