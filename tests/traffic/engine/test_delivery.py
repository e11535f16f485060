"""One direction in order: what came twice, swapped, late or never."""

from tests.traffic.engine.wire import Wire, framed, metadata_request


def test_swapped_segments() -> None:
    wire = Wire()
    wire.open()
    data = framed(metadata_request(1)) + framed(metadata_request(2))
    segments = [wire.packet(0, data[at : at + 10]) for at in range(0, len(data), 10)]
    for segment in (segments[0], *reversed(segments[1:])):
        wire.dialogue.push(0, segment)
    assert wire.finish() == [metadata_request(1), metadata_request(2)]
    figures = wire.dialogue.figures(0)
    assert figures.out_of_order + figures.retransmissions == len(segments) - 2


def test_sequence_numbers_wrap() -> None:
    wire = Wire(starts=(0xFFFFFFF0, 0xFFFFFFFF))
    wire.open()
    for number in range(4):
        wire.send(0, framed(metadata_request(number)))
    assert wire.finish() == [metadata_request(number) for number in range(4)]


def test_the_same_packet_on_another_interface_is_a_copy() -> None:
    wire = Wire()
    wire.open()
    segment = wire.send(0, framed(metadata_request(1)))
    wire.dialogue.push(0, segment._replace(interface="br0", number=99))
    again = segment._replace(time=segment.time + 300_000_000, identification=77)
    wire.dialogue.push(0, again)
    wire.dialogue.push(0, again._replace(interface="br0"))
    assert wire.finish() == [metadata_request(1)]
    figures = wire.dialogue.figures(0)
    assert (figures.duplicates, figures.retransmissions) == (2, 1)
