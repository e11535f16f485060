"""Values of rtnetlink: flags of links, addresses for other machines, details that survive JSON."""

import json
import os
import socket
import struct
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import pytest

from netdiag.io.kernel.netlink import SOCK_DIAG, Channel
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.rtnetlink import IFF_LOOPBACK, IFF_LOWER_UP, IFF_UP, InterfaceAddress, Link, outside_addresses
from netdiag.linux.ruleset import protocol_number, protocol_word
from netdiag.linux.sockets import (
    Listener,
    ListeningSocket,
    Peer,
    Protocol,
    as_listening,
    decode_listener,
    parse_listening,
    parse_peers,
    request_listeners,
    request_tcp_listeners,
)
from tests.linux.netlink.message_bytes import message, nla, u8
from tests.netlab.dumps import facts
from tests.netlab.record import recordings


def test_switches() -> None:
    assert Link(ifindex=1, ifname="lo", flags=IFF_UP | IFF_LOOPBACK).loopback
    dangling = Link(ifindex=2, ifname="eth0", flags=IFF_UP)
    assert (dangling.up, dangling.carrier, dangling.loopback) == (True, False, False)
    assert Link(ifindex=2, ifname="eth0", flags=IFF_LOWER_UP).carrier


def test_every_detail_of_a_link_survives_json() -> None:
    links = [link for one in recordings() for link in facts(one.dumps).links]
    assert sum(bool(link.details) for link in links) > 40
    for link in links:
        printed = json.loads(json.dumps(asdict(link)))
        assert (printed["details"], printed["port"]) == (link.details, link.port)


def link(ifindex: int, ifname: str, *, up: bool = True, loopback: bool = False) -> Link:
    return Link(ifindex=ifindex, ifname=ifname, kind="", flags=up * 0x1 | loopback * 0x8)


def address(ifindex: int, text: str) -> InterfaceAddress:
    return InterfaceAddress(ifindex=ifindex, address=text, prefix_length=24, scope=0)


def test_what_other_machines_know() -> None:
    links = [link(1, "lo", loopback=True), link(2, "eth0"), link(3, "down", up=False), link(4, "br-1")]
    addresses = [
        address(1, "127.0.0.1"),
        address(1, "10.9.9.9"),
        address(2, "fe80::1"),
        address(2, "2001:db8::5"),
        address(2, "192.168.8.133"),
        address(2, "192.168.8.133"),
        address(3, "10.0.0.3"),
        address(4, "172.18.0.1"),
    ]
    assert outside_addresses(links, addresses, bridges=frozenset({"br-1"})) == ("192.168.8.133", "2001:db8::5")


def test_every_detail_of_a_forwarding_entry_survives_json() -> None:
    entries = [entry for one in recordings() for entry in facts(one.dumps).fdb]
    assert {"port", "vni", "via"} <= {name for entry in entries for name in entry.details}
    for entry in entries:
        assert json.loads(json.dumps(asdict(entry)))["details"] == entry.details


def test_every_detail_of_a_route_survives_json() -> None:
    found = [one for recording in recordings() for one in facts(recording.dumps).routes]
    assert any(one.details.get("nhid") for one in found)
    assert any(one.details.get("encap") for one in found)
    for one in found:
        printed = json.loads(json.dumps(asdict(one)))
        assert (printed["metrics"], printed["details"]) == (one.metrics, one.details)
    for rule in (one for recording in recordings() for one in facts(recording.dumps).rules):
        assert json.loads(json.dumps(asdict(rule)))["details"] == rule.details


def test_names_and_numbers() -> None:
    assert [protocol_number(name) for name in ("udp", "132", "999", "odd", "icmpv6")] == [17, 132, None, None, 58]
    assert [protocol_word(number) for number in (6, 58, 254)] == ["tcp", "ipv6-icmp", "254"]


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
    ("address", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("::ffff:127.0.0.1", True), ("::", False), ("10.0.0.1", False)],
)
def test_who_can_reach_it(address: str, loopback: bool) -> None:
    assert ListeningSocket(port=1, address=address).on_loopback is loopback


@pytest.mark.parametrize("table", ["", "header\n", "header\nnonsense\n", "h\n 0: zz:1 0:0 0A 0 0 0 0 0 0 1\n"])
def test_what_is_no_table(table: str) -> None:
    assert parse_listening(table) == ()


