"""The blocks of a pcapng file: sections of either byte order, interfaces, and all four kinds of packets.

Every block ends with its length once more: where the two differ there is damage, and the next block of a known kind
whose lengths agree goes on.
"""

import re
from collections.abc import Iterator
from struct import Struct
from typing import Any, NamedTuple

from netdiag.traffic.engine.account import LARGEST_PACKET, LAST_TIME, Account
from netdiag.traffic.engine.packet import Content, Packet

MAGIC = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _OBSOLETE, _SIMPLE, _STATISTICS, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 5, 6
ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_NAME, _RESOLUTION, _OFFSET = 2, 9, 14
_DROPPED_BY_INTERFACE, _DROPPED_BY_SYSTEM = 5, 7
# A packet with its options; larger blocks are no blocks, or hold what is of no use here and are skipped unread.
LARGEST_KEPT = LARGEST_PACKET + 128 * 1024
_LARGEST_BLOCK = 64 * 1024 * 1024
_MOST_INTERFACES = 8192
_LONGEST_NAME = 256
_LEAST_ENHANCED = 32
# What is made of the rest of a reader's state.
_MADE = frozenset({"_head", "_word", "_run_head", "_packet", "_old_packet", "_option"})
_SECOND = 1_000_000_000
# Of a NamedTuple, without the function around it.
_new = tuple.__new__
_KNOWN = {
    "<": re.compile(rb"(?s)(?=[\x01-\x06]\x00{3}.{3}\x00|\x0a\x0d\x0d\x0a)"),
    ">": re.compile(rb"(?s)(?=\x00{3}[\x01-\x06]\x00.{3}|\x0a\x0d\x0d\x0a)"),
}


class Interface(NamedTuple):
    """`multiplier / divisor`: nanoseconds of one tick; `offset`: nanoseconds to add."""

    link: int
    snaplen: int
    name: str
    multiplier: int
    divisor: int
    offset: int


