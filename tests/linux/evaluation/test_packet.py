"""What a packet remembers of its translation."""

from netdiag.linux.evaluation.packet import Packet


def test_translated_is_what_has_another_origin() -> None:
    packet = Packet(
        family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2", original_destination="10.9.9.9"
    )
    assert (packet.destination_translated, packet.source_translated) == (True, False)
