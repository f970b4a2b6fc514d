"""The table of dialects by name."""

from collections.abc import Mapping

from services.sandbox.provider.dialects.anthropic import ANTHROPIC
from services.sandbox.provider.dialects.base import Dialect
from services.sandbox.provider.dialects.google import GOOGLE
from services.sandbox.provider.dialects.openai_chat import OPENAI_CHAT
from services.sandbox.provider.dialects.openai_responses import OPENAI_RESPONSES
from services.sandbox.provider.neutral import DialectName

DIALECTS: Mapping[DialectName, Dialect] = {
    dialect.name: dialect for dialect in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GOOGLE)
}