class PcapngReader:
    """Eats a pcapng file in pieces of any size, from its first byte."""

    def __init__(self, *, file: int, account: Account) -> None:
        self._file = file
        self._account = account
        self._rest: Content = b""
        self._skip = 0
        self._skipped = 0
        self._searching = False
        self._interfaces: list[Interface] = []
        self._drops: dict[int, int] = {}
        self._time = 0
        self._set_order("<")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _MADE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._set_order(self._order)

    def feed(self, chunk: bytes) -> list[Packet]:
        """The packets that are complete with this piece."""
        return self._read(bytes(self._rest) + chunk if self._rest else chunk, last=False)

    def finish(self) -> list[Packet]:
        """The packets that only the end of the file makes sure of; what is left is lost."""
        return self._read(self._rest, last=True)

    @property
    def standing(self) -> object:
        """What it knows behind the last block; None within one, or where it looks for one."""
        if self._rest or self._skip or self._searching:
            return None
        return self._order, tuple(self._interfaces), tuple(sorted(self._drops.items()))

    def _set_order(self, order: str) -> None:
        self._order = order
        self._head = Struct(order + "II").unpack_from
        self._word = Struct(order + "I").unpack_from
        self._run_head = Struct(order + "IIIIIII").unpack_from
        self._packet = Struct(order + "IIIII").unpack_from
        self._old_packet = Struct(order + "HHIIII").unpack_from
        self._option = Struct(order + "HH").unpack_from

    def _read(self, data: Content, *, last: bool) -> list[Packet]:
        packets: list[Packet] = []
        position, end = self._skip_on(data, 0), len(data)
        begin = position
        why = "damage", "no block"
        while position < end:
            if self._searching:
                found = self._search(data, begin, last)
                self._account.lose(*(("damage", "no block") if found < end else why), found - position)
                position = begin = found
                if self._searching:
                    break
            position = self._run(data, position, packets)
            length = self._block_length(data, position)
            if length is not None and length > LARGEST_KEPT:
                self._skip, self._skipped = length, 0
                position += self._skip_on(data, position)
            elif length is None or position + length > end:
                if not last:
                    break
                # Either the file ends here, or the length of this block is a lie and others follow.
                self._searching = True
                why = "truncated", "the file ends inside a block"
                begin = position + 4
            elif length and self._word(data, position + length - 4)[0] == length:
                if not self._block(data, position, length, packets):
                    self._account.lose("damage", "a block that contradicts itself", length)
                position += length
            else:
                self._searching = True
                begin = position + 4
        if last and self._skip:
            self._account.header_bytes -= self._skipped
            self._account.lose("truncated", "the file ends inside a block", self._skipped)
        self._rest = data[position:]
        return packets

    def _run(self, data: Content, position: int, packets: list[Packet]) -> int:
        """Read the enhanced packets that follow one another, which most blocks are; where something else begins."""
        account, interfaces, unpack, word, view = (
            self._account,
            self._interfaces,
            self._run_head,
            self._word,
            memoryview(data),
        )
        since, until, file, number, add = account.since, account.until, self._file, account.packets, packets.append
        last, kept, begun, first = len(data) - _LEAST_ENHANCED, 0, position, number
        while position <= last:
            kind, length, index, high, low, included, wire = unpack(data, position)
            following = position + length
            if (
                kind != _ENHANCED
                or included + _LEAST_ENHANCED > length
                or length > LARGEST_KEPT
                or included > LARGEST_PACKET
                or following > len(data)
                or length % 4
                or index >= len(interfaces)
                or word(data, following - 4)[0] != length
            ):
                break
            link, _, name, multiplier, divisor, offset = interfaces[index]
            time = (high << 32 | low) * multiplier + offset if divisor == 1 else self._scaled(high, low, index)
            if not since <= time < until or not 0 <= time <= LAST_TIME:
                break
            number += 1
            kept += included
            begin = position + 28
            wire = wire if wire > included else included
            add(_new(Packet, (time, link, name, view[begin : begin + included], wire, number, file)))
            position = following
        if number > first:
            self._time = packets[-1].time
            account.packets = number
            account.packet_bytes += kept
            account.header_bytes += position - begun - kept
        return position

    def _skip_on(self, data: Content, position: int) -> int:
        """Pass over what is there of a block that is of no use; how many bytes that were."""
        taken = min(self._skip, len(data) - position)
        self._skip -= taken
        self._skipped += taken
        self._account.header_bytes += taken
        return taken

    def _block_length(self, data: Content, position: int) -> int | None:
        """The length of the block that begins here, 0 where none does; None: more bytes will tell."""
        if position + 12 > len(data):
            return None
        if data[position : position + 4] == MAGIC:
            order = ORDERS.get(bytes(data[position + 8 : position + 12]))
            if order is None:
                return 0
            length: int = Struct(order + "I").unpack_from(data, position + 4)[0]
            # Only a whole section header makes its byte order that of the file.
            if 28 <= length <= LARGEST_KEPT and length % 4 == 0:
                if position + length <= len(data):
                    self._set_order(order)
                return length
            return 0
        kind, length = self._head(data, position)
        if length % 4 or not 12 <= length <= (LARGEST_KEPT if kind <= _ENHANCED else _LARGEST_BLOCK):
            return 0
        return length

    def _search(self, data: Content, begin: int, last: bool) -> int:
        """Where the next block of a known kind begins; where there is none yet, from where on to search again."""
        for match in _KNOWN[self._order].finditer(data, begin):
            position = match.start()
            length = self._block_length(data, position)
            if length is None or (length and position + length > len(data)):
                if last:
                    continue
                return position
            if length and self._word(data, position + length - 4)[0] == length:
                self._searching = False
                return position
        return len(data) if last else max(begin, len(data) - 11)

    def _block(self, data: Content, position: int, length: int, packets: list[Packet]) -> bool:
        """Take in a whole block; False where its content does not fit into it."""
        kind = self._head(data, position)[0]
        if kind in (_ENHANCED, _OBSOLETE):
            if length < 32:
                return False
            if kind == _ENHANCED:
                index, high, low, included, wire = self._packet(data, position + 8)
            else:
                index, _, high, low, included, wire = self._old_packet(data, position + 8)
            if index >= len(self._interfaces) or included > length - 32 or included > LARGEST_PACKET:
                return False
            interface = self._interfaces[index]
            self._time = min(max(self._scaled(high, low, index), 0), LAST_TIME)
            self._add(data, position + 28, included, wire, length, interface, packets)
        elif kind == _SIMPLE:
            if length < 16 or not self._interfaces:
                return False
            interface = self._interfaces[0]
            wire = self._word(data, position + 8)[0]
            included = min(wire, interface.snaplen or wire, length - 16, LARGEST_PACKET)
            self._add(data, position + 12, included, wire, length, interface, packets)
        else:
            self._account.header_bytes += length
            if kind == _SECTION:
                self._interfaces = []
                self._drops = {}
            elif kind == _INTERFACE:
                return self._describe(data, position, length)
            elif kind == _STATISTICS and length >= 24:
                self._count_drops(data, position, length)
        return True

    def _scaled(self, high: int, low: int, index: int) -> int:
        interface = self._interfaces[index]
        return (high << 32 | low) * interface.multiplier // interface.divisor + interface.offset

    def _add(
        self,
        data: Content,
        begin: int,
        included: int,
        wire: int,
        length: int,
        interface: Interface,
        packets: list[Packet],
    ) -> None:
        account = self._account
        account.packets += 1
        account.header_bytes += length - included
        if account.since <= self._time < account.until:
            account.packet_bytes += included
            view = memoryview(data)[begin : begin + included]
            wire = max(wire, included)
            packets.append(Packet(self._time, interface.link, interface.name, view, wire, account.packets, self._file))
        else:
            account.filtered += 1
            account.filtered_bytes += included

    def _describe(self, data: Content, position: int, length: int) -> bool:
        """Take in the description of an interface."""
        if length < 20 or len(self._interfaces) >= _MOST_INTERFACES:
            self._account.header_bytes -= length
            return False
        link, _ = self._option(data, position + 8)
        snaplen = self._word(data, position + 12)[0]
        name, multiplier, divisor, offset = str(len(self._interfaces)), 1000, 1, 0
        for code, value in self._options(data, position + 16, position + length - 4):
            if code == _NAME:
                name = bytes(value[:_LONGEST_NAME]).rstrip(b"\0").decode("utf-8", errors="replace") or name
            elif code == _RESOLUTION and len(value) == 1:
                units = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
                multiplier, divisor = (_SECOND // units, 1) if _SECOND % units == 0 else (_SECOND, units)
            elif code == _OFFSET and len(value) == 8:
                offset = Struct(self._order + "q").unpack(value)[0] * _SECOND
        self._interfaces.append(Interface(link, snaplen, name, multiplier, divisor, offset))
        return True

    def _count_drops(self, data: Content, position: int, length: int) -> None:
        """Each interface tells again and again how many were dropped since the beginning."""
        index = self._word(data, position + 8)[0]
        if index >= len(self._interfaces):
            return
        dropped = 0
        for code, value in self._options(data, position + 20, position + length - 4):
            if code in (_DROPPED_BY_INTERFACE, _DROPPED_BY_SYSTEM) and len(value) == 8:
                dropped += Struct(self._order + "Q").unpack(value)[0]
        self._account.dropped += max(0, dropped - self._drops.get(index, 0))
        self._drops[index] = max(dropped, self._drops.get(index, 0))

    def _options(self, data: Content, position: int, end: int) -> Iterator[tuple[int, Content]]:
        while position + 4 <= end:
            code, length = self._option(data, position)
            if code == 0 or position + 4 + length > end:
                return
            yield code, data[position + 4 : position + 4 + length]
            position += 4 + length + -length % 4
