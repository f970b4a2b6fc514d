"""The fixture that every test of the log uses."""

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic


@pytest.mark.parametrize("turn", [1, 2])
async def test_tests_that_share_the_broker_do_not_meet(kafka, topic_prefix: str, turn: int) -> None:
    topic = f"{topic_prefix}events"
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 1, 1)])
    await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap) as producer:
        await producer.send_and_wait(topic, b"%d" % turn)
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=kafka.bootstrap,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=10,
    )
    async with consumer:
        assert (await consumer.getone()).value == b"%d" % turn
