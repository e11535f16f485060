"""The enhanced packets of a pcapng file by a kernel; all other blocks are left to the reader in plain Python."""

from math import gcd
from typing import Any

import numpy as np

from netdiag.traffic.engine.account import LARGEST_PACKET, Account
from netdiag.traffic.engine.compiled.front_decode import decode, decode_at, whole
from netdiag.traffic.engine.compiled.front_keys import KeyArrays
from netdiag.traffic.engine.compiled.front_rows import END, ODD, PAIRS, ROWS, Rows
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.packet import Content, Packet
from netdiag.traffic.engine.pcapng import LARGEST_KEPT, Interface, PcapngReader

_ENHANCED, _LEAST_ENHANCED = 6, 32
# Times that are larger, and clocks that could lead there, are left to numbers without end.
_LARGEST = 1 << 61

_POSITION, _ROW, _NUMBER, _KEPT, _HEADERS, _FILTERED, _FILTERED_BYTES, _TIME, _SINCE, _UNTIL, _IS_BIG, _SIZE = range(12)
# Of an interface.
_LINK, _NAME, _MULTIPLIER, _DIVISOR, _OFFSET, _MOST, _FIELDS = range(7)


class CompiledPcapng(PcapngReader):
    """Fills `rows`; what it gives itself are no packets."""

    def __init__(self, *, file: int, account: Account, rows: Rows) -> None:
        super().__init__(file=file, account=account)
        self._rows = rows
        self._clocks = np.zeros((1, _FIELDS), np.int64)
        self._described = self._interfaces
        self._count = 0

    def take(self, data: memoryview, rows: Rows, *, last: bool) -> Content:
        """Read what begins with what was left of the last time; what is left of it now."""
        self._rows = rows
        self._read(data, last=last)
        return self._rest

    def _run(self, data: Content, position: int, packets: list[Packet]) -> int:
        account, rows = self._account, self._rows
        self._describe_clocks()
        state = np.zeros(_SIZE, np.int64)
        state[_POSITION], state[_ROW], state[_NUMBER], state[_TIME] = position, rows.count, account.packets, self._time
        state[_SINCE], state[_UNTIL] = rows.wanted(account)
        state[_IS_BIG] = self._order == ">"
        while True:
            status = _scan(rows.data, rows.packets, state, rows.table, self._clocks[: self._count])
            rows.count = int(state[_ROW])
            if status == ROWS:
                rows.grow()
            elif status == PAIRS:
                rows.keys.grow()
            else:
                break
        account.packets = int(state[_NUMBER])
        account.packet_bytes += int(state[_KEPT])
        account.header_bytes += int(state[_HEADERS])
        account.filtered += int(state[_FILTERED])
        account.filtered_bytes += int(state[_FILTERED_BYTES])
        self._time = int(state[_TIME])
        return int(state[_POSITION])

    def _describe_clocks(self) -> None:
        """Tell the kernel of interfaces that came since the last time."""
        if self._described is not self._interfaces:
            self._described, self._count = self._interfaces, 0
        while self._count < len(self._interfaces):
            if self._count == len(self._clocks):
                self._clocks = np.concatenate((self._clocks, np.zeros_like(self._clocks)))
            self._clocks[self._count] = self._clock(self._interfaces[self._count])
            self._count += 1

    def _clock(self, interface: Interface) -> tuple[int, ...]:
        common = gcd(interface.multiplier, interface.divisor)
        multiplier, divisor = interface.multiplier // common, interface.divisor // common
        name = self._rows.names.number(interface.name)
        is_small = max(abs(interface.offset), multiplier * divisor) < _LARGEST
        if not is_small or name == NOTHING:
            return interface.link, name, 0, 1, 0, -1
        return interface.link, name, multiplier, divisor, interface.offset, _LARGEST // multiplier

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
        account, rows = self._account, self._rows
        before = account.filtered
        super()._add(data, begin, included, wire, length, interface, [])
        if account.filtered > before:
            return
        if rows.count == len(rows.packets):
            rows.grow()
        row = rows.packets[rows.count]
        row["time"], row["start"], row["number"] = self._time, begin, account.packets
        row["captured"], row["length"] = included, max(wire, included)
        row["link_type"], row["interface"] = interface.link, rows.names.number(interface.name)
        while not decode_at(rows.data, rows.packets, rows.count, rows.table):
            rows.keys.grow()
        if row["interface"] == NOTHING:
            row["segment"] = 0
            rows.strange[rows.count] = interface.name
        rows.count += 1


@kernel
def _number(data: Any, at: Any, is_big: bool) -> Any:
    """Four bytes of the file."""
    if is_big:
        return whole(data, at)
    return (
        np.int64(data[at]) | np.int64(data[at + 1]) << 8 | np.int64(data[at + 2]) << 16 | np.int64(data[at + 3]) << 24
    )


@kernel
def _scan(data: Any, rows: Any, state: Any, table: KeyArrays, clocks: Any) -> int:
    """Take enhanced packets up to the end of the bytes, or to what only the caller can settle."""
    is_big, end = state[_IS_BIG] != 0, len(data)
    position, row = state[_POSITION], state[_ROW]
    status = END
    while position + _LEAST_ENHANCED <= end:
        length, index = _number(data, position + 4, is_big), _number(data, position + 8, is_big)
        included, wire = _number(data, position + 20, is_big), _number(data, position + 24, is_big)
        following = position + length
        status = ODD
        if (
            _number(data, position, is_big) != _ENHANCED
            or included + _LEAST_ENHANCED > length
            or length > LARGEST_KEPT
            or included > LARGEST_PACKET
            or following > end
            or length % 4 != 0
            or index >= len(clocks)
            or _number(data, following - 4, is_big) != length
        ):
            break
        high = _number(data, position + 12, is_big)
        ticks = high << 32 | _number(data, position + 16, is_big)
        clock = clocks[index]
        if high >> 31 or ticks // clock[_DIVISOR] > clock[_MOST]:
            break
        divisor, multiplier = clock[_DIVISOR], clock[_MULTIPLIER]
        time = ticks // divisor * multiplier + ticks % divisor * multiplier // divisor + clock[_OFFSET]
        if time < 0:
            break
        if state[_SINCE] <= time < state[_UNTIL]:
            if row >= len(rows):
                status = ROWS
                break
            packet = rows[row]
            packet.time = time
            packet.start = position + 28
            packet.number = state[_NUMBER] + 1
            packet.captured = included
            packet.length = max(wire, included)
            packet.link_type = clock[_LINK]
            packet.interface = clock[_NAME]
            if not decode(data, packet, table):
                status = PAIRS
                break
            row += 1
            state[_KEPT] += included
        else:
            state[_FILTERED] += 1
            state[_FILTERED_BYTES] += included
        state[_HEADERS] += length - included
        state[_NUMBER] += 1
        state[_TIME] = time
        position = following
        status = END
    state[_POSITION], state[_ROW] = position, row
    return status
