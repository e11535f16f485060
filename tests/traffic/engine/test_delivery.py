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


def test_probes_are_no_payload() -> None:
    wire = Wire()
    wire.open()
    wire.send(0, framed(metadata_request(1)))
    for payload in (b"", b"\0"):
        wire.dialogue.push(0, wire.packet(0, payload, sequence=wire.sent[0] - 1))
    wire.dialogue.push(1, wire.packet(1, window=0))
    wire.dialogue.push(1, wire.packet(1, window=0))
    wire.dialogue.push(1, wire.packet(1, window=900))
    wire.send(0, framed(metadata_request(2)))
    assert wire.finish() == [metadata_request(1), metadata_request(2)]
    assert wire.dialogue.figures(0).keep_alives == 2
    assert wire.dialogue.figures(1).zero_windows == 1


def test_a_hole_without_an_acknowledgement_is_waited_for() -> None:
    wire = Wire()
    wire.open()
    before = wire.sent[0]
    late = wire.lose(0, framed(metadata_request(1)))
    for number in range(2, 60):
        wire.dialogue.push(0, wire.packet(0, framed(metadata_request(number))))
        wire.dialogue.push(1, wire.packet(1, acknowledgement=before))
    assert wire.ear.messages == []
    wire.dialogue.push(0, late)
    assert wire.finish() == [metadata_request(number) for number in range(1, 60)]


def test_packets_far_away_are_not_of_this_stream() -> None:
    wire = Wire()
    wire.open()
    wire.send(0, framed(metadata_request(1)))
    wire.dialogue.push(0, wire.packet(0, b"stray", sequence=wire.sent[0] + 0x50000000))
    wire.send(0, framed(metadata_request(2)))
    assert wire.finish() == [metadata_request(1), metadata_request(2)]
    assert [(loss.kind, loss.bytes) for _, loss in wire.dialogue.losses()] == [("limit", 5)]
