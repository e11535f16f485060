"""Socket tables, recorded and from the kernel."""

import socket
from pathlib import Path

import pytest

from netdiag.linux.socket import ListeningSocket, parse_listening

TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0B00007F:8A25 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31415 1 0 100 0 0 10 0
   1: 050012AC:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 27182 1 0 100 0 0 10 0
   2: 0100007F:2384 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 16180 1 0 100 0 0 10 0
"""
TCP6 = """  sl  local_address                         remote_address                        st tx_queue rx_queue
   0: 00000000000000000000000000000000:71A4 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 5 1 0 100 0 0 10 0
   1: 0000000000000000FFFF000000000000:2383 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 6 1 0 100 0 0 10 0
"""


def test_recorded_tables() -> None:
    assert parse_listening(TCP) == (
        ListeningSocket(port=35365, address="127.0.0.11", inode=31415),
        ListeningSocket(port=9092, address="172.18.0.5", inode=27182),
    )
    found = parse_listening(TCP6)
    assert [(s.port, s.address, s.on_all_addresses) for s in found] == [(29092, "::", True), (9091, "0.0.0.0", True)]


@pytest.mark.parametrize(
    ("address", "loopback"), [("127.0.0.1", True), ("::1", True), ("::", False), ("10.0.0.1", False)]
)
def test_who_can_reach_it(address: str, loopback: bool) -> None:
    assert ListeningSocket(port=1, address=address).on_loopback is loopback


@pytest.mark.parametrize("table", ["", "header\n", "header\nnonsense\n", "h\n 0: zz:1 0:0 0A 0 0 0 0 0 0 1\n"])
def test_what_is_no_table(table: str) -> None:
    assert parse_listening(table) == ()


def test_the_kernels_own_table() -> None:
    path = Path("/proc/self/net/tcp")
    with socket.create_server(("127.0.0.1", 0)) as server:
        if path.exists():
            expected = ("127.0.0.1", server.getsockname()[1])
            assert expected in {(s.address, s.port) for s in parse_listening(path.read_text())}
