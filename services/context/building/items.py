"""Items of the history, made without pydantic's look at them: it would take a tenth of the time in which a context is built.

The builder's types say already that they are right, and pydantic would look at all participants again for each item.
"""

from schemas.context import ContextPart, ContextRole, ConversationUser, StructuredContextItem

_FIELDS = frozenset(StructuredContextItem.model_fields)


def history_item(
    role: ContextRole,
    parts: tuple[ContextPart, ...],
    *,
    sender: str,
    message_id: str,
    users: tuple[ConversationUser, ...],
    index: int,
) -> StructuredContextItem:
    """What `sender`, who is `users[index]`, said. It is as the class makes it."""
    fields = {
        "role": role,
        "parts": parts,
        "tag": "dialogue_history",
        "sender": sender,
        "message_id": message_id,
        "conversation_users": users,
        "participant_target_index": index,
    }
    made = StructuredContextItem.__new__(StructuredContextItem)
    object.__setattr__(made, "__dict__", fields)
    object.__setattr__(made, "__pydantic_fields_set__", set(_FIELDS))
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made
