"""The responses dialect tells what later events say once more: wholes that mend pieces, wrong indexes, none at all."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from services.normalizer.canonical import CanonicalStream
from services.normalizer.endings import EndOfFile

Payload = dict[str, Any]


def event(kind: str, index: int | None = None, **fields: Any) -> Payload:
    place = {} if index is None else {"output_index": index}
    return {"type": f"response.{kind}", **place, **fields}


def call(call_id: str = "c1", arguments: Any = "", name: str = "f", item_id: str = "fc") -> Payload:
    return {"type": "function_call", "id": item_id, "call_id": call_id, "name": name, "arguments": arguments}


def message(*texts: str, item_id: str = "msg") -> Payload:
    return {"type": "message", "id": item_id, "content": [{"type": "output_text", "text": text} for text in texts]}


def added(index: int | None, item: Payload) -> Payload:
    return event("output_item.added", index, item=item)


def done(index: int | None, item: Payload) -> Payload:
    return event("output_item.done", index, item=item)


def piece(delta: str, index: int | None = 0, **fields: Any) -> Payload:
    return event("function_call_arguments.delta", index, delta=delta, **fields)


def text(delta: str, index: int | None = 0, **fields: Any) -> Payload:
    return event("output_text.delta", index, delta=delta, **fields)


def said(whole: str, index: int | None = 0, **fields: Any) -> Payload:
    return event("output_text.done", index, text=whole, **fields)


def completed(*output: Payload) -> Payload:
    return event("completed", response={"status": "completed", "output": list(output)})


@pytest.fixture
def play_responses(play: Callable[..., Any], sse: Callable[..., bytes]) -> Callable[..., Any]:
    return lambda *payloads: play("openai-responses", [sse(*payloads)])


@pytest.mark.parametrize(
    "told",
    [
        [added(0, call()), completed(call(arguments='{"x":1}'))],
        [added(0, call(name="")), done(0, call(name="")), completed(call(arguments='{"x":1}'))],
        [added(0, call()), piece('{"x'), completed(call(arguments='{"x":1}'))],
        [added(0, call()), piece('{"x":1}'), completed(call())],
        [added(0, call()), piece("qX9=="), event("function_call_arguments.done", 0, arguments='{"x":1}'), completed()],
        [added(0, call()), piece("qX9=="), done(0, call(arguments='{"x":1}')), completed()],
        [added(0, call()), piece("qX9=="), completed(call(arguments='{"x":1}'))],
        [piece('{"x":'), added(0, call()), piece("1}"), done(0, call(arguments='{"x":1}')), completed()],
        [added(0, call()), piece('{"x":1}'), done(0, call(arguments=" ")), completed(call(arguments=""))],
    ],
)
def test_the_whole_arguments_of_a_later_event_replace_the_pieces(
    told: list[Payload], play_responses: Callable[..., Any]
) -> None:
    reply = play_responses(*told)
    assert (reply.arguments, reply.error) == ([("f", {"x": 1})], None)


def test_the_canonical_event_of_a_replacement_says_so(sse: Callable[..., bytes]) -> None:
    stream = CanonicalStream("openai-responses", "m")
    raw = sse(added(0, call()), piece('{"a":"\ud83d'), done(0, call(arguments='{"x":"é"}')), completed())
    events = [one for one in stream.feed(raw) + stream.flush(EndOfFile()) if one["type"] == "toolcall_delta"]
    assert [(one["raw_json_delta"], one.get("replaces")) for one in events] == [
        ("", None),
        ('{"a":"', None),
        ('{"x":"é"}', True),
    ]
    assert events[-1]["partial_args"] == {"x": "é"}


@pytest.mark.parametrize("index", [0, 1, None])
def test_a_call_that_ends_at_another_index_is_one_call(index: int | None, play_responses: Callable[..., Any]) -> None:
    whole = call(arguments='{"x":1}', item_id="other")
    reply = play_responses(added(0, call()), piece('{"x":1}'), done(index, whole), completed(whole))
    assert reply.arguments == [("f", {"x": 1})]
    twice = play_responses(done(0, whole), done(1, whole), completed(whole))
    assert twice.arguments == [("f", {"x": 1})]


def test_calls_of_one_id_are_several_where_each_opens_or_says_something_else(
    play_responses: Callable[..., Any],
) -> None:
    one, two = call("f", '{"x":1}', item_id="a"), call("f", '{"x":2}', item_id="b")
    both = [("f", {"x": 1}), ("f", {"x": 2})]
    assert (
        play_responses(added(0, one), added(1, two), done(0, one), done(1, two), completed(one, two)).arguments == both
    )
    assert play_responses(done(0, one), done(1, two), completed(one, two)).arguments == both


@pytest.mark.parametrize("ids", [("fc1", "fc2"), ("", "")])
def test_pieces_at_the_index_of_a_call_that_is_whole_are_not_of_that_call(
    ids: tuple[str, str], play_responses: Callable[..., Any]
) -> None:
    one, two = call("c1", '{"x":1}', "f", ids[0]), call("c2", '{"y":2}', "g", ids[1])
    reply = play_responses(
        added(0, {**one, "arguments": ""}),
        added(1, {**two, "arguments": ""}),
        piece('{"x":1}', item_id=ids[0]),
        event("function_call_arguments.done", 0, item_id=ids[0], arguments='{"x":1}'),
        piece('{"y":2}', item_id=ids[1]),
        event("function_call_arguments.done", 0, item_id=ids[1], arguments='{"y":2}'),
        done(1, two),
        completed(),
    )
    assert reply.arguments == [("f", {"x": 1}), ("g", {"y": 2})]


def test_calls_without_an_index_are_told_apart_by_the_ids_of_their_items(play_responses: Callable[..., Any]) -> None:
    one, two = call("c1", '{"x":1}', "f", "fc1"), call("c2", '{"y":2}', "g", "fc2")
    opened = [added(None, {**one, "arguments": ""}), added(None, {**two, "arguments": ""})]
    pieces = [
        piece('{"x":', None, item_id="fc1"),
        piece('{"y":', None, item_id="fc2"),
        piece("1}", None, item_id="fc1"),
        piece("2}", None, item_id="fc2"),
    ]
    both = [("f", {"x": 1}), ("g", {"y": 2})]
    assert play_responses(*opened, *pieces, done(None, one), done(None, two), completed(one, two)).arguments == both
    assert play_responses(*opened, *pieces, completed()).arguments == both
    rotated = [done(None, {**item, "id": "x"}) for item in (one, two)]
    assert play_responses(*opened, *rotated, completed()).arguments == both


def test_the_final_input_of_a_custom_tool_counts_only_where_there_is_some(play_responses: Callable[..., Any]) -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": ""}
    whole = {**item, "input": "SELECT 1"}
    delta = event("custom_tool_call_input.delta", 0, delta="SELECT 1")
    wanted = [("sql", {"input": "SELECT 1"})]
    assert play_responses(added(0, item), delta, done(0, item), completed(item)).arguments == wanted
    assert play_responses(added(0, item), done(0, item), completed(whole)).arguments == wanted
    assert play_responses(added(0, item), done(1, whole), completed(item)).arguments == wanted


@pytest.mark.parametrize(
    "told",
    [
        [text("Hi", 0), said("Hi", 1)],
        [text("Hi", 0), said("Hi", 1), done(1, message("Hi"))],
        [text("H", 0), said("Hi", 1), done(2, message("Hi"))],
        [text("Hi", 0), said("Hi", 0), done(1, message("Hi"))],
        [text("H", 0, item_id="a"), text("i", 0, item_id="b"), done(1, message("Hi", item_id="c"))],
        [added(1, message()), text("Hi", 0, item_id="msg"), said("Hi", 1, item_id="msg"), done(1, message("Hi"))],
        [text("Hi", None, item_id="a"), said("Hi", None, item_id="b"), done(None, message("Hi", item_id="c"))],
    ],
)
def test_a_text_that_ends_at_another_index_is_told_once(
    told: list[Payload], play_responses: Callable[..., Any]
) -> None:
    assert play_responses(*told, completed(message("Hi"))).text == "Hi"


def test_a_text_that_ends_trimmed_at_another_index_is_known_by_its_item(play_responses: Callable[..., Any]) -> None:
    reply = play_responses(text("Hi \n", 0, item_id="msg"), done(1, message("Hi")), completed(message("Hi")))
    assert reply.text == "Hi \n"


def test_reasoning_that_ends_at_another_index_is_told_once(play_responses: Callable[..., Any]) -> None:
    item = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]}
    reply = play_responses(event("reasoning_summary_text.delta", 0, delta="hm"), done(1, item), completed(item))
    assert reply.thoughts == [("summary", "hm")]


@pytest.mark.parametrize(
    "told",
    [
        [text("Hi", 0), text("Hi", 1)],
        [text("Hi", 0), done(0, message("Hi")), text("Hi", 1), done(1, message("Hi"))],
        [text("Hi", 0), done(1, message("Hi")), text("Hi", 0), done(3, message("Hi"))],
        [text("Hi", 0), done(0, message("Hi")), text("H", 0), done(0, message("Hi"))],
        [done(0, message("Hi")), done(1, message("Hi", item_id="m2"))],
        [said("Hi", 0), done(0, message("Hi")), said("Hi", 1), done(1, message("Hi"))],
        [done(0, message("Hi", "Hi"))],
        [text("Hi", 0), done(0, message("Hi"))],
    ],
)
def test_two_equal_messages_are_both_told(told: list[Payload], play_responses: Callable[..., Any]) -> None:
    assert play_responses(*told, completed(message("Hi"), message("Hi", item_id="m2"))).text == "HiHi"


def test_a_message_that_the_final_response_has_twice_is_told_once(play_responses: Callable[..., Any]) -> None:
    hello = message("Hello")
    assert play_responses(text("Hello"), said("Hello"), done(0, hello), completed(hello, hello)).text == "Hello"


@pytest.mark.parametrize(
    "later",
    [
        [done(0, call(arguments="{}"))],
        [done(0, call(arguments="null"))],
        [done(0, call(arguments='{"x":'))],
        [event("function_call_arguments.done", 0, arguments="{}")],
        [event("function_call_arguments.done", 0, arguments='{"x":1}'), done(0, call(arguments="{}"))],
        [done(0, call(arguments='{"x":1}')), completed(call(arguments='{"x":2}'))],
    ],
)
def test_arguments_that_are_whole_are_not_replaced_by_less(
    later: list[Payload], play_responses: Callable[..., Any]
) -> None:
    reply = play_responses(added(0, call()), piece('{"x":1}'), *later, completed(call(arguments="{}")))
    assert reply.arguments == [("f", {"x": 1})]


def test_a_call_that_was_cut_does_not_become_whole_by_what_an_incomplete_response_says(
    play_responses: Callable[..., Any],
) -> None:
    cut = {
        "type": "response.incomplete",
        "response": {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [call(arguments='{"x":1}')],
        },
    }
    (one,) = play_responses(added(0, call()), piece('{"x":1,"y":"z'), cut).calls
    assert one.arguments_truncated


def test_two_calls_with_one_id_at_two_places_are_two_though_nothing_opened_them(
    play_responses: Callable[..., Any],
) -> None:
    first, second = (done(place, call("f", '{"x":1}', item_id=f"fc{place}")) for place in (0, 1))
    assert len(play_responses(first, second, completed()).calls) == 2


def test_a_delta_that_comes_late_is_of_the_text_that_it_names(play_responses: Callable[..., Any]) -> None:
    at = {"item_id": "msg"}
    late = [text("Hel", **at), text("lo", **at), said("Hello", **at), text("Hel", **at), done(0, message("Hello"))]
    assert play_responses(added(0, message()), *late, completed(message("Hello"))).text == "HelloHel"


def test_a_text_that_begins_like_another_is_not_taken_for_it(play_responses: Callable[..., Any]) -> None:
    first, second = message("I see", item_id="a"), message("I agree", item_id="b")
    told = [
        *(added(0, message(item_id="a")), added(1, message(item_id="b")), text("I", 0, item_id="a")),
        *(done(1, second), text(" see", 0, item_id="a"), done(0, first)),
    ]
    assert play_responses(*told, completed(first, second)).text == "II agree see"


@pytest.mark.parametrize(
    ("told", "output", "wanted"),
    [
        ([text("Hel")], [message("Hello")], "Hello"),
        ([text("A"), done(0, message("A"))], [message("A"), message("B")], "AB"),
        ([text("A")], [message("A", "B"), message("C")], "ABC"),
        ([text("A"), text("B", 1)], [message("AB")], "AB"),
        ([text("Hello ")], [message("Hello"), message("B")], "Hello "),
        ([text("lo")], [message("Hello")], "lo"),
        ([text("Hello")], [], "Hello"),
    ],
)
def test_the_rest_of_the_text_is_taken_from_the_final_response_where_it_begins_with_what_was_told(
    told: list[Payload], output: list[Payload], wanted: str, play_responses: Callable[..., Any]
) -> None:
    assert play_responses(*told, completed(*output)).text == wanted


def test_messages_without_an_index_are_told_apart_by_the_ids_of_their_items(
    play_responses: Callable[..., Any],
) -> None:
    reply = play_responses(
        *(added(None, message(item_id=name)) for name in "ab"),
        text("A", None, item_id="a"),
        text("B", None, item_id="b"),
        text("a", None, item_id="a"),
        *(said(each, None, item_id=name) for each, name in (("Aa", "a"), ("Bb", "b"))),
        *(done(None, message(each, item_id=name)) for each, name in (("Aa", "a"), ("Bb", "b"))),
        completed(message("Aa"), message("Bb")),
    )
    assert reply.text == "ABab"


@pytest.mark.parametrize("whole", [said, lambda part, index: done(index, message(part))])
def test_texts_that_end_at_ever_new_indexes_cost_what_their_length_costs(
    whole: Callable[[str, int], Payload], sse: Callable[..., bytes]
) -> None:
    def cost(size: int) -> float:
        raw = sse(text("x" * 2_000 * size), *(one for at in range(1, size) for one in (text("y"), whole("xxx", at))))
        stream = CanonicalStream("openai-responses", "m")
        began = time.process_time()
        stream.feed(raw)
        return time.process_time() - began

    assert min(cost(4_000) for _ in range(3)) < 7 * min(cost(1_000) for _ in range(3))
