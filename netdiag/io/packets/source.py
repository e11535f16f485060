"""What a capture reads from, whichever engine it is, and the one that reads the kernel's ring itself.

The ring is a packet socket of a whole namespace, read from memory that the kernel fills (AF_PACKET with TPACKET_V3).
The filter is in place before the socket is bound, so nothing else ever gets in. Packets are handed on as pcapng
blocks: between the kernel's memory and the file each costs two calls of struct and one slice. A VLAN tag that the
kernel took off is put back; what has no Ethernet header begins with its IP header. Loopback shows a packet once.
Sources: linux/if_packet.h, Documentation/networking/packet_mmap.rst.
"""

import ctypes
import fcntl
import mmap
import os
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel.netns import Namespace
from netdiag.io.packets.filters import Filter
from netdiag.io.packets.pcapng_writer import LINKTYPE_ETHERNET, LINKTYPE_RAW, Packers
from netdiag.io.packets.places import Place
from netdiag.linux.bpf import ETHERNET, LOOPBACK, NO_PACKETS, Program

# The number of an interface by place, link and link type.
Numbered = Callable[[str, str, int], int]
BLOCK = 1 << 20
RETIRE_MS = 100
_ETH_P_ALL = 3
_SOL_PACKET = 263
_PACKET_RX_RING, _PACKET_STATISTICS, _PACKET_VERSION = 5, 6, 10
_TPACKET_V3 = 2
_SO_ATTACH_FILTER = 26
_SIOCGIFNAME, _SIOCGIFFLAGS, _SIOCGIFHWADDR = 0x8910, 0x8913, 0x8927
_IFF_UP = 0x1
_STATUS_KERNEL, _STATUS_USER = 0, 1
_VLAN_VALID, _VLAN_TPID_VALID = 0x10, 0x40
_BLOCK_HEADER = struct.Struct("=IIII")
# tpacket3_hdr, then sockaddr_ll: next, sec, nsec, snaplen, len, status, mac, net, tci, tpid, ifindex.
_PACKET_HEADER = struct.Struct("=IIIIIIHH4xIH10x4xi")
_STATUS = struct.Struct("=I")
_EPB = 6
_NAME_BYTES = 16
# Number of the interface in the file by index in the namespace; the second is the link type.
Numbers = Callable[[int], tuple[int, int]]


