"""Read what a consumer hides in the bytes of JoinGroup and SyncGroup: its subscription and its assignment.

Source: ConsumerProtocolSubscription.json, ConsumerProtocolAssignment.json (versions 0-3; newer ones begin alike). Other
clients of the group protocol (Connect, schema registries) put other things there, so what is not plainly a consumer's
gives nothing. A message that the capture cut gives what is there.
"""

from contextlib import suppress
from struct import Struct

_VERSION_AND_COUNT = Struct(">hi").unpack_from
_INT32 = Struct(">i").unpack_from
_INT16 = Struct(">h").unpack_from
_NEWEST = 10
_LONGEST_TOPIC = 249

Owned = list[tuple[str | bytes, int]]


class _NotThis(Exception):
    """The bytes are something else."""


def subscription(data: bytes, start: int, end: int, kept: int) -> tuple[list[str], Owned] | None:
    """Topics and owned partitions of a ConsumerProtocolSubscription between two positions.

    Some clients write a version and not all that belongs to it: the topics count by themselves.
    """
    stop = min(end, kept)
    topics: list[str] = []
    owned: Owned = []
    try:
        version, count, at = _begin(data, start, end, stop)
        for _ in range(count):
            topic, at = _topic(data, at, end, stop)
            topics.append(topic)
    except _NotThis:
        return None
    except IndexError:
        return topics, owned
    if version >= 1:
        with suppress(_NotThis, IndexError):
            _partitions(data, _behind_bytes(data, at, end, stop), end, stop, owned)
    return topics, owned


def assignment(data: bytes, start: int, end: int, kept: int) -> Owned | None:
    """The partitions of a ConsumerProtocolAssignment between two positions; nothing at all is an empty one."""
    if start == end:
        return []
    stop = min(end, kept)
    assigned: Owned = []
    try:
        _, _, at = _begin(data, start, end, stop)
        at = _partitions(data, at - 4, end, stop, assigned)
        _behind_bytes(data, at, end, stop)
    except _NotThis:
        return None
    except IndexError:
        pass
    return assigned


def _begin(data: bytes, start: int, end: int, stop: int) -> tuple[int, int, int]:
    if start + 6 > stop:
        raise (_NotThis if stop == end else IndexError)
    version, count = _VERSION_AND_COUNT(data, start)
    if not 0 <= version <= _NEWEST or not 0 <= count * 2 <= end - start - 6:
        raise _NotThis
    return version, count, start + 6


def _topic(data: bytes, at: int, end: int, stop: int) -> tuple[str, int]:
    if at + 2 > stop:
        raise (_NotThis if stop == end else IndexError)
    length: int = _INT16(data, at)[0]
    following = at + 2 + length
    if not 0 < length <= _LONGEST_TOPIC or following > end:
        raise _NotThis
    if following > stop:
        raise IndexError
    try:
        return data[at + 2 : following].decode("ascii"), following
    except UnicodeDecodeError:
        raise _NotThis from None


def _behind_bytes(data: bytes, at: int, end: int, stop: int) -> int:
    """Where nullable bytes end."""
    if at + 4 > stop:
        raise (_NotThis if stop == end else IndexError)
    length: int = _INT32(data, at)[0]
    following = at + 4 + max(0, length)
    if following > end:
        raise _NotThis
    return following


def _partitions(data: bytes, at: int, end: int, stop: int, out: Owned) -> int:
    """An array of (topic, partitions)."""
    count, at = _count(data, at, end, stop, 6)
    for _ in range(count):
        topic, at = _topic(data, at, end, stop)
        numbers, at = _count(data, at, end, stop, 4)
        for _ in range(numbers):
            if at + 4 > stop:
                raise IndexError
            out.append((topic, _INT32(data, at)[0]))
            at += 4
    return at


def _count(data: bytes, at: int, end: int, stop: int, least: int) -> tuple[int, int]:
    if at + 4 > stop:
        raise (_NotThis if stop == end else IndexError)
    count: int = _INT32(data, at)[0]
    if not 0 <= count * least <= end - at - 4:
        raise _NotThis
    return count, at + 4
