"""The records of a pcap file by a kernel; whatever is no plain record is left to the reader in plain Python."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.account import LARGEST_PACKET, Account
from netdiag.traffic.engine.compiled.front_ahead import FAR, FEW, NEAR, ask_slot, ask_words
from netdiag.traffic.engine.compiled.front_decode import decode, whole
from netdiag.traffic.engine.compiled.front_keys import KeyArrays
from netdiag.traffic.engine.compiled.front_rows import END, NAME, ODD, PAIRS, ROWS, UNKNOWN, NameArrays, Rows, name_of
from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.packet import Content, Packet
from netdiag.traffic.engine.pcap import PcapReader

_COOKED_2 = 276
_SECOND = 1_000_000_000

# What a scan knows and tells.
(
    _POSITION,
    _PREVIOUS,
    _ROW,
    _NUMBER,
    _KEPT,
    _FILTERED,
    _FILTERED_BYTES,
    _SECONDS,
    _WANTED,
    _SINCE,
    _UNTIL,
    _HEADER,
    _FRACTION,
    _IS_BIG,
    _LINK,
    _IS_TAKEN,
    _VALUE,
    _SIZE,
) = range(18)

# How a record is taken that would otherwise be given back.
_EMPTY, _WITHOUT_NAME = 1, 2


class CompiledPcap(PcapReader):
    """Fills `rows`; what it gives itself are no packets."""

    def __init__(self, *, file: int, account: Account, rows: Rows) -> None:
        super().__init__(file=file, account=account)
        self._rows = rows

    def take(self, data: memoryview, rows: Rows, *, last: bool) -> Content:
        """Read what begins with what was left of the last time; what is left of it now."""
        self._rows = rows
        if not self._opened and (last or not self._open(data)):
            self._rest = data
            if last:
                super().finish()
            return data
        self._read(data, last=last)
        return self._rest

    def _run(self, data: Content, previous: int, position: int, packets: list[Packet]) -> tuple[int, int]:
        account, rows = self._account, self._rows
        state = np.zeros(_SIZE, np.int64)
        state[_POSITION], state[_PREVIOUS], state[_ROW] = position, previous, rows.count
        state[_NUMBER] = account.packets
        state[_SECONDS], state[_WANTED] = self._seconds, self._last_wanted
        state[_SINCE], state[_UNTIL] = rows.wanted(account)
        state[_HEADER], state[_FRACTION] = self._header, self._fraction
        state[_IS_BIG], state[_LINK] = self._order == ">", self._link
        while True:
            status = _scan(rows.data, rows.packets, state, rows.table, rows.names.arrays)
            rows.count = int(state[_ROW])
            if status == ROWS:
                rows.grow()
            elif status == PAIRS:
                rows.keys.grow()
            elif status == NAME:
                if not rows.names.learn(int(state[_VALUE])):
                    rows.strange[rows.count] = str(state[_VALUE])
                    state[_IS_TAKEN] |= _WITHOUT_NAME
            elif status != ODD or self._is_no_record(data, int(state[_POSITION])):
                break
            else:
                state[_IS_TAKEN] |= _EMPTY
        number = int(state[_NUMBER])
        account.header_bytes += (number - account.packets) * self._header
        account.packets = number
        account.packet_bytes += int(state[_KEPT])
        account.filtered += int(state[_FILTERED])
        account.filtered_bytes += int(state[_FILTERED_BYTES])
        self._seconds, self._last_wanted = int(state[_SECONDS]), bool(state[_WANTED])
        return int(state[_PREVIOUS]), int(state[_POSITION])

    def _is_no_record(self, data: Content, position: int) -> bool:
        """Of a header with lengths that none should have."""
        seconds, _, included, _ = self._unpack(data, position)
        self._searching = bool(included) or not seconds
        return self._searching or self._may_be_appended(data, position)


@kernel
def _number(data: Any, at: int, is_big: bool) -> Any:
    """Four bytes of the file."""
    if is_big:
        return whole(data, at)
    return (
        np.int64(data[at]) | np.int64(data[at + 1]) << 8 | np.int64(data[at + 2]) << 16 | np.int64(data[at + 3]) << 24
    )


@kernel
def _scan(data: Any, rows: Any, state: Any, table: KeyArrays, names: NameArrays) -> int:
    """Take records up to the end of the bytes, or to what only the caller can settle."""
    header, is_big, end = state[_HEADER], state[_IS_BIG] != 0, len(data)
    position, row = state[_POSITION], state[_ROW]
    status = END
    is_crowd = len(table.slots) > FEW
    far, near, far_by, near_by = position, position, 0, 0
    while position + header <= end:
        if is_crowd:
            while far_by < FAR and far + header <= end:
                ask_slot(table, data, far + header)
                far, far_by = _next(data, far, header, is_big), far_by + 1
            while near_by < NEAR and near + header <= end:
                ask_words(table, data, near + header)
                near, near_by = _next(data, near, header, is_big), near_by + 1
        seconds, part = _number(data, position, is_big), _number(data, position + 4, is_big)
        included, length = _number(data, position + 8, is_big), _number(data, position + 12, is_big)
        if included > LARGEST_PACKET or (included | length == 0 and not state[_IS_TAKEN] & _EMPTY):
            status = ODD
            break
        begin = position + header
        if begin + included > end:
            break
        time = seconds * _SECOND + part * state[_FRACTION]
        if state[_SINCE] <= time < state[_UNTIL]:
            if row >= len(rows):
                status = ROWS
                break
            packet = rows[row]
            packet.time = time
            packet.start = begin
            packet.number = state[_NUMBER] + 1
            packet.captured = included
            packet.length = max(length, included)
            packet.link_type = state[_LINK]
            if not decode(data, packet, table):
                status = PAIRS
                break
            if not _name(data, packet, position, header, is_big, state, names):
                status = NAME
                break
            row += 1
            state[_KEPT] += included
            state[_WANTED] = 1
        else:
            state[_FILTERED] += 1
            state[_FILTERED_BYTES] += included
            state[_WANTED] = 0
        state[_IS_TAKEN] = 0
        state[_NUMBER] += 1
        state[_SECONDS] = seconds
        state[_PREVIOUS] = position
        position = begin + included
        far_by, near_by = far_by - 1, near_by - 1
    state[_POSITION], state[_ROW] = position, row
    return status


@inlined
def _next(data: Any, position: Any, header: Any, is_big: bool) -> Any:
    """Where the record behind this one begins, if it is as it should be."""
    return position + header + _number(data, position + 8, is_big)


@kernel
def _name(data: Any, packet: Any, position: int, header: int, is_big: bool, state: Any, names: NameArrays) -> bool:
    """Name the interface where the record does, or the header of Linux; False where the name is not known."""
    packet.interface = 0
    if header != 16:
        value = _number(data, position + 16, is_big)
    elif packet.link_type == _COOKED_2 and packet.segment == 1:
        value = whole(data, packet.start + 4)
    else:
        return True
    name = name_of(names, value)
    if name == UNKNOWN:
        if not state[_IS_TAKEN] & _WITHOUT_NAME:
            state[_VALUE] = value
            return False
        packet.segment = 0
        name = NOTHING
    packet.interface = name
    return True
