"""The records of a pcap file: both byte orders, micro and nanoseconds, and the variant of Alexey Kuznetzov.

A record header that cannot be true means damage. Either it is damaged itself, or the length of the record before it
was a lie, so the search begins in the record before. A true header is told by the true headers that follow it.
"""

import re
from struct import Struct
from typing import Any, Literal

from netdiag.errors import InputError
from netdiag.traffic.engine.account import LARGEST_PACKET, Account
from netdiag.traffic.engine.packet import Content, Packet

FILE_HEADER = 24
# magic: (byte order, nanoseconds per fraction, length of a record header)
FORMS: dict[bytes, tuple[Literal["<", ">"], int, int]] = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000, 16),
    b"\xa1\xb2\xc3\xd4": (">", 1000, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1, 16),
    b"\x34\xcd\xb2\xa1": ("<", 1000, 24),
    b"\xa1\xb2\xcd\x34": (">", 1000, 24),
}
MAGICS = frozenset(FORMS)
_CHAIN = 3
# What is made of the rest of a reader's state.
_MADE = frozenset({"_unpack", "_index"})
_NO_HEADER = "damage", "no record header"
_DAY = 86_400
_YEAR = 366 * _DAY
_SECOND = 1_000_000_000
# Of a NamedTuple, without the function around it.
_new = tuple.__new__
# The search goes on only when so much more has come, or the end.
_MORE = 64 * 1024


