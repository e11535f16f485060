"""Filters in the words of pcap-filter(7) to programs, compiled by scapy with libpcap, else by tcpdump."""

import shutil
import subprocess
from collections.abc import Collection

from netdiag.errors import InputError, MissingExtra
from netdiag.linux.bpf import (
    NO_PACKETS,
    Instruction,
    LinkKind,
    Program,
    all_packets,
    for_all_links,
    kafka_expression,
    kafka_filter,
    parse_dump,
)
from netdiag.values import dataclass

_DLT = {LinkKind.ETHERNET: 1, LinkKind.IP: 12}
_NAMES = {LinkKind.ETHERNET: "EN10MB", LinkKind.IP: "RAW"}
_SECONDS = 30
_LONGEST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What to take: `expression` for tools and for the file, empty for everything; programs for our own sockets."""

    expression: str
    ethernet: Program
    ip: Program

    def program(self, snaplen: int, ifindexes: Collection[int] = ()) -> Program:
        """For a socket of all links, or of those; InputError where it is too long for the kernel."""
        try:
            return for_all_links(self.ethernet, self.ip, snaplen=snaplen, ifindexes=ifindexes)
        except ValueError as error:
            raise InputError(str(error), where="the filter", hint="use a shorter --filter") from error


def of_ports(ports: Collection[int]) -> Filter:
    """Kafka on these ports, DNS, and what says that something cannot be reached; needs no library."""
    return Filter(
        expression=kafka_expression(ports),
        ethernet=kafka_filter(ports, LinkKind.ETHERNET),
        ip=kafka_filter(ports, LinkKind.IP),
    )


def of_expression(text: str) -> Filter:
    """What the user wrote; InputError with the reason of libpcap where it means nothing."""
    if not text.strip():
        return Filter(expression="", ethernet=all_packets(), ip=all_packets())
    if "\0" in text or len(text) > _LONGEST:
        raise InputError("is not a filter", where="--filter")
    ethernet = _compiled(text, LinkKind.ETHERNET)
    try:
        ip = _compiled(text, LinkKind.IP)
    except InputError:
        # "ether host" and the like mean nothing on links without Ethernet: nothing there is meant.
        ip = NO_PACKETS
    return Filter(expression=text, ethernet=ethernet, ip=ip)


def _compiled(text: str, link: LinkKind) -> Program:
    by_scapy = _by_scapy(text, link)
    if by_scapy is not None:
        return by_scapy
    if shutil.which("tcpdump") is None:
        raise MissingExtra("--filter needs scapy with libpcap, or tcpdump", extra="capture")
    return _by_tcpdump(text, link)


def _by_scapy(text: str, link: LinkKind) -> Program | None:
    """None where scapy or libpcap is not there."""
    try:
        from scapy.arch.common import compile_filter
        from scapy.error import Scapy_Exception
    except ImportError:
        return None
    try:
        program = compile_filter(text, linktype=_DLT[link])
    except ImportError:
        return None
    except Scapy_Exception as error:
        reason = _reason_in(str(error))
        if reason is None and shutil.which("tcpdump") is not None:
            return _by_tcpdump(text, link)
        raise _bad(reason or "libpcap does not understand it") from error
    instructions = (program.bf_insns[at] for at in range(program.bf_len))
    return tuple(Instruction(one.code, one.jt, one.jf, one.k) for one in instructions)


def _reason_in(said: str) -> str | None:
    """What libpcap says, in parentheses behind the filter; scapy before 2.8 has its number there."""
    _, quote, reason = said.removesuffix(")").rpartition("' (")
    return reason if quote else None


def _by_tcpdump(text: str, link: LinkKind) -> Program:
    command = ["tcpdump", "-ddd", "-y", _NAMES[link], "--", text]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS)
        return parse_dump(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError("tcpdump does not compile it in time", where="--filter") from error
    except ValueError as error:
        raise _bad(done.stderr) from error


def _bad(said: str) -> InputError:
    reason = said.strip().splitlines()[-1].removeprefix("tcpdump: ") if said.strip() else "means nothing"
    return InputError(reason[-200:], where="--filter", hint="write it as `man pcap-filter` says")
