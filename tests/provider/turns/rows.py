"""Every provider with the model that is asked there, who plays it, and what a turn shows of its thoughts."""

from dataclasses import dataclass, replace
from typing import Any

from schemas.chunks import Dialect
from schemas.context import Origin
from services.catalog.providers import vertex_base_url
from services.catalog.seeds import SEEDS
from services.catalog.target import ModelFacts, ProviderName, Target
from tests.provider.turns import script
from tests.provider.turns.chat import ChatPlayer
from tests.provider.turns.claude import ClaudePlayer
from tests.provider.turns.demands import Player
from tests.provider.turns.gemini import GeminiPlayer
from tests.provider.turns.glm import GlmPlayer
from tests.provider.turns.responses import ResponsesPlayer

PLACE = "my-project::europe-west4"
_VERTEX = vertex_base_url("my-project", "europe-west4")
_OLLAMA = "http://ollama.example:11434/v1"
_GEMINI = "gemini-3-flash-preview"
_STREAM = ":streamGenerateContent?alt=sse"


@dataclass(frozen=True)
class Row:
    """`asked_as`: the provider's name in the request. `thoughts`: what is shown of them. `text`: what is said before calls.

    `counts`: tokens are told.
    """

    target: Target
    player: Player
    asked_as: str
    thoughts: str = script.THOUGHT
    text: str = script.TEXT
    counts: bool = True

    @property
    def origin(self) -> Origin:
        return Origin(provider=self.target.provider, dialect=self.target.dialect, model=self.target.model.codename)


def _target(
    provider: ProviderName, dialect: Dialect, codename: str, base_url: str | None = None, **facts: Any
) -> Target:
    """The model as it is seeded, with other facts where a test needs them."""
    seed = next(seed for seed in SEEDS[provider] if seed.codename == codename)
    return Target(provider, dialect, replace(seed.facts(), **facts), base_url)


def _chat(target: Target, player: ChatPlayer) -> Row:
    return Row(target, player, target.provider, thoughts=script.THOUGHT if player.reasons_in else "")


def _zai(provider: ProviderName, codename: str, address: str) -> Row:
    asks = {"thinking": {"type": "enabled"}, "tool_stream": True}
    player = ChatPlayer(
        f"{address}/chat/completions",
        "glm-5v-turbo",
        asks,
        takes=frozenset({"stop", "max_tokens"}),
        most_stops=1,
        marks=True,
        reasons_in="reasoning_content",
        usage_apart=False,
    )
    return _chat(_target(provider, "openai-chat", codename), player)


_QWEN = "qwen/qwen3.5-397b-a17b"
_NIM = ChatPlayer(
    "https://integrate.api.nvidia.com/v1/chat/completions",
    _QWEN,
    {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}, "reasoning_effort": "high"},
    takes=frozenset({"stop", "temperature", "max_tokens"}),
    reasons_in="reasoning_content",
)

ROWS = {
    # Chat completions count OpenAI's thoughts and never show them.
    "openai-chat": _chat(
        _target("openai", "openai-chat", "gpt-5.1"),
        ChatPlayer("https://api.openai.com/v1/chat/completions", "gpt-5.1", {"reasoning_effort": "high"}),
    ),
    "openai-responses": Row(
        _target("openai", "openai-responses", "gpt-5.1"),
        ResponsesPlayer("https://api.openai.com/v1/responses", "gpt-5.1"),
        "openai",
        thoughts="",
    ),
    "google": Row(
        _target("google", "google", _GEMINI),
        GeminiPlayer(
            f"https://generativelanguage.googleapis.com/v1beta/models/{_GEMINI}{_STREAM}",
            "x-goog-api-key",
            gives_ids=True,
        ),
        "google",
    ),
    "vertex": Row(
        _target("vertex", "google", _GEMINI, _VERTEX),
        GeminiPlayer(
            "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4"
            f"/publishers/google/models/{_GEMINI}{_STREAM}",
            "authorization",
        ),
        "vertex",
    ),
    "vertexexpress": Row(
        _target("vertexexpress", "google", _GEMINI),
        GeminiPlayer(
            f"https://aiplatform.googleapis.com/v1/publishers/google/models/{_GEMINI}{_STREAM}", "x-goog-api-key"
        ),
        "vertexexpress",
    ),
    "openrouter": _chat(
        _target("openrouter", "openai-chat", "anthropic/claude-sonnet-4.6"),
        ChatPlayer(
            "https://openrouter.ai/api/v1/chat/completions",
            "anthropic/claude-sonnet-4.6",
            {"reasoning": {"effort": "high"}, "provider": {"require_parameters": True}},
            takes=frozenset({"stop", "temperature", "repetition_penalty", "max_tokens"}),
            headers={"x-title": "Odradek"},
            reasons_in="reasoning_details",
        ),
    ),
    "anthropic": Row(
        _target("anthropic", "anthropic", "claude-opus-4-7"),
        ClaudePlayer("https://api.anthropic.com/v1/messages", "claude-opus-4-7"),
        "anthropic",
    ),
    # A text model: it is told of the pictures.
    "deepseek": _chat(
        _target("deepseek", "openai-chat", "deepseek-v4-flash"),
        ChatPlayer(
            "https://api.deepseek.com/chat/completions",
            "deepseek-v4-flash",
            {"thinking": {"type": "enabled"}},
            takes=frozenset({"stop", "max_tokens"}),
            sees=False,
            reasons_in="reasoning_content",
            usage_apart=False,
            marks=True,
            continued_url="https://api.deepseek.com/beta/chat/completions",
        ),
    ),
    "zai": _zai("zai", "zai/glm-5v-turbo", "https://api.z.ai/api/paas/v4"),
    "zaicoding": _zai("zaicoding", "glm-5v-turbo", "https://api.z.ai/api/coding/paas/v4"),
    # None of the models that are seeded for NVIDIA calls tools, but others there do.
    "nvidia": _chat(_target("nvidia", "openai-chat", _QWEN, has_tools=True), _NIM),
    # Ollama, with a model that signs its calls as Gemini does.
    "custom": replace(
        _chat(
            Target(
                "custom", "openai-chat", ModelFacts("home-model", has_tools=True, sees_images=True), _OLLAMA, 32_768
            ),
            ChatPlayer(
                f"{_OLLAMA}/chat/completions",
                "home-model",
                {"reasoning_effort": "high", "options": {"num_ctx": 32_768}, "max_context_length": 32_768},
                takes=frozenset({"stop", "temperature", "repetition_penalty", "max_tokens"}),
                reasons_in="reasoning_content",
                signs=True,
            ),
        ),
        asked_as="custom:home",
    ),
    # GLM behind a text completion: no pictures, no tokens counted, and thoughts and calls stand in lines of the text.
    "novelai": Row(
        _target("novelai", "novelai", "glm-4-6"),
        GlmPlayer("https://text.novelai.net/oa/v1/completions"),
        "novelai",
        text=f"\n{script.TEXT}\n\n",
        counts=False,
    ),
}
"""The providers whose models call tools."""

NVIDIA_WITHOUT_TOOLS = _chat(_target("nvidia", "openai-chat", _QWEN), replace(_NIM, calls=False))
