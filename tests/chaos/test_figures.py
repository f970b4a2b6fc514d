"""The figures: what counts as lost, as shown twice, as called again, and from when to when a recovery lasts."""

from dataclasses import replace

import pytest

from schemas.deliveries import SendText
from schemas.generations import GenerationRequested
from schemas.identities import nonce
from schemas.inbox import Author, ChunkBatch, MessageReceived
from schemas.turns import Timings, TurnFinished
from services.runtime.log import LogRecord, NewRecord
from services.runtime.outputs import output
from services.runtime.partitions import partition_of
from services.sandbox.chaos.figures import calls_repeated, texts_shown, times
from services.sandbox.chaos.people import Asked
from services.sandbox.chaos.recovery import recoveries
from services.sandbox.chaos.slots import Window
from services.sandbox.chaos.stage import MODEL
from services.sandbox.chaos.strikes import Kill
from services.sandbox.checking.history import History, Owned, ProviderCall, ShownMessage, Written
from services.sandbox.checking.index import Index
from services.sandbox.discord.entities import Channel, ChannelKind
from services.sandbox.provider.replies import whole_reply

CHANNEL, TURN = "101", "m7"
QUESTION = "Ada: Tell me something long, number 1."
REPLY = whole_reply(MODEL, QUESTION)
PARTS = REPLY.split("\n\n")
AUTHOR = Author(id="11", name="Ada")
ASKED = Asked(TURN, Channel(int(CHANNEL), ChannelKind.TEXT, "chaos-0", 1), 0.5, QUESTION)


class Told:
    """A turn told by hand: its records, what is shown, its calls."""

    def __init__(self) -> None:
        self.history = History(partitions=1, at_rest=True)
        message = MessageReceived(
            channel_id=CHANNEL, guild_id="1", message_id="7", author=AUTHOR, content=QUESTION, source="mention"
        )
        self.write(1.0, output("inbox", message, channel=CHANNEL, event_id="message:7", turn=TURN))
        self.request(1.1, 1)

    def write(self, at: float, new: NewRecord) -> None:
        order = len(self.history.writes)
        record = LogRecord(
            new.topic, partition_of(new.key, 1), order, round(at * 1000), new.key, new.value, new.headers
        )
        self.history.writes.append(Written(at, order, record))

    def request(self, at: float, generation: int) -> None:
        request = GenerationRequested(
            channel_id=CHANNEL, guild_id="1", turn=TURN, generation=generation, message_id="7", author=AUTHOR,
            content=QUESTION, why="first" if generation == 1 else "lost", deadline_ms=1000,
        )  # fmt: skip
        event = f"generation:{TURN}:{generation}"
        self.write(
            at, output("generations", request, channel=CHANNEL, event_id=event, turn=TURN, generation=generation)
        )

    def show(self, at: float, sequence: int, text: str, *, times: int = 1) -> None:
        send = SendText(channel_id=CHANNEL, turn=TURN, sequence=sequence, text=text, start=0, end=len(text))
        event = f"send:{TURN}:{sequence}"
        self.write(at, output("deliveries", send, channel=CHANNEL, event_id=event, turn=TURN, sequence=sequence))
        for _ in range(times):
            number = str(1000 + len(self.history.shown))
            self.history.shown.append(ShownMessage(CHANNEL, number, text, nonce(TURN, sequence), at))

    def lost(self, at: float) -> None:
        batch = ChunkBatch(turn=TURN, generation=1, sequence=0, instance="nobody", chunks=(), end="lost")
        self.write(at, output("inbox", batch, channel=CHANNEL, event_id="batch", turn=TURN, generation=1, sequence=0))

    def call(self, at: float, generation: int, *, until: float | None = None) -> None:
        self.history.calls.append(ProviderCall(TURN, generation, "provider-0", at, until, b"", finished=False))

    def finish(self, at: float) -> None:
        finished = TurnFinished(
            channel_id=CHANNEL, guild_id="1", turn=TURN, status="completed", generations=1, messages=1, characters=1,
            timings=Timings(received_ms=1, finished_ms=2),
        )  # fmt: skip
        self.write(at, output("turns", finished, channel=CHANNEL, event_id=f"turn:{TURN}", turn=TURN))

    @property
    def index(self) -> Index:
        return Index(self.history)


