"""Items that are made without pydantic's look at them are those that it would have made."""

from schemas.context import ConversationUser, StructuredContextItem, TextPart
from services.context.building.items import history_item

USERS = (ConversationUser(target_id="7", display_label="Ada"), ConversationUser(target_id="8", display_label="Grace"))


def test_a_history_item_is_the_one_that_the_class_makes() -> None:
    parts = (TextPart(text="hi"),)
    made = history_item("user", parts, sender="Grace", message_id="1", users=USERS, index=1)
    checked = StructuredContextItem(
        role="user",
        parts=parts,
        tag="dialogue_history",
        sender="Grace",
        message_id="1",
        conversation_users=USERS,
        participant_target_index=1,
    )
    assert made == checked
    assert made.model_fields_set == checked.model_fields_set
    assert made.model_dump_json() == checked.model_dump_json()
    assert StructuredContextItem.model_validate_json(made.model_dump_json()) == made
    assert made.model_copy(update={"role": "model"}).role == "model"
    assert set(vars(made)) == set(StructuredContextItem.model_fields)
    assert made.model_extra is None


def test_items_share_nothing_that_changes() -> None:
    one, other = (history_item("user", (), sender="Ada", message_id=key, users=USERS, index=0) for key in "12")
    assert one.model_fields_set is not other.model_fields_set
    assert (one.message_id, other.message_id) == ("1", "2")
