"""Every dialect that context can speak: one module each, and the table that names them.

A dialect is a pure function from the neutral context to a request; another provider of a known one needs no code.
"""

from collections.abc import Mapping

from schemas.chunks import Dialect
from services.context.dialects import anthropic, openai_chat
from services.context.native import DialectSpec

DIALECTS: Mapping[Dialect, DialectSpec] = {
    "openai-chat": DialectSpec(
        credential="openai",
        key_setting="ODRADEK_OPENAI_API_KEY",
        key=lambda settings: settings.openai_api_key,
        placement="bearer",
        base_url="https://api.openai.com",
        build=openai_chat.build,
    ),
    "anthropic": DialectSpec(
        credential="anthropic",
        key_setting="ODRADEK_ANTHROPIC_API_KEY",
        key=lambda settings: settings.anthropic_api_key,
        placement="x-api-key",
        base_url="https://api.anthropic.com",
        build=anthropic.build,
    ),
}
