"""Which batches count, and what the end of a stream leads to."""

from schemas.chunks import DoneChunk, DoneMetadata, ErrorChunk, ProviderError, TextChunk
from schemas.inbox import GenerationFailed


def test_a_repeated_batch_changes_nothing(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n")
    before = channel.state
    assert channel.batch(TextChunk(content="One.\n\n"), sequence=0) == []
    assert channel.state == before


def test_a_batch_behind_a_gap_changes_nothing(channel) -> None:
    channel.message(1)
    before = channel.state
    assert channel.batch(TextChunk(content="x\n\n"), sequence=1) == []
    assert channel.state == before


def test_a_batch_of_another_instance_changes_nothing(channel) -> None:
    channel.message(1)
    channel.text("One.")
    before = channel.state
    assert channel.batch(TextChunk(content="x\n\n"), instance="provider-9") == []
    assert channel.state == before


def test_events_of_a_generation_that_is_not_current_change_nothing(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n")
    channel.lost()
    before = channel.state
    error = ProviderError(type="api_error", code="x", message="x", retryable=False)
    assert channel.batch(TextChunk(content="x\n\n"), generation=1, sequence=2) == []
    assert channel.batch(end="lost", generation=1) == []
    assert channel.tell(GenerationFailed(turn="m1", generation=1, error=error)) == []
    assert channel.tell(GenerationFailed(turn="m9", generation=2, error=error)) == []
    assert channel.state == before


def test_a_lost_stream_goes_on_after_what_was_shown(channel) -> None:
    channel.message(1)
    channel.text("One.\n\nTw")
    channel.lost()
    second = channel.requested()[-1]
    assert (second.generation, second.why, second.emitted) == (2, "lost", "One.\n\n")
    channel.text("Two again.")
    channel.done()
    channel.receive_all()
    assert channel.texts() == ["One.", "Two again."]
    assert [(record.start, record.end) for record in channel.sent()] == [(0, 6), (6, 16)]
    assert channel.last_finished().generations == 2
    assert channel.finished() == ["m1 completed"]


def test_a_lost_end_counts_whatever_its_sequence_and_instance(channel) -> None:
    channel.message(1)
    channel.text("One.")
    channel.batch(end="lost", sequence=77, instance="provider-9")
    assert [record.generation for record in channel.requested()] == [1, 2]


def test_a_finish_mark_beats_lost(channel) -> None:
    channel.message(1)
    channel.text("One.")
    channel.batch(DoneChunk(metadata=DoneMetadata(finish_reason="stop")), end="lost")
    channel.receive_all()
    assert channel.finished() == ["m1 completed"]


def test_a_finish_mark_ends_the_turn_before_the_connection_does(channel) -> None:
    channel.message(1)
    channel.text("One.")
    channel.batch(DoneChunk())
    assert channel.texts() == ["One."]
    assert channel.batch(end="eof") == []
    channel.receive_all()
    assert channel.finished() == ["m1 completed"]


def test_after_the_last_retry_a_lost_stream_ends_with_what_there_is(channel) -> None:
    channel.message(1, lost_retries=1)
    channel.lost()
    channel.text("Half")
    channel.lost()
    channel.receive_all()
    assert channel.texts() == ["Half"]
    assert len(channel.notices()) == 1
    assert channel.last_finished().error.code == "lost"
    assert channel.finished() == ["m1 error"]


def test_an_error_in_the_bytes_of_a_lost_stream_is_final(channel) -> None:
    channel.message(1)
    refused = ErrorChunk(error=ProviderError(type="rate_limit", code="429", message="no", retryable=True))
    channel.batch(refused, end="lost")
    channel.receive_all()
    assert channel.last_finished().error.code == "429"


def test_a_stream_that_was_stopped_without_a_stop_in_the_inbox_ends_as_stopped(channel) -> None:
    channel.message(1)
    channel.text("Half")
    channel.batch(DoneChunk(metadata=DoneMetadata(stopped=True)), end="stopped")
    channel.receive_all()
    assert channel.texts() == ["Half"]
    assert channel.finished() == ["m1 stopped_by_user"]


def test_an_end_without_a_finish_mark_is_an_error(channel) -> None:
    channel.message(1)
    channel.batch(end="reset")
    channel.receive_all()
    assert channel.last_finished().error.code == "reset"


def test_a_generation_that_could_not_be_asked_for_ends_the_turn(channel) -> None:
    channel.message(1)
    error = ProviderError(type="model_error", code="no_such_model", message="no such model", retryable=False)
    channel.tell(GenerationFailed(turn="m1", generation=1, error=error))
    channel.receive_all()
    assert channel.last_finished().error == error
    assert len(channel.notices()) == 1
