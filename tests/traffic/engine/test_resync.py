"""Finding boundaries again."""

from tests.traffic.engine.wire import Wire, framed, metadata_request, metadata_response


def test_behind_a_lost_packet() -> None:
    wire = Wire()
    wire.open()
    for number in range(1, 6):
        asked = framed(metadata_request(number, topics=5))
        answered = framed(metadata_response(number, brokers=5))
        (wire.lose if number == 3 else wire.send)(0, asked)
        (wire.lose if number == 4 else wire.send)(1, answered)
    found = wire.finish()
    assert [head for head in found if metadata_request(3, topics=5) == head] == []
    expected = [metadata_request(n, topics=5) for n in (1, 2, 4, 5)] + [metadata_response(n, 5) for n in (1, 2, 5)]
    assert set(expected) <= set(found)
    assert len(found) <= 8
