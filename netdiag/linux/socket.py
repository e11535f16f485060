"""Listening sockets, as `/proc/PID/net/tcp` and `tcp6` list them (Documentation/networking/proc_net_tcp.rst)."""

import dataclasses
import ipaddress
import struct
from collections.abc import Iterator
from enum import Enum

from netdiag.values import dataclass

_LISTEN = "0A"


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


class Protocol(Enum):
    """What a socket speaks; the value is the word of `ss`."""

    TCP = "tcp"
    UDP = "udp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A socket that waits for others: TCP in LISTEN, UDP without a peer (what `ss -lntu` lists).

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


def _listening(table: str) -> Iterator[ListeningSocket]:
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 10 or fields[3] != _LISTEN:
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
