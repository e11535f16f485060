"""The format of a capture is told by its first bytes."""

import pytest

from netdiag.errors import InputError
from tests.traffic.engine.capture_files import START, enhanced, interface, pcap, read, section


def test_both_formats_are_told_apart() -> None:
    for data in (pcap([(START, b"a")]), section() + interface() + enhanced(START // 1000, b"a")):
        packets, _ = read(data, piece=3)
        assert [(packet.time, bytes(packet.data)) for packet in packets] == [(START, b"a")]


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1", b"\0" * 100, b"\x7fELF", b"snoop\0\0\0", b"ab", b""])
def test_what_is_no_capture_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"is empty|is not a packet capture"):
        read(data)
