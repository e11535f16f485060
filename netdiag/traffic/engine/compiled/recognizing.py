"""Pairs of short messages that come again and again, known by their bytes: clients ask for the same metadata in turn.

What Python has read of such a pair once is copied for each further one, without the lock of the interpreter.
"""

import secrets
from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.compiled.arenas import Numbers, Store
from netdiag.traffic.engine.compiled.copying import copy
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import FACTS, NOTHING

MOST = 256
"""So many pairs are known."""
LARGEST = 4096
"""Longer messages are not."""
# Of a request: its key, its version and its correlation id, with which a response begins.
_HEAD, _ID = 8, 4
# Instead of the size of a message: it is none, or a record that says all.
_NONE, _RECORD = -2, -1
ODD, UNKNOWN, ALL = range(3)
"""Why the kernel came back: a pair that cannot be known again, one that is not known yet, no more pairs."""
_COUNT, _USED, _SEED, FACTS_USED = range(4)
_PRIME = 0x100000001B3

_PART = np.dtype([("begin", "i8"), ("kept", "i4"), ("declared", "i4"), ("key", "i4"), ("says", "i4")], align=True)
_KNOWN = np.dtype([("hash", "u8"), ("asked", _PART), ("answer", _PART)], align=True)


class Shapes(NamedTuple):
    """Known pairs: by hash, as records, the bytes of them, what was read of them.

    `counts`: how many, how many bytes, the start of the hash, and how many records were used beside the store.
    """

    slots: Numbers
    known: Numbers
    data: Numbers
    told: Numbers
    counts: Numbers


def new_shapes() -> Shapes:
    """None is known yet."""
    return Shapes(
        slots=np.full(4 * MOST, NOTHING, np.int32),
        known=np.zeros(MOST, _KNOWN),
        data=np.empty(1 << 14, np.uint8),
        told=np.zeros(2 * MOST, FACTS),
        counts=np.array([0, 0, secrets.randbits(62), 0], np.int64),
    )


def clear(shapes: Shapes) -> None:
    """Forget all of them."""
    shapes.slots[:] = NOTHING
    shapes.counts[[_COUNT, _USED]] = 0


def learned(shapes: Shapes, store: Store, pair: tuple[int, int], numbers: tuple[int, int], side: Numbers) -> Shapes:
    """With a pair that was UNKNOWN; its `numbers` among the records beside the store are below NOTHING."""
    if shapes.counts[_COUNT] == MOST:
        clear(shapes)
    if shapes.counts[_USED] + 2 * LARGEST > len(shapes.data):
        shapes = shapes._replace(data=np.concatenate([shapes.data, np.empty_like(shapes.data)]))
    _learn(shapes, store.facts, store.raw, *pair, *numbers, side)
    return shapes


@kernel
def recognize(
    pairs: Numbers, places: Numbers, first: int, facts: Numbers, raw: Numbers, shapes: Shapes, side: Numbers
) -> Any:
    """Give the known among the pairs at these places records beside the store; there is room for two for each.

    Gives (why it ends, which of the places is next).
    """
    for at in range(first, len(places)):
        pair = pairs[places[at]]
        if not _may_be_known(facts, raw, pair.asked, pair.answer):
            return ODD, at
        slot = _slot(shapes, facts, raw, pair.asked, pair.answer)
        number = shapes.slots[slot]
        if number == NOTHING:
            return UNKNOWN, at
        known = shapes.known[number]
        if known.asked.says:
            pair.asked = _told(shapes, 2 * number, facts[pair.asked], side)
        if known.answer.says:
            pair.answer = _told(shapes, 2 * number + 1, facts[pair.answer], side)
    return ALL, len(places)


@kernel
def _told(shapes: Shapes, number: int, message: Any, side: Numbers) -> int:
    """The number of a record that says what is known, of this message."""
    used = shapes.counts[FACTS_USED]
    side[used] = shapes.told[number]
    record = side[used]
    record.start_time = message.start_time
    record.end_time = message.end_time
    record.start_number = message.start_number
    record.end_number = message.end_number
    record.file = message.file
    record.correlation_id = message.correlation_id
    shapes.counts[FACTS_USED] = used + 1
    return NOTHING - 1 - used  # type: ignore[no-any-return]


@kernel
def _may_be_known(facts: Numbers, raw: Numbers, asked: int, answer: int) -> Any:
    """Whether both messages lie in the store, and those that were kept are short."""
    if asked < 0 or answer < NOTHING:
        return False
    return _is_short(facts[asked], raw, _HEAD) and (answer == NOTHING or _is_short(facts[answer], raw, _ID))