class PcapReader:
    """Eats a pcap file in pieces of any size, from its first byte."""

    def __init__(self, *, file: int, account: Account) -> None:
        self._file = file
        self._account = account
        # What is kept begins with the last record that was read, in case its length was a lie; the next one begins
        # at `_next`.
        self._rest: Content = b""
        self._next = 0
        self._previous = 0
        self._opened = False
        self._searching = False
        self._search_from = 0
        self._search_at = 0
        self._seconds = -1
        self._last_wanted = True

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _MADE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._opened:
            self._set_order(self._order)

    def feed(self, chunk: bytes) -> list[Packet]:
        """The packets that are complete with this piece."""
        data = bytes(self._rest) + chunk if self._rest else chunk
        if not self._opened and not self._open(data):
            return []
        return self._read(data, last=False)

    def finish(self) -> list[Packet]:
        """The packets that only the end of the file makes sure of; what is left is lost."""
        if not self._opened:
            self._account.lose("truncated", "the file ends inside its header", len(self._rest))
            return []
        return self._read(self._rest, last=True)

    @property
    def standing(self) -> object:
        """What it knows behind the last record; None within one, or where it looks for one."""
        if not self._opened or self._searching or self._next != len(self._rest):
            return None
        return self._order, self._fraction, self._header, self._link

    def _open(self, data: Content) -> bool:
        if len(data) < FILE_HEADER:
            self._rest = data
            return False
        self._take_header(data, 0)
        self._previous = self._next = FILE_HEADER
        self._opened = True
        return True

    def _take_header(self, data: Content, position: int) -> None:
        """From the header of the file, or of another file that was appended to it."""
        self._order, self._fraction, self._header = FORMS[bytes(data[position : position + 4])]
        major, minor, _, _, _, link = Struct(self._order + "HHIIII").unpack_from(data, position + 4)
        if major != 2:
            raise InputError(f"is a pcap file of version {major}.{minor}, which nobody writes")
        # The upper bits tell of a checksum behind each frame.
        self._link = link & 0xFFFF
        self._set_order(self._order)
        self._account.header_bytes += FILE_HEADER

    def _set_order(self, order: Literal["<", ">"]) -> None:
        self._unpack = Struct(order + "IIII").unpack_from
        self._index = Struct(order + "I").unpack_from

    def _read(self, data: Content, *, last: bool) -> list[Packet]:
        """All there is in `data`, which begins with the last record; keeps what must be looked at again."""
        packets: list[Packet] = []
        previous, position = self._previous, self._next
        why = _NO_HEADER
        while True:
            if not self._searching:
                previous, position = self._run(data, previous, position, packets)
                if self._is_appended(data, position):
                    self._take_header(data, position)
                    previous = position = position + FILE_HEADER
                    continue
                self._search_from = previous + self._header if previous < position else position + 1
                self._search_at = 0
                if not self._searching:
                    if not last or position == len(data):
                        break
                    # Either the file ends here, or the length of this record is a lie and others follow.
                    self._searching = True
                    self._search_from = position + 1
                    why = "truncated", "the file ends inside a packet"
            if len(data) < self._search_at and not last:
                break
            found, sure = self._search(data, self._search_from, last)
            if last and not sure:
                self._account.lose(*why, len(data) - position)
                previous = position = len(data)
                break
            if found > position:
                self._account.lose(*_NO_HEADER, found - position)
                position = found
            if not sure:
                self._search_from, self._search_at = found, len(data) + _MORE
                previous = min(found, position)
                break
            self._give_back(position - found)
            previous = position = found
            self._searching = False
            why = _NO_HEADER
        self._rest = data[previous:]
        self._previous = 0
        self._next = position - previous
        self._search_from -= previous
        self._search_at -= previous
        return packets

    def _run(self, data: Content, previous: int, position: int, packets: list[Packet]) -> tuple[int, int]:
        """Read records up to the end of `data`, or up to damage; where the last record began, and the next begins."""
        account, file, link, fraction, header = self._account, self._file, self._link, self._fraction, self._header
        since, until, unpack, view, end = account.since, account.until, self._unpack, memoryview(data), len(data)
        number, kept, interface, add = account.packets, 0, "", packets.append
        while position + header <= end:
            seconds, part, included, length = unpack(data, position)
            begin = position + header
            following = begin + included
            if included > LARGEST_PACKET or not (included or length):
                # What a crash leaves at the end of a file are zeros, and no packets of 1970.
                self._searching = bool(included) or not seconds
                if self._searching or self._may_be_appended(data, position):
                    break
            if following > end:
                break
            number += 1
            time = seconds * _SECOND + part * fraction
            if since <= time < until:
                if header != 16:
                    interface = str(self._index(data, position + 16)[0])
                kept += included
                length = length if length > included else included
                add(_new(Packet, (time, link, interface, view[begin:following], length, number, file)))
                self._last_wanted = True
            else:
                account.filtered += 1
                account.filtered_bytes += included
                self._last_wanted = False
            self._seconds = seconds
            previous, position = position, following
        account.header_bytes += (number - account.packets) * header
        account.packets = number
        account.packet_bytes += kept
        return previous, position

    def _may_be_appended(self, data: Content, position: int) -> bool:
        """The same, or more bytes will tell."""
        is_begun = bytes(data[position : position + 4]) in FORMS and position + FILE_HEADER > len(data)
        return is_begun or self._is_appended(data, position)

    def _is_appended(self, data: Content, position: int) -> bool:
        """Whether the header of another file stands here: captures that somebody joined with cat."""
        header = bytes(data[position : position + FILE_HEADER])
        if len(header) < FILE_HEADER or header[:4] not in FORMS:
            return False
        # Time zone and accuracy are 0 in every file; of a packet these are its lengths.
        order = FORMS[header[:4]][0]
        return header[4:16] == Struct(order + "HHII").pack(2, 4, 0, 0)

    def _search(self, data: Content, begin: int, last: bool) -> tuple[int, bool]:
        """Where the next true header begins, and whether that is sure; else from where on to search again."""
        for match in self._candidates().finditer(data, begin):
            verdict = self._is_chain(data, match.start(), last)
            if verdict is None:
                return match.start(), False
            if verdict:
                return match.start(), True
        return max(begin, len(data) - self._header + 1), False

    def _candidates(self) -> re.Pattern[bytes]:
        """Where a header may begin: a time near the last one, a fraction of a second, lengths that are small."""
        tops = range(max(0, self._seconds - _YEAR) >> 24, (min(self._seconds + _YEAR, 0xFFFFFFFF) >> 24) + 1)
        top = b"[%b]" % b"".join(b"\\x%02x" % each for each in tops) if self._seconds >= 0 else b"."
        fraction = b"[\\0-\\x0f]\\0" if self._fraction == 1000 else b".[\\0-\\x3b]"
        if self._order == "<":
            return re.compile(b"(?s)(?=.{3}%b.{2}%b.{2}[\\0-\\4]\\0.{3}\\0)" % (top, fraction))
        fraction = b"\\0[\\0-\\x0f]" if self._fraction == 1000 else b"[\\0-\\x3b]."
        return re.compile(b"(?s)(?=%b.{3}%b.{2}\\0[\\0-\\4].{2}\\0)" % (top, fraction))

    def _is_chain(self, data: Content, position: int, last: bool) -> bool | None:
        """Whether true headers follow one another from here on; None: more bytes will tell."""
        seconds, end = self._seconds, len(data)
        for count in range(_CHAIN):
            if position + self._header > end:
                return (count > 0 and position == end) if last else None
            now, part, included, length = self._unpack(data, position)
            near = seconds < 0 or abs(now - seconds) <= (_DAY if count else _YEAR)
            if not (
                near and 0 < included <= LARGEST_PACKET and 0 < length < 1 << 24 and part * self._fraction < _SECOND
            ):
                return False
            seconds = now
            position += self._header + included
        return True

    def _give_back(self, count: int) -> None:
        """The last record had eaten that many bytes of those behind it."""
        if count > 0 and self._last_wanted:
            self._account.packet_bytes -= count
        elif count > 0:
            self._account.filtered_bytes -= count
