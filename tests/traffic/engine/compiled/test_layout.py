"""The records of the kernels stand for the values of the engine in plain Python, field for field."""

from netdiag.traffic.engine.bodies import facts
from netdiag.traffic.engine.bodies.facts import BatchFacts, PartitionFacts, RequestFacts, ResponseFacts
from netdiag.traffic.engine.compiled import layout
from netdiag.traffic.engine.pairing import ANSWERED, NO_REQUEST, NO_RESPONSE, UNANSWERED


def test_a_partition_and_a_batch_have_every_field() -> None:
    assert set(PartitionFacts._fields) | {"present"} == set(layout.PARTITION.names or ())
    assert set(BatchFacts._fields) | {"present"} == set(layout.BATCH.names or ())


def test_scalars_are_attributes_of_facts_and_have_a_bit_each() -> None:
    assert len(layout.SCALARS) <= 32
    for name in layout.SCALARS:
        assert hasattr(RequestFacts, name) or hasattr(ResponseFacts, name), name
        assert name in (layout.FACTS.names or ()), name
    assert set(layout.SCALARS) > layout.TEXTS


def test_words_stand_in_the_order_of_their_numbers() -> None:
    assert layout.DECODED == (facts.FULL, facts.TRUNCATED, facts.HEADER, facts.FAILED)
    assert layout.OUTCOMES == (ANSWERED, NO_RESPONSE, UNANSWERED, NO_REQUEST)


def test_a_topic_id_is_no_name_and_the_way_back_is_the_same() -> None:
    for number in (0, 1, 77):
        assert layout.topic_id(number) < layout.NOTHING
        assert layout.topic_id(layout.topic_id(number)) == number