def test_whom_a_namespace_has_connected_to() -> None:
    table = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 00000000:2384 00000000:0000 0A 0:0 00:0 0 0 0 1 1 0
       1: 030012AC:2384 010012AC:C350 01 0:0 00:0 0 0 0 2 1 0
       2: 030012AC:D431 020012AC:71A4 06 0:0 03:0 0 0 0 0 3 0
       3: 030012AC:D432 020012AC:71A4 01 0:0 00:0 0 0 0 4 1 0
       4: 030012AC:D433 020012AC:1538 02 0:0 00:0 0 0 0 5 1 0
       5: nonsense 01
    """
    six = """  sl  local_address                         remote_address                        st
       0: 0000000000000000FFFF0000030012AC:D434 0000000000000000FFFF0000020012AC:2385 08 0:0 00:0 0 0 0 6 1 0
    """
    assert parse_peers(table, six) == (Peer(address="172.18.0.2", port=9093), Peer(address="172.18.0.2", port=29092))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        other = socket.create_connection(("127.0.0.1", port))
        tables = Path("/proc/self/net/tcp").read_text(), Path("/proc/self/net/tcp6").read_text()
        with other:
            assert Peer(address="127.0.0.1", port=port) in parse_peers(*tables)
            assert Peer(address="127.0.0.1", port=other.getsockname()[1]) not in parse_peers(*tables)


def test_the_kernels_own_table() -> None:
    path = Path("/proc/self/net/tcp")
    with socket.create_server(("127.0.0.1", 0)) as server:
        if path.exists():
            expected = ("127.0.0.1", server.getsockname()[1])
            assert expected in {(s.address, s.port) for s in parse_listening(path.read_text())}


def test_inet_diag_lists_what_the_kernels_own_tables_do() -> None:
    path = Path("/proc/self/net")
    addresses = [("127.0.0.1", socket.AF_INET), ("0.0.0.0", socket.AF_INET), ("::", socket.AF_INET6)]
    with ExitStack() as open_ones, Channel(SOCK_DIAG) as channel:
        for address, family in (*addresses, ("::ffff:127.0.0.1", socket.AF_INET6)):
            server = open_ones.enter_context(socket.socket(family, socket.SOCK_STREAM))
            server.bind((address, 0))
            server.listen()
            port = server.getsockname()[1]
            told = [decode_listener(one, Protocol.TCP) for one in channel.payloads(request_tcp_listeners())]
            found = [as_listening(one) for one in told if one is not None and one.port == port]
            tables = [(path / name).read_text() for name in ("tcp", "tcp6")]
            assert found == [one for table in tables for one in parse_listening(table) if one.port == port]
            assert len(found) == 1


def answer(
    family: int, state: int, address: str, port: int, *, waiting: int = 0, most: int = 0, device: int = 0
) -> bytes:
    raw = socket.inet_pton(socket.AF_INET if family == 2 else socket.AF_INET6, address).ljust(16, b"\0")
    ports = struct.pack(">HH", port, 0)
    return (
        struct.pack("=BBBB", family, state, 0, 0)
        + ports
        + raw
        + bytes(16)
        + struct.pack("=IIIIIIII", device, 1, 2, 0, waiting, most, 1000, 4711)
    )


def test_the_requests() -> None:
    tcp = struct.pack("=BBBBI", 2, 6, 0, 0, 1 << 10) + bytes(48)
    udp = struct.pack("=BBBBI", 10, 17, 0, 0, 1 << 7) + bytes(48)
    assert request_listeners(Protocol.TCP, 4) == message(20, tcp, flags=0x301, sequence=0)
    assert request_listeners(Protocol.UDP, 6) == message(20, udp, flags=0x301, sequence=0)


def test_tcp() -> None:
    data = answer(2, 10, "127.0.0.1", 9092, waiting=3, most=128, device=5)
    assert decode_listener(memoryview(data), Protocol.TCP) == Listener(
        protocol=Protocol.TCP,
        family=4,
        address="127.0.0.1",
        port=9092,
        inode=4711,
        uid=1000,
        ifindex=5,
        queue=3,
        backlog=128,
    )


@pytest.mark.parametrize("v6only", [True, False])
def test_udp_over_ipv6(v6only: bool) -> None:
    data = answer(10, 7, "::", 53, waiting=212992, most=9) + nla(11, u8(v6only))
    assert decode_listener(data, Protocol.UDP) == Listener(
        protocol=Protocol.UDP, family=6, address="::", port=53, inode=4711, uid=1000, v6only=v6only
    )


def test_other_states_and_families_are_none_of_ours() -> None:
    assert decode_listener(answer(2, 1, "127.0.0.1", 9092), Protocol.TCP) is None
    assert decode_listener(answer(2, 10, "127.0.0.1", 9092), Protocol.UDP) is None
    assert decode_listener(b"\x01" + answer(2, 10, "0.0.0.0", 1)[1:], Protocol.TCP) is None
    assert decode_listener(answer(2, 255, "0.0.0.0", 1), Protocol.TCP) is None


@pytest.mark.parametrize("data", [b"", answer(2, 10, "0.0.0.0", 1)[:-1], answer(10, 10, "::", 1) + nla(11, b"")])
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_listener(data, Protocol.TCP)


def test_the_older_question_gives_both_families_at_once() -> None:
    """What listens here, asked in both ways of the kernel itself."""
    with socket.socket() as four, socket.socket(socket.AF_INET6) as six:
        four.bind(("127.0.0.1", 0))
        six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, True)
        six.bind(("::1", 0))
        for one in (four, six):
            one.listen(3)
        inodes = {os.fstat(one.fileno()).st_ino for one in (four, six)}
        with Channel(SOCK_DIAG) as channel:
            once = channel.payloads(request_tcp_listeners())
            twice = [p for family in (4, 6) for p in channel.payloads(request_listeners(Protocol.TCP, family))]
    answers = [
        {told.inode: told for payload in payloads if (told := decode_listener(payload, Protocol.TCP)) is not None}
        for payloads in (once, twice)
    ]
    assert inodes <= answers[0].keys()
    assert [answers[0][inode] for inode in sorted(inodes)] == [answers[1][inode] for inode in sorted(inodes)]
    assert {answers[0][inode].v6only for inode in inodes} == {False, True}
