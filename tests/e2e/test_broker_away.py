"""A broker that is killed in mid-turn and comes back some seconds later."""

from typing import Any

from services.sandbox.provider.replies import whole_reply
from services.sandbox.provider.script import Reply, Stream


async def test_a_turn_goes_on_when_its_broker_comes_back(open_crowd: Any, jvm_kafka_factory: Any) -> None:
    broker = await jvm_kafka_factory()
    async with open_crowd(broker.bootstrap) as crowd:
        talk = crowd.talk()
        turn = talk.say("Tell me something long.", play=Stream((Reply(),), pace_ms=10.0))
        await talk.shows(2)
        await broker.kill()
        asked_meanwhile = crowd.talk()
        meanwhile = asked_meanwhile.say("Say hello.")
        await broker.restart()
        finished = await talk.finished(turn)
        [call] = talk.calls(turn)
        assert finished.status == "completed"
        assert talk.words == whole_reply("sandbox-echo", call.body["messages"][-1]["content"]).split()
        assert (await asked_meanwhile.finished(meanwhile)).status == "completed"
        assert len(asked_meanwhile.calls(meanwhile)) == 1
        assert (await talk.finished(talk.say("And again."))).status == "completed"
        await crowd.at_rest()
        assert crowd.records["dead-letters"] == []
        assert crowd.leaks() == []
        assert crowd.contradictions() == []
        assert {child.starts for child in crowd.supervisor.children.values()} == {1}
