"""The ring of one place as a source: names of links, the end of its links."""

import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from netdiag.errors import InputError, MissingExtra, MissingRight
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.packets.filters import Filter, of_expression, of_ports
from netdiag.io.packets.pcapng_writer import LINKTYPE_ETHERNET, PACKET_TIME, PACKET_TIME_AT
from netdiag.io.packets.places import Place, named
from netdiag.io.packets.source import Ring, RingSource
from netdiag.linux.bpf import NO_PACKETS, all_packets, for_all_links
from netdiag.linux.netns import NamedNamespace, OwnNamespace
from tests.io.namespaces import FAR, NEAR, Pair, ip, needs_root
from tests.io.packets.traffic import SENDER, python
from tests.tools import tool

ALL = for_all_links(all_packets(), all_packets(), snaplen=100)


@pytest.fixture
def ring(pair: Pair) -> Iterator[Ring]:
    with open_namespace(NamedNamespace(name=pair.near)) as namespace:
        made = Ring(namespace, ALL, megabytes=4)
    try:
        yield made
    finally:
        made.close()


def all_of(ring: Ring) -> list[bytes]:
    time.sleep(0.3)
    return ring.read(lambda index: (index, LINKTYPE_ETHERNET))


def test_packets_come_in_order_with_their_times(pair: Pair, ring: Ring) -> None:
    before = time.time_ns()
    python(pair.near, SENDER, FAR, 9092, 50)
    # What the veth says of its own later would be counted, but not read.
    ring.stop()
    ring.count()
    blocks = all_of(ring)
    deadline = time.monotonic() + 10
    while len(blocks) < ring.received and time.monotonic() < deadline:
        blocks += all_of(ring)
    times = [(high << 32) | low for high, low in (PACKET_TIME.unpack_from(b, PACKET_TIME_AT) for b in blocks)]
    assert times == sorted(times)
    # A fresh veth says something of its own first.
    assert sum(before < moment for moment in times) >= 50
    assert times[-1] < time.time_ns()
    assert (ring.received, ring.dropped) == (len(blocks), 0)


def test_nothing_comes_once_it_is_stopped(pair: Pair, ring: Ring) -> None:
    python(pair.near, SENDER, FAR, 9092, 5)
    ring.stop()
    python(pair.near, SENDER, FAR, 9092, 5)
    sent = [block for block in all_of(ring) if block[28 + 12 : 28 + 14] == b"\x08\x00" and block[28 + 23] == 17]
    assert len(sent) == 5


def test_the_filter_is_there_before_the_first_packet(pair: Pair) -> None:
    """A flood of what is not wanted goes on while the socket is made, many times."""
    nothing = for_all_links(NO_PACKETS, NO_PACKETS, snaplen=100)
    flood = os.fork()
    if flood == 0:
        try:
            with open_namespace(NamedNamespace(name=pair.near)) as namespace:
                out = namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
            end = time.monotonic() + 20
            while time.monotonic() < end:
                with suppress(OSError):
                    out.sendto(b"x", (NEAR, 9))
        finally:
            os._exit(0)
    try:
        with open_namespace(NamedNamespace(name=pair.near)) as namespace:
            for _ in range(20):
                made = Ring(namespace, nothing, megabytes=4)
                time.sleep(0.12)
                assert made.read(lambda index: (0, LINKTYPE_ETHERNET)) == []
                made.close()
    finally:
        os.kill(flood, 9)
        os.waitpid(flood, 0)


def test_links_by_index(ring: Ring) -> None:
    assert ring.name_of(1) == "lo"
    assert ring.name_of(9999) is None
    assert ring.is_up("lo") is True
    assert ring.is_up("nope") is None
    assert ring.linktype_of("lo") == LINKTYPE_ETHERNET


def test_without_rights() -> None:
    needs_root()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            with open_namespace(OwnNamespace()) as namespace:
                Ring(namespace, ALL, megabytes=4)
        except MissingRight as error:
            os._exit(0 if "CAP_NET_RAW" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def source(place: Place, links: tuple[str, ...], told: list[tuple[str, str, int]]) -> RingSource:
    def numbered(*link: object) -> int:
        told.append(link)  # type: ignore[arg-type]
        return len(told) - 1

    return RingSource(place, of_expression(""), numbered, snaplen=256, links=links, megabytes=4)


def test_links_that_are_up_are_named_at_once(pair: Pair) -> None:
    place = Place(named(pair.near))
    told: list[tuple[str, str, int]] = []
    source(place, (), told).close()
    assert sorted(told) == [(pair.near, "eth0", 1), (pair.near, "lo", 1)]
    place.close()


def test_without_its_links_a_source_is_over(pair: Pair) -> None:
    ip("-n", pair.near, "link", "add", "brief", "type", "bridge")
    place = Place(named(pair.near))
    made = source(place, ("brief",), [])
    assert made.failure() is None
    ip("-n", pair.near, "link", "delete", "brief")
    assert made.notes() == [f"{pair.near}:brief is gone"]
    assert "its last interface is gone" in str(made.failure())
    made.close()
    with pytest.raises(InputError, match="has no interface 'nope'"):
        source(place, ("nope",), [])
    place.close()


def test_scapy_and_tcpdump_compile_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tool("tcpdump")
    for text in ("tcp port 9092", "host 10.0.0.1 and not port 22", "ether host 02:00:00:00:00:01"):
        by_scapy = of_expression(text)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "scapy.arch.common", None)
            by_tcpdump = of_expression(text)
        assert by_scapy.program(256) == by_tcpdump.program(256)
        assert by_scapy.expression == text


@pytest.mark.parametrize("text", ["", "  "])
def test_no_words_take_everything(text: str) -> None:
    chosen = of_expression(text)
    assert (chosen.expression, chosen.ethernet, chosen.ip) == ("", all_packets(), all_packets())


def test_what_ethernet_alone_has_takes_nothing_elsewhere() -> None:
    chosen = of_expression("ether host 02:00:00:00:00:01")
    assert chosen.ip == NO_PACKETS
    assert len(chosen.ethernet) > 5


@pytest.mark.parametrize("scapy", [True, False])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tcp prt 9092", "syntax error"),
        ("tcp port 99999", "illegal port"),
        ("port (", "syntax error"),
        ("--version", "syntax error"),
        ("-w /tmp/x", "syntax error"),
        ("\x1b[31m", "."),
        ("tcp\0port", "is not a filter"),
        ("tcp or " * 5000 + "tcp", "is not a filter"),
    ],
)
def test_what_is_no_filter(text: str, reason: str, scapy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Older versions of scapy give no reason; tcpdump then does.
    tool("tcpdump")
    if not scapy:
        monkeypatch.setitem(sys.modules, "scapy.arch.common", None)
    with pytest.raises(InputError, match=reason) as caught:
        of_expression(text)
    assert "\n" not in str(caught.value)


def test_a_filter_in_words_needs_somebody_who_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scapy.arch.common", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtra, match="scapy"):
        of_expression("tcp")
    assert of_ports([9092]).program(256)


def test_a_program_too_long_is_refused() -> None:
    chosen = Filter(expression="x", ethernet=all_packets() * 4000, ip=all_packets() * 200)
    with pytest.raises(InputError, match="the kernel allows"):
        chosen.program(256)


def test_the_words_of_ports_are_libpcaps() -> None:
    words = of_ports([9092, 29092]).expression
    assert re.findall(r"port (\d+)", words) == ["53", "9092", "29092", "53"]
    assert "127.0.0.11" in words
    assert of_expression(words).ethernet