class Source(Protocol):
    """One place's packets."""

    place: Place

    @property
    def received(self) -> int:
        """Packets that the filter took and the engine has room for."""
        ...

    @property
    def dropped(self) -> int:
        """Packets that the filter took and that were lost."""
        ...

    def fileno(self) -> int | None:
        """What to wait for; None for a source that is asked again and again."""
        ...

    def read(self) -> list[bytes]:
        """Packet blocks that are there now, oldest first."""
        ...

    def settled(self) -> int:
        """No packet older than this time, in nanoseconds since 1970, comes any more."""
        ...

    def count(self) -> None:
        """Bring the counters up to date."""
        ...

    def notes(self) -> list[str]:
        """What happened to links since the last time."""
        ...

    def failure(self) -> NetdiagError | None:
        """Why no more can come, if that is so."""
        ...

    def stop(self) -> None:
        """Take nothing more."""
        ...

    def finished(self) -> bool:
        """After `stop`: whether everything has been read."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class RingSource:
    """The engine called scapy: a packet socket in the namespace, its ring read here."""

    def __init__(
        self, place: Place, chosen: Filter, numbered: Numbered, *, snaplen: int, links: Sequence[str], megabytes: int
    ) -> None:
        self.place = place
        self._numbered = numbered
        self._watched = dict(place.indexes_of(links) if links else place.links)
        self._only = bool(links)
        self._settled = 0
        self._stopped_at: float | None = None
        program = chosen.program(snaplen, tuple(self._watched) if links else ())
        self._ring = Ring(place.namespace, program, megabytes=megabytes)
        self._down = {index for index, name in self._watched.items() if not self._ring.is_up(name)}
        for index in self._watched.keys() - self._down:
            self._number(index)

    @property
    def received(self) -> int:
        """Packets that came through the filter and into the ring."""
        return self._ring.received

    @property
    def dropped(self) -> int:
        """Packets for which the ring had no room."""
        return self._ring.dropped

    def fileno(self) -> int | None:
        return self._ring.fileno()

    def read(self) -> list[bytes]:
        # The kernel hands over a block when it is full or old; two more for a machine that is busy.
        before = time.time_ns() - 3 * RETIRE_MS * 1_000_000
        found = self._ring.read(self._number)
        self._settled = before
        return found

    def settled(self) -> int:
        return self._settled

    def count(self) -> None:
        self._ring.count()

    def notes(self) -> list[str]:
        found: list[str] = []
        for index, name in list(self._watched.items()):
            up = self._ring.is_up(name) if self._ring.name_of(index) == name else None
            full = f"{self.place.label}:{name}"
            if up is None:
                found.append(f"{full} is gone")
                del self._watched[index]
            elif not up and index not in self._down:
                found.append(f"{full} went down")
                self._down.add(index)
            elif up and index in self._down:
                found.append(f"{full} is up")
                self._down.discard(index)
        return found

    def failure(self) -> NetdiagError | None:
        if self.place.is_gone:
            return NetdiagError("it is gone, and sends no more packets", where=self.place.what)
        if not self._watched and self._only:
            return NetdiagError("its last interface is gone, and it sends no more packets", where=self.place.what)
        return None

    def stop(self) -> None:
        self._ring.stop()
        self._stopped_at = time.monotonic()

    def finished(self) -> bool:
        # The kernel hands over a block that is not full when it is old.
        return self._stopped_at is not None and time.monotonic() - self._stopped_at > 2.5 * RETIRE_MS / 1000

    def close(self) -> None:
        self._ring.close()

    def _number(self, ifindex: int) -> tuple[int, int]:
        name = self._ring.name_of(ifindex) or self.place.links.get(ifindex) or f"link-{ifindex}"
        if not self._only:
            self._watched.setdefault(ifindex, name)
        linktype = self._ring.linktype_of(name)
        return self._numbered(self.place.label, name, linktype), linktype


class Ring:
    """The socket and its memory; `read` empties what is full, `drops` counts what did not fit."""

    def __init__(self, namespace: Namespace, program: Program, *, megabytes: int) -> None:
        self.received = 0
        self.dropped = 0
        self._blocks = max(4, megabytes)
        self._next = 0
        self._packers = Packers()
        self._numbers: dict[int, tuple[int, int]] = {}
        self._socket = _open(namespace)
        try:
            _attach(self._socket, program)
            self._socket.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V3)
            request = struct.pack("=IIIIIII", BLOCK, self._blocks, 2048, BLOCK // 2048 * self._blocks, RETIRE_MS, 0, 0)
            self._socket.setsockopt(_SOL_PACKET, _PACKET_RX_RING, request)
            self._memory = mmap.mmap(self._socket.fileno(), BLOCK * self._blocks)
            _bind(self._socket)
        except OSError as error:
            self._socket.close()
            raise NetdiagError(f"cannot receive packets from the kernel: {os.strerror(error.errno or 0)}") from error

    def close(self) -> None:
        """Let go of the socket and its memory."""
        self._memory.close()
        self._socket.close()

    def fileno(self) -> int:
        """For poll: readable when a block is full or old."""
        return self._socket.fileno()

    def stop(self) -> None:
        """Take nothing more; what is in the ring can be read once the kernel hands over its last block."""
        _attach(self._socket, NO_PACKETS)

    def read(self, numbers: Numbers) -> list[bytes]:
        """Every packet that the kernel has handed over, oldest first, as pcapng blocks."""
        found: list[bytes] = []
        for _ in range(self._blocks):
            start = self._next * BLOCK
            _, _, status, count = _BLOCK_HEADER.unpack_from(self._memory, start)
            if not status & _STATUS_USER:
                break
            self._block(start, count, numbers, found)
            _STATUS.pack_into(self._memory, start + 8, _STATUS_KERNEL)
            self._next = (self._next + 1) % self._blocks
        return found

    def count(self) -> None:
        """Bring `received` and `dropped` up to date."""
        with suppress(OSError):
            counted = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 12)
            packets, drops = struct.unpack_from("=II", counted)
            self.received += packets - drops
            self.dropped += drops

    def name_of(self, ifindex: int) -> str | None:
        """What a link is called now; None for one that is gone."""
        try:
            answer = fcntl.ioctl(self._socket, _SIOCGIFNAME, struct.pack("=16si20x", b"", ifindex))
        except OSError:
            return None
        return os.fsdecode(answer[:_NAME_BYTES].split(b"\0")[0])

    def linktype_of(self, ifname: str) -> int:
        """How the packets of a link begin in the file."""
        try:
            answer = fcntl.ioctl(self._socket, _SIOCGIFHWADDR, struct.pack("=40s", os.fsencode(ifname)))
        except OSError:
            return LINKTYPE_ETHERNET
        (hardware,) = struct.unpack_from("=H", answer, _NAME_BYTES)
        return LINKTYPE_ETHERNET if hardware in (ETHERNET, LOOPBACK) else LINKTYPE_RAW

    def is_up(self, ifname: str) -> bool | None:
        """Whether a link is up; None for one that is gone."""
        try:
            answer = fcntl.ioctl(self._socket, _SIOCGIFFLAGS, struct.pack("=40s", os.fsencode(ifname)))
        except OSError:
            return None
        return bool(struct.unpack_from("=H", answer, _NAME_BYTES)[0] & _IFF_UP)

    def _block(self, start: int, count: int, numbers: Numbers, found: list[bytes]) -> None:
        memory, packers, known = self._memory, self._packers, self._numbers
        unpack, append = _PACKET_HEADER.unpack_from, found.append
        (first,) = _STATUS.unpack_from(memory, start + 16)
        at = start + first
        for _ in range(count):
            step, seconds, nanoseconds, kept, length, status, mac, net, tci, tpid, ifindex = unpack(memory, at)
            pair = known.get(ifindex)
            if pair is None:
                pair = known[ifindex] = numbers(ifindex)
            number, linktype = pair
            data = memory[at + mac : at + mac + kept]
            if linktype == LINKTYPE_RAW:
                data, length = data[net - mac :], length - (net - mac)
            elif status & _VLAN_VALID and kept >= 12:
                kind = tpid if status & _VLAN_TPID_VALID else 0x8100
                data, length = data[:12] + struct.pack("!HH", kind, tci & 0xFFFF) + data[12:], length + 4
            time = seconds * 1_000_000_000 + nanoseconds
            packer = packers[len(data)]
            size = packer.size
            append(packer.pack(_EPB, size, number, time >> 32, time & 0xFFFFFFFF, len(data), length, data, size))
            at += step


def _open(namespace: Namespace) -> socket.socket:
    try:
        # With protocol 0 it gets nothing until it is bound.
        return namespace.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    except PermissionError as error:
        raise MissingRight("capturing needs CAP_NET_RAW") from error
    except OSError as error:
        raise NetdiagError(f"no packet socket: {os.strerror(error.errno or 0)}") from error


def _attach(channel: socket.socket, program: Program) -> None:
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in program))
    channel.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(program), ctypes.addressof(code)))


def _bind(channel: socket.socket) -> None:
    """To every link; socket.bind can name a single one only."""
    address = struct.pack("=HHi12x", socket.AF_PACKET, socket.htons(_ETH_P_ALL), 0)
    if ctypes.CDLL(None, use_errno=True).bind(channel.fileno(), address, len(address)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
