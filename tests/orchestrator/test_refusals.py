"""Messages that start no turn: a result for each, and one notice for as long as the queue stays full."""


def fill(channel, first: int, count: int) -> None:
    for number in range(first, first + count):
        channel.message(number, author=str(number), queue_limit=1)


def refused(channel) -> list[str]:
    return [line.split()[0] for line in channel.finished() if line.endswith("refused")]


def test_a_burst_of_messages_gets_one_notice_that_the_queue_is_full(channel) -> None:
    fill(channel, 1, 100)
    assert len(refused(channel)) == 98
    [notice] = [record for record in channel.sent() if "Too many messages" in record.text]
    assert notice.reply_to == "3"
    channel.receipt("m3", 0)
    fill(channel, 101, 5)
    assert len(channel.notices()) == 1


def test_once_the_queue_had_room_the_next_refusal_is_said_again(channel) -> None:
    fill(channel, 1, 5)
    channel.reply("One.")
    fill(channel, 6, 5)
    assert [record.turn for record in channel.sent() if record.start is None] == ["m3", "m7"]


def test_a_follow_up_that_takes_the_floor_is_no_room_in_the_queue(channel) -> None:
    fill(channel, 1, 3)
    channel.message(4, author="1", follow_up="interrupt")
    fill(channel, 5, 3)
    assert len(channel.notices()) == 1


def test_a_notice_that_found_no_slot_is_still_due(channel) -> None:
    channel.message(1)
    channel.text("One.\n\n" * 8)
    fill(channel, 2, 2)
    assert channel.notices() == []
    channel.refuse_first("50035")
    fill(channel, 4, 3)
    assert [record.turn for record in channel.sent() if record.start is None] == ["m4"]


def test_a_cooldowns_notice_is_not_held_back(channel) -> None:
    fill(channel, 1, 4)
    channel.message(9, author="9", refused="Wait a little.")
    assert channel.notices()[-1].endswith("Wait a little.")
