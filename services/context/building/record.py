"""What a prompt keeps of what was read for it, beside the body that it became."""

import hashlib
import json

from schemas.context import ContextPart, NeutralContext, TextPart
from schemas.prompts import ContextRead
from services.context.building.build import Built


def what_was_read(built: Built) -> ContextRead:
    """The messages, the opaque ids, and a digest of what the context says.

    Addresses of media are not in the digest: Discord signs them anew each time that they are read.
    """
    return ContextRead(messages=built.messages, digest=_digest(built.context), references=dict(built.references))


def _digest(context: NeutralContext) -> str:
    said = [[item.role, item.tag, item.message_id, [_told(part) for part in item.parts]] for item in context.items]
    return hashlib.sha256(json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


def _told(part: ContextPart) -> list[str | None]:
    return [part.type, part.text if isinstance(part, TextPart) else part.name]
