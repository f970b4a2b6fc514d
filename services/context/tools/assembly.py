"""Which tools a turn offers to a model: those that the model, the provider, the server and the turn all allow."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from schemas.context import ToolDeclaration
from services.catalog.target import ProviderName, Target
from services.context.rendered import RenderWarning
from services.context.tools.names import wire_name

Capability = Literal["has_tools", "sees_images", "sees_videos", "sees_youtube", "supports_structured_output"]

FeatureFlag = Literal[
    "sticker_usage",
    "web_search",
    "self_teaching",
    "message_management",
    "image_generation",
    "video_generation",
    "voice_messages",
    "thread_creation",
]
"""What a server may switch off."""

Need = Literal["image_model", "video_model", "voice"]
"""What a tool cannot do without beside the model that calls it."""

ToolKind = Literal["web_search", "url_fetcher"]
"""Tools that one of a guild's own servers replaces."""

MOST_TOOLS = 128
"""In one request: https://docs.z.ai/api-reference/llm/chat-completion, and OpenAI's limit too."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool and its conditions.

    `capabilities` are compared for equality, so that a tool may be only for models that lack one. `providers` None: all.
    `from_guild`: it comes from a guild's own MCP server.
    """

    declaration: ToolDeclaration
    from_guild: bool = False
    kind: ToolKind | None = None
    providers: frozenset[ProviderName] | None = None
    capabilities: Mapping[Capability, bool] = field(default_factory=dict[Capability, bool])
    flags: frozenset[FeatureFlag] = frozenset()
    needs: frozenset[Need] = frozenset()


@dataclass(frozen=True, slots=True)
class ToolConditions:
    """What holds in one turn.

    `enabled`: neither server nor turn switched tools off. `flags` are those that are on, `at_hand` the needs that are
    met, `disabled` the tools that this turn has no more. `allowlist` None: the deliberate mode is off.
    """

    enabled: bool = True
    impersonation: bool = False
    flags: frozenset[FeatureFlag] = frozenset()
    at_hand: frozenset[Need] = frozenset()
    disabled: frozenset[str] = frozenset()
    allowlist: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class AssembledTools:
    """The tools to declare, in order, and which of them another one's name or the limit left out."""

    tools: tuple[ToolDeclaration, ...] = ()
    warnings: tuple[RenderWarning, ...] = ()


def assemble_tools(offered: Iterable[OfferedTool], conditions: ToolConditions, target: Target) -> AssembledTools:
    """The tools of a turn: built-in ones first, a guild's after them.

    A guild's tool of a kind replaces all built-in ones of that kind. One whose name is taken is left out, since a model
    cannot tell them apart.
    """
    if not (conditions.enabled and target.model.has_tools) or conditions.impersonation:
        return AssembledTools()
    allowed = [(index, tool) for index, tool in enumerate(offered) if _is_allowed(tool, conditions, target)]
    replaced = {tool.kind for _, tool in allowed if tool.from_guild and tool.kind is not None}
    ours = [(index, tool) for index, tool in allowed if not tool.from_guild and tool.kind not in replaced]
    guilds = [(index, tool) for index, tool in allowed if tool.from_guild]
    tools: dict[str, ToolDeclaration] = {}
    warnings: list[RenderWarning] = []
    for index, tool in [*ours, *guilds]:
        name = wire_name(tool.declaration.name)
        if name in tools or len(tools) >= MOST_TOOLS:
            why = "another tool has its name" if name in tools else f"there are {MOST_TOOLS} tools before it"
            warnings.append(RenderWarning("tools_dropped", f"offered[{index}]", why))
        else:
            tools[name] = tool.declaration
    return AssembledTools(tuple(tools.values()), tuple(warnings))


def _is_allowed(tool: OfferedTool, conditions: ToolConditions, target: Target) -> bool:
    name = tool.declaration.name
    return (
        (tool.providers is None or target.provider in tool.providers)
        and all(_has(target, capability) == wanted for capability, wanted in tool.capabilities.items())
        and tool.flags <= conditions.flags
        and tool.needs <= conditions.at_hand
        and name not in conditions.disabled
        and (conditions.allowlist is None or name in conditions.allowlist)
    )


def _has(target: Target, capability: Capability) -> bool:
    model = target.model
    return {
        "has_tools": model.has_tools,
        "sees_images": model.sees_images,
        "sees_videos": model.sees_videos,
        "sees_youtube": model.sees_youtube,
        "supports_structured_output": model.supports_structured_output,
    }[capability]
