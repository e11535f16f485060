"""What the first bytes of a stream are."""

import pytest

from netdiag.traffic.engine.identify import Start, opening, proxy_header
from netdiag.traffic.engine.message import Spoken
from tests.traffic.engine.wire import framed, metadata_request

SMPP_BIND = bytes.fromhex("0000002f000000090000000000000001") + b"SMPP3TEST\0secret08\0SUBMIT1\0\0\x01\x01\0"


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (framed(metadata_request(1)), Start.REQUEST),
        (SMPP_BIND, Start.OTHER),
        (b"GET / HTTP/1.1\r\n", Spoken.HTTP),
        (b"\x16\x03\x01\x02\x00\x01", Spoken.TLS),
        (b"ruok", Spoken.ZOOKEEPER),
        (bytes.fromhex("0000002d" + "00" * 20 + "00000000" + "00000010" + "00" * 17), Spoken.ZOOKEEPER),
        (b"\0\0", Start.MORE),
        (b"SSH-2.0-OpenSSH\r\n", Start.OTHER),
    ],
)
def test_opening(first: bytes, expected: Start | Spoken) -> None:
    assert opening(first, whole=len(first) > 2) is expected


def test_proxy_headers() -> None:
    assert proxy_header(b"PROXY TCP4 10.0.0.1 10.0.0.2 40000 9092\r\n\0\0") == 41
    assert proxy_header(b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12)) == 28
    assert proxy_header(framed(metadata_request(1))) is None
