"""Where a capture of any size can be cut, so that its parts are read on their own.

A boundary is where a chain of headers leads that is longer than what one packet can hold: a topic may carry captures,
so a shorter chain may lie inside of a packet, and its first header may be none. And still it is a guess: a part is
good only when the one before it ends where it begins, knowing the same (see `CaptureReader.standing`); else it must be
read on from there. Compressed streams and what is no capture are one part.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Protocol

from netdiag.traffic.engine import pcap, pcapng
from netdiag.traffic.engine.account import LARGEST_PACKET

# So far is looked for a boundary, and so much of it is read at a time.
_FARTHEST = 4 * 1024 * 1024
_WINDOW = 512 * 1024
# So often a boundary may not be found before the rest of the file is one part.
_MOST_FAILURES = 8
_MOST_WINDOWS = 12
# Sections with more descriptions of interfaces are not split.
_LONGEST_CONTEXT = 1024 * 1024
_LONGEST_FRAME = 1 << 24
_SECOND = 1_000_000_000
_SECTION, _INTERFACE, _ENHANCED = 0x0A0D0D0A, 1, 6
_PACKETS = frozenset((2, 3, 6))


class Content(Protocol):
    """A file that can be read anywhere; `read` gives fewer bytes at its end only."""

    @property
    def size(self) -> int: ...

    def read(self, at: int, count: int) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The bytes from `begin` to before `end`; a reader eats `context` first, which is no part of the account."""

    begin: int
    end: int
    context: bytes


def parts(content: Content, size: int) -> tuple[Part, ...]:
    """The file in parts of about `size` bytes, in order, without a gap."""
    context, chain = _form(content)
    begins, at, failures = [0], max(size, 1), 0
    while chain is not None and at < content.size and failures < _MOST_FAILURES:
        found = chain.boundary(content, at)
        if found is None:
            # Damage, or nearly the end: this part is longer.
            failures += 1
            at += max(_FARTHEST, size)
        else:
            begins.append(found)
            at = found + max(size, 1)
    ends = [*begins[1:], content.size]
    return tuple(
        Part(begin=begin, end=end, context=context if begin else b"") for begin, end in zip(begins, ends, strict=True)
    )


def _form(content: Content) -> tuple[bytes, "_Chain | None"]:
    """What parts have to know, and how their headers follow one another."""
    begun = content.read(0, pcap.FILE_HEADER)
    if begun[:4] in pcap.MAGICS and len(begun) == pcap.FILE_HEADER:
        return begun, _Records(begun)
    if begun[:4] == pcapng.MAGIC:
        context = _described(content)
        if context:
            return context, _Blocks(context)
    return b"", None


def _described(content: Content) -> bytes:
    """The header of the section and its interfaces, which stand before the first packet; else nothing."""
    data = content.read(0, _LONGEST_CONTEXT)
    order = pcapng.ORDERS.get(data[8:12])
    if order is None:
        return b""
    head, found, position = Struct(order + "II").unpack_from, b"", 0
    while position + 12 <= len(data):
        kind, length = head(data, position)
        if kind in _PACKETS:
            return found
        if length < 12 or length % 4 or position + length > len(data) or (kind == _SECTION and position):
            return b""
        if kind in (_SECTION, _INTERFACE):
            found += data[position : position + length]
        position += length
    return b""


class _Chain:
    """Looks for a boundary; `follows` says how headers follow one another."""

    proof: int
    header: int

    def candidates(self, data: bytes, at: int) -> Iterator[int]:
        """Where in the data a header may begin that is known to lie at `at` of the file."""
        raise NotImplementedError

    def follows(self, content: "_Windows", at: int) -> int | None:
        """Where the next header is, when one begins here; None: none begins here."""
        raise NotImplementedError

    def boundary(self, content: Content, at: int) -> int | None:
        """Where a chain that begins near `at` leads to; None where there is none."""
        windows = _Windows(content)
        # Whoever comes to a place that leads nowhere leads nowhere, so each is gone to once.
        lost: set[int] = set()
        for begin in range(at, min(at + _FARTHEST, content.size), _WINDOW):
            data = content.read(begin, _WINDOW + self.header - 1)
            for offset in self.candidates(data, begin):
                found = self._led_to(windows, begin + offset, lost)
                if found is not None:
                    return found
        return None

    def _led_to(self, windows: "_Windows", begin: int, lost: set[int]) -> int | None:
        passed: list[int] = []
        at = begin
        while at not in lost:
            following = self.follows(windows, at)
            if following is None:
                break
            if at - begin > self.proof and self.may_begin(windows, at):
                return at
            passed.append(at)
            at = following
        lost.update(passed)
        return None

    def may_begin(self, content: "_Windows", at: int) -> bool:
        """Whether a part may begin with this header."""
        raise NotImplementedError


