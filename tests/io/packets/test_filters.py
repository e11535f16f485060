"""Filters in words: compiled by scapy or tcpdump to the same program, refused with libpcap's reason."""

import re
import sys

import pytest

from netdiag.errors import InputError, MissingExtra
from netdiag.io.packets.filters import Filter, of_expression, of_ports
from netdiag.linux.bpf import NO_PACKETS, all_packets
from tests.tools import tool


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
