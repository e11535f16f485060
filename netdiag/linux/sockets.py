"""Sockets that listen or have connected, as `/proc/PID/net/tcp` and inet_diag list them.

Sources: Documentation/networking/proc_net_tcp.rst, sock_diag(7), linux/inet_diag.h.
"""

import dataclasses
import ipaddress
import struct
from collections.abc import Iterator
from enum import Enum

from netdiag.linux.netlink.messages import Malformed, MessageType, attributes, ip_address, request, truth
from netdiag.values import dataclass

_PROC_LISTEN = "0A"
# Established, or ending; of one that has ended, the side that closed first keeps a trace for a minute (TIME_WAIT).
_PROC_CONNECTED = frozenset({"01", "04", "05", "06", "08", "09", "0B"})
_MOST_PEERS = 1000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ListeningSocket:
    """One TCP socket that accepts connections; `[::]` of a dual-stack socket stands for IPv4, too."""

    port: int
    address: str
    inode: int = 0

    @property
    def on_all_addresses(self) -> bool:
        """Whether it is bound to no address in particular."""
        return self.address in ("0.0.0.0", "::")

    @property
    def on_loopback(self) -> bool:
        """Whether only its own namespace can reach it."""
        address = ipaddress.ip_address(self.address)
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (mapped or address).is_loopback


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Peer:
    """An address to which a namespace has connected."""

    address: str
    port: int


class Protocol(Enum):
    """What a socket speaks; the value is the word of `ss`."""

    TCP = "tcp"
    UDP = "udp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A socket that waits for peers: TCP in LISTEN, UDP without a peer (what `ss -lntu` lists).

    `family` is 4 or 6; a family of 6 on "::" without `v6only` serves IPv4, too. `address` is where it is bound,
    `ifindex` the device it is bound to, None for all. `inode` 0 is a socket of the kernel's own. `pids` are the
    processes that hold it, also those of other namespaces, in order; empty where none can be told. `queue` is how many
    connections wait to be accepted, `backlog` how many may (both 0 for UDP).
    """

    protocol: Protocol
    family: int
    address: str
    port: int
    inode: int
    uid: int = 0
    v6only: bool = False
    ifindex: int | None = None
    pids: tuple[int, ...] = ()
    queue: int = 0
    backlog: int = 0


def parse_listening(table: str) -> tuple[ListeningSocket, ...]:
    """The listening sockets of one table; lines of another shape are passed over."""
    return tuple(_listening(table))


def as_listening(listener: Listener) -> ListeningSocket:
    """A socket that inet_diag lists, as `parse_listening` gives it."""
    address = ipaddress.ip_address(listener.address)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return ListeningSocket(port=listener.port, address=str(mapped or address), inode=listener.inode)


def parse_peers(*tables: str) -> tuple[Peer, ...]:
    """Whom the programs of a namespace have connected to, by its tables; not who has connected to their ports."""
    listening = {one.port for table in tables for one in _listening(table)}
    found: set[Peer] = set()
    for line in (line for table in tables for line in table.splitlines()[1:]):
        fields = line.split()
        if len(fields) < 4 or fields[3] not in _PROC_CONNECTED:
            continue
        try:
            address, _, port = fields[2].partition(":")
            if int(fields[1].partition(":")[2], 16) not in listening and len(found) < _MOST_PEERS:
                found.add(Peer(address=_address(address), port=int(port, 16)))
        except ValueError:
            continue
    return tuple(sorted(found))


def _listening(table: str) -> Iterator[ListeningSocket]:
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 10 or fields[3] != _PROC_LISTEN:
            continue
        address, _, port = fields[1].partition(":")
        try:
            yield ListeningSocket(port=int(port, 16), address=_address(address), inode=int(fields[9]))
        except ValueError:
            continue


def _address(text: str) -> str:
    """32-bit words in the byte order of the machine, of a network-order address."""
    words = bytes.fromhex(text)
    count = len(words) // 4
    raw = struct.pack(f"={count}I", *struct.unpack(f">{count}I", words))
    address = ipaddress.ip_address(raw)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


_REQUEST = struct.Struct("=BBBxI48x")
# struct inet_diag_req, of which only the states are used here
_OLD_REQUEST = struct.Struct("=52xI4x")
_TCPDIAG_GETSOCK = 18
# struct inet_diag_msg: ports and addresses in network byte order, the rest in the machine's.
_ANSWER = struct.Struct("=BBBB2s2s16s16sI8xIIIII")
_FAMILIES = {4: 2, 6: 10}
_IPV4, _IPV6 = 2, 10
_NUMBERS = {Protocol.TCP: 6, Protocol.UDP: 17}
# TCP that listens; UDP that is not connected, which the kernel calls closed.
_LISTEN, _CLOSE = 10, 7
_STATES = {Protocol.TCP: 1 << _LISTEN, Protocol.UDP: 1 << _CLOSE}
_V6ONLY = 11


def request_listeners(protocol: Protocol, family: int) -> bytes:
    """The request for listening TCP sockets, or UDP sockets without a peer, of family 4 or 6."""
    body = _REQUEST.pack(_FAMILIES[family], _NUMBERS[protocol], 0, _STATES[protocol])
    return request(MessageType.SOCK_DIAG_BY_FAMILY, body)


def request_tcp_listeners() -> bytes:
    """The request for listening TCP sockets of both families: TCPDIAG_GETSOCK, an older one that names no family.

    The kernel walks a table of all listening sockets for each request, so one request instead of two takes half the
    time. The files in /proc/PID/net take a hundred times as long: for each, it walks that of all connections, too.
    """
    return request(_TCPDIAG_GETSOCK, _OLD_REQUEST.pack(_STATES[Protocol.TCP]))


def decode_listener(payload: memoryview | bytes, protocol: Protocol) -> Listener | None:
    """One socket of an answer to `request_listeners`, without its processes; None for another state or family."""
    data = bytes(payload)
    if len(data) < _ANSWER.size:
        raise Malformed(f"a socket of {len(data)} bytes")
    family, state, _, _, port, _, address, _, device, _, waiting, most, uid, inode = _ANSWER.unpack_from(data)
    if family not in (_IPV4, _IPV6) or not _STATES[protocol] >> state & 1:
        return None
    tcp = protocol is Protocol.TCP
    v6only = attributes(data, _ANSWER.size).get(_V6ONLY)
    return Listener(
        protocol=protocol,
        family=4 if family == _IPV4 else 6,
        address=ip_address(address[:4] if family == _IPV4 else address),
        port=int.from_bytes(port, "big"),
        inode=inode,
        uid=uid,
        v6only=v6only is not None and truth(v6only),
        ifindex=device or None,
        queue=waiting if tcp else 0,
        backlog=most if tcp else 0,
    )