class _Records(_Chain):
    """The records of a pcap file."""

    def __init__(self, begun: bytes) -> None:
        order, self._fraction, self.header = pcap.FORMS[begun[:4]]
        snaplen = Struct(order + "I").unpack_from(begun, 16)[0]
        self.proof = max(min(snaplen, _LONGEST_FRAME), LARGEST_PACKET) + self.header
        self._unpack = Struct(order + "IIII").unpack_from
        fraction = b"[\\0-\\x0f]\\0" if self._fraction == 1000 else b".[\\0-\\x3b]"
        self._pattern = re.compile(b"(?s)(?=.{6}%b.{2}[\\0-\\4]\\0.{3}\\0)" % fraction)
        if order == ">":
            fraction = b"\\0[\\0-\\x0f]" if self._fraction == 1000 else b"[\\0-\\x3b]."
            self._pattern = re.compile(b"(?s)(?=.{4}%b.{2}\\0[\\0-\\4].{2}\\0)" % fraction)

    def candidates(self, data: bytes, at: int) -> Iterator[int]:
        return (match.start() for match in self._pattern.finditer(data))

    def follows(self, content: "_Windows", at: int) -> int | None:
        data, position = content.at(at, 16)
        if position + 16 > len(data):
            return None
        _, part, included, length = self._unpack(data, position)
        if not 0 < included <= LARGEST_PACKET or not 0 < length < _LONGEST_FRAME or part * self._fraction >= _SECOND:
            return None
        return at + self.header + int(included)

    def may_begin(self, content: "_Windows", at: int) -> bool:
        return True


class _Blocks(_Chain):
    """The blocks of a section of a pcapng file; a part begins with a packet."""

    proof = pcapng.LARGEST_KEPT
    header = 12

    def __init__(self, context: bytes) -> None:
        order = pcapng.ORDERS[context[8:12]]
        self._head = Struct(order + "II").unpack_from
        self._tail = Struct(order + "I").unpack_from
        self._kind = Struct(order + "I").pack(_ENHANCED)

    def candidates(self, data: bytes, at: int) -> Iterator[int]:
        found = data.find(self._kind)
        while found >= 0:
            if (at + found) % 4 == 0:
                yield found
            found = data.find(self._kind, found + 1)

    def follows(self, content: "_Windows", at: int) -> int | None:
        data, position = content.at(at, 12)
        if position + 12 > len(data):
            return None
        kind, length = self._head(data, position)
        if length % 4 or not 12 <= length <= pcapng.LARGEST_KEPT or kind == _SECTION:
            return None
        data, position = content.at(at + length - 4, 4)
        if position + 4 > len(data) or self._tail(data, position)[0] != length:
            return None
        return at + int(length)

    def may_begin(self, content: "_Windows", at: int) -> bool:
        data, position = content.at(at, 4)
        return data[position : position + 4] == self._kind


class _Windows:
    """Small pieces of a file, read in large ones, the last few of which are kept."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def at(self, place: int, count: int) -> tuple[bytes, int]:
        """Bytes, and where in them `place` is; `count` follow, at most 32, unless the file ends."""
        number, position = divmod(place, _WINDOW)
        if number not in self._kept:
            self._kept[number] = self._content.read(number * _WINDOW, _WINDOW + 32)
            if len(self._kept) > _MOST_WINDOWS:
                self._kept.popitem(last=False)
        return self._kept[number], position
