"""What was read comes back as the values of the plain engine, header and message included."""

import random

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled import facts
from tests.traffic.engine.compiled.messages import CORRELATION, REQUEST, RESPONSE, Both, random_message


def test_a_request_and_its_response() -> None:
    both = Both()
    for key, direction in ((0, REQUEST), (3, REQUEST), (1, RESPONSE), (3, RESPONSE)):
        is_request = direction is REQUEST
        message = random_message(key, 9, direction, random.Random(key))
        number = both.by_machine(message, [message[8 if is_request else 4 :]], key, 9, is_request)
        both.store.facts[number]["end_time"] = 8
        asked = facts.asked(both.store, number, both.bodies) if is_request else None
        said = asked or facts.answer(both.store, number, both.bodies)
        assert said.message.size == len(message)
        assert (said.message.end_time, said.message.head, said.message.walker) == (8, b"", None)
        assert asked is None or asked.header[:3] == (key, 9, CORRELATION)
        expected = both.by_twin(message, [message[8 if is_request else 4 :]], key, 9, is_request)
        assert said.facts is not None
        assert list(said.facts.topics) == list(expected.facts.topics)
        assert list(said.facts.partitions) == list(expected.facts.partitions)


def test_topics_by_name_and_by_id() -> None:
    both = Both()
    assert facts.topic_of(both.store, -1) is None
    message = random_message(1, 13, RESPONSE, random.Random(3))
    number = both.by_machine(message, [message[4:]], 1, 13, False)
    told = facts.response_facts(both.store, number, both.bodies).topics
    assert told
    assert all(isinstance(topic, bytes) and len(topic) == 16 for topic in told)
    assert wire.api_name(1) == "Fetch"
