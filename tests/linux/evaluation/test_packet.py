"""What a packet remembers of its translation."""

from netdiag.linux.evaluation.packet import Packet


def test_what_was_dialled() -> None:
    answer = Packet(
        family=4,
        protocol="tcp",
        source="10.0.0.2",
        source_port=80,
        destination="10.0.0.1",
        destination_port=5,
        reply=True,
        original_destination="10.9.9.9",
        original_destination_port=8080,
    )
    dialled = answer.dialled
    assert (dialled.source, dialled.source_port) == ("10.0.0.1", 5)
    assert (dialled.destination, dialled.destination_port) == ("10.9.9.9", 8080)


def test_translated_is_what_has_another_origin() -> None:
    packet = Packet(
        family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2", original_destination="10.9.9.9"
    )
    assert (packet.destination_translated, packet.source_translated) == (True, False)