@kernel
def _is_short(message: Any, raw: Numbers, least: int) -> Any:
    if message.raw == NOTHING:
        return True
    begin, size = np.int64(message.raw), np.int64(message.raw_size)
    return least <= size <= LARGEST and 0 <= begin <= len(raw) - size


@kernel
def _slot(shapes: Shapes, facts: Numbers, raw: Numbers, asked: int, answer: int) -> Any:
    """Where a pair is, or would be."""
    told = _hash(shapes.counts[_SEED], facts, raw, asked, answer)
    slot = np.int64((told ^ (told >> np.uint64(32))) & np.uint64(len(shapes.slots) - 1))
    while shapes.slots[slot] != NOTHING:
        known = shapes.known[shapes.slots[slot]]
        if (
            known.hash == told
            and _is_same_request(shapes.data, known.asked, facts[asked], raw)
            and _is_same_response(shapes.data, known.answer, facts, answer, raw)
        ):
            break
        slot = (slot + 1) & (len(shapes.slots) - 1)
    return slot


@kernel
def _hash(seed: Any, facts: Numbers, raw: Numbers, asked: int, answer: int) -> Any:
    told = np.uint64(seed)
    request = facts[asked]
    if request.raw == NOTHING:
        told = (told ^ np.uint64(_key(request))) * np.uint64(_PRIME)
    else:
        # Without the correlation id.
        told = _hashed(told, raw, request.raw, _HEAD - _ID)
        told = _hashed(told, raw, request.raw + _HEAD, request.raw_size - _HEAD)
    if answer != NOTHING and facts[answer].raw != NOTHING:
        told = _hashed(told, raw, facts[answer].raw + _ID, facts[answer].raw_size - _ID)
    return told


@kernel
def _hashed(told: Any, data: Numbers, begin: int, size: int) -> Any:
    for index in range(begin, begin + size):
        told = (told ^ np.uint64(data[index])) * np.uint64(_PRIME)
    return told


@kernel
def _key(message: Any) -> Any:
    return (np.int64(message.api_key) << 16) | (np.int64(message.api_version) & 0xFFFF)


@kernel
def _is_same_request(data: Numbers, part: Any, message: Any, raw: Numbers) -> Any:
    if message.raw == NOTHING:
        # Its record says all but what the response is read by.
        return part.kept == _RECORD and part.key == _key(message)
    if part.kept != message.raw_size or part.declared != message.size:
        return False
    if not _is_same(data, part.begin, raw, message.raw, _HEAD - _ID):
        return False
    return _is_same(data, part.begin + _HEAD, raw, message.raw + _HEAD, message.raw_size - _HEAD)


@kernel
def _is_same_response(data: Numbers, part: Any, facts: Numbers, answer: int, raw: Numbers) -> Any:
    if answer == NOTHING:
        return part.kept == _NONE
    message = facts[answer]
    if message.raw == NOTHING:
        return part.kept == _RECORD
    if part.kept != message.raw_size or part.declared != message.size:
        return False
    return _is_same(data, part.begin + _ID, raw, message.raw + _ID, message.raw_size - _ID)


@kernel
def _is_same(one: Numbers, at: int, other: Numbers, begin: int, size: int) -> Any:
    index = 0
    while index < size and one[at + index] == other[begin + index]:
        index += 1
    return index == size


@kernel
def _learn(
    shapes: Shapes, facts: Numbers, raw: Numbers, asked: int, answer: int, asks: int, says: int, side: Numbers
) -> None:
    slot = _slot(shapes, facts, raw, asked, answer)
    number = shapes.counts[_COUNT]
    known = shapes.known[number]
    known.hash = _hash(shapes.counts[_SEED], facts, raw, asked, answer)
    _keep(shapes, known.asked, facts[asked], raw, 2 * number, asks, side)
    if answer == NOTHING:
        known.answer.kept = _NONE
        known.answer.says = 0
    else:
        _keep(shapes, known.answer, facts[answer], raw, 2 * number + 1, says, side)
    shapes.slots[slot] = number
    shapes.counts[_COUNT] = number + 1


@kernel
def _keep(shapes: Shapes, part: Any, message: Any, raw: Numbers, place: int, told: int, side: Numbers) -> None:
    part.key = _key(message)
    part.declared = message.size
    part.begin = shapes.counts[_USED]
    part.kept = _RECORD
    if message.raw != NOTHING:
        part.kept = message.raw_size
        copy(shapes.data, part.begin, raw, message.raw, message.raw_size)
        shapes.counts[_USED] += message.raw_size
    part.says = told < NOTHING
    if part.says:
        shapes.told[place] = side[NOTHING - 1 - told]
