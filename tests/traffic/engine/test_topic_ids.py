"""Ids and names of topics, in the order in which a capture tells them."""

from netdiag.traffic.engine.topic_ids import TopicIds, id_text

ONE, OTHER = b"\x01" * 16, b"\xff" * 16


def test_an_id_is_written_as_kafka_does() -> None:
    assert id_text(OTHER) == "_____________________w"
    assert TopicIds().text(ONE) == "AQEBAQEBAQEBAQEBAQEBAQ"


def test_names_are_shown_once_they_were_told() -> None:
    ids = TopicIds()
    assert (ids.shown(ONE), ids.both(ONE)) == (id_text(ONE), (None, id_text(ONE)))
    ids.learn([(ONE, "orders"), (ONE, "another")])
    assert (ids.shown(ONE), ids.both(ONE), ids.name(ONE)) == ("orders", ("orders", id_text(ONE)), "orders")
    assert ids.names == {id_text(ONE): "orders", "AAAAAAAAAAAAAAAAAAAAAQ": "__cluster_metadata"}
    assert (ids.shown("plain"), ids.both("plain"), ids.both(None)) == ("plain", ("plain", None), (None, None))


def test_so_many_are_remembered_and_no_more() -> None:
    ids = TopicIds(most=1)
    ids.learn([(ONE, "orders"), (OTHER, "payments")])
    assert (ids.shown(ONE), ids.shown(OTHER)) == ("orders", id_text(OTHER))
    assert (ids.text(ONE), ids.text(OTHER)) == (id_text(ONE), id_text(OTHER))