@pytest.fixture
def told() -> Told:
    return Told()


def test_a_whole_turn_is_neither_lost_nor_shown_twice(told: Told) -> None:
    for sequence, part in enumerate(PARTS):
        told.show(2.0 + sequence, sequence, part)
    told.finish(50.0)
    shown = texts_shown(told.index, [ASKED], MODEL)
    assert (shown.ended, shown.lost, shown.duplicated, shown.wrong) == (1, 0, 0, ())


def test_a_turn_without_an_end_is_lost(told: Told) -> None:
    told.show(2.0, 0, PARTS[0])
    shown = texts_shown(told.index, [ASKED], MODEL)
    assert (shown.ended, shown.lost, len(shown.wrong)) == (0, 1, 1)


def test_a_message_that_never_came_into_the_log_is_a_lost_turn(told: Told) -> None:
    shown = texts_shown(told.index, [replace(ASKED, turn="m8")], MODEL)
    assert shown.lost == 1
    assert shown.wrong[0].what == "turn m8 never came into the log"


def test_a_completed_turn_that_lacks_its_last_text_is_lost(told: Told) -> None:
    for sequence, part in enumerate(PARTS[:-1]):
        told.show(2.0 + sequence, sequence, part)
    told.finish(50.0)
    assert texts_shown(told.index, [ASKED], MODEL).lost == 1


def test_a_message_that_is_shown_twice_counts_with_all_its_characters(told: Told) -> None:
    told.show(2.0, 0, PARTS[0], times=2)
    assert texts_shown(told.index, [ASKED], MODEL).duplicated == len(PARTS[0])


def test_a_sentence_that_comes_again_in_another_text_counts_too(told: Told) -> None:
    told.show(2.0, 0, "\n\n".join(PARTS[:3]))
    told.show(3.0, 1, PARTS[2])
    shown = texts_shown(told.index, [ASKED], MODEL)
    assert 0 < shown.duplicated <= len(PARTS[2])
    assert [violation.what for violation in shown.wrong if "shows" in violation.what]


def test_a_second_call_after_a_logged_loss_is_none_that_is_repeated(told: Told) -> None:
    told.call(1.2, 1, until=2.0)
    told.lost(3.0)
    told.request(3.1, 2)
    told.call(3.2, 2, until=4.0)
    assert calls_repeated(told.index) == 0


def test_a_second_call_without_a_logged_end_is_repeated(told: Told) -> None:
    told.call(1.2, 1, until=2.0)
    told.request(3.1, 2)
    told.call(3.2, 2, until=4.0)
    assert calls_repeated(told.index) == 1
    told.call(3.3, 2, until=4.0)
    assert calls_repeated(told.index) == 2


def test_a_recovery_lasts_until_the_silence_after_the_kill_ends(told: Told) -> None:
    told.call(1.2, 1, until=4.0)
    for at in (2.0, 3.0, 4.1, 9.0, 9.5):
        told.show(at, round(at * 10), f"at {at}")
    told.finish(10.0)
    kill = Kill("provider-0", "provider", 4.0)
    own = Window("provider-0", 4.0, 6.0)
    [recovery] = recoveries(told.index, [kill], [own])
    assert recovery.turns == (TURN,)
    assert recovery.seconds == pytest.approx(5.0)
    assert recovery.alone
    [disturbed] = recoveries(told.index, [kill], [own, Window("broker", 8.0, 8.5)])
    assert not disturbed.alone


def test_only_the_owner_of_its_partition_holds_a_turn(told: Told) -> None:
    told.show(2.0, 0, PARTS[0])
    told.finish(10.0)
    told.history.owners = [Owned(0.5, "raw", 0, "normalizer-0"), Owned(1.5, "raw", 0, "normalizer-1")]
    kills = [Kill("normalizer-0", "normalizer", 4.0), Kill("normalizer-1", "normalizer", 5.0)]
    [recovery] = recoveries(told.index, kills, [])
    assert (recovery.kill.slot, recovery.seconds) == ("normalizer-1", pytest.approx(5.0))


def test_median_and_most_of_times() -> None:
    assert times([]).p50 is None
    assert (times([3.0, 1.0, 2.0]).p50, times([3.0, 1.0]).max) == (2.0, 3.0)
