"""Take bytes from the piece that a machine reads, or from those that it has put aside: fields, texts, records."""

import numpy as np

from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.entries import (
    CLOSING,
    START,
    begin_records,
    end_records,
    int32,
    look,
    wanted,
)
from netdiag.traffic.engine.compiled.fields import use_number, use_text
from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged
from netdiag.traffic.engine.compiled.machines import (
    ASKED,
    AT,
    BASE,
    BUFFER,
    BUFFERED,
    CARRIED,
    DEAF,
    DECLARED,
    IN_CARRY,
    IN_HEADER,
    IS_COUNTED,
    IS_CUT,
    IS_DRAINED,
    IS_LAST,
    IS_WALK,
    LEAST,
    LENGTH,
    LIMIT,
    LIMITS,
    OUTCOME,
    PC,
    RECORDS_END,
    SAVED_AT,
    SAVED_BASE,
    SAVED_LIMIT,
    SHIFT,
    SKIP,
    STAGE,
    STATUS,
)
from netdiag.traffic.engine.compiled.places import buffer
from netdiag.traffic.engine.compiled.store import RAW, Array, Store

FULL, TRUNCATED, HEADER, FAILED = range(4)
ENDLESS = 1 << 40
_LONGEST = 32_767


@inlined
def leave(s: Array) -> None:
    """Behind the carried bytes the piece goes on."""
    if s[IN_CARRY] and not s[IS_DRAINED]:
        s[AT], s[LIMIT], s[BASE] = s[SAVED_AT], s[SAVED_LIMIT], s[SAVED_BASE]
        s[IN_CARRY] = 0


@kernel
def fail(s: Array) -> None:
    """The bytes cannot be the message that they should be."""
    s[STATUS] = DEAF
    if not s[IN_HEADER]:
        s[OUTCOME] = FAILED


@kernel
def short(s: Array) -> None:
    """The bytes end here."""
    s[STATUS] = DEAF
    if not s[IN_HEADER]:
        s[OUTCOME] = TRUNCATED


@inlined
def skip(s: Array, count: int) -> None:
    leave(s)
    if s[IS_DRAINED] or s[AT] + count <= s[LIMIT]:
        s[AT] += count
    else:
        s[SKIP] = s[AT] + count - s[LIMIT]
        s[AT] = s[LIMIT]


@kernel
def gather(s: Array, carry: Array, data: Array, count: int) -> bool:
    """Put bytes of the piece behind the carried ones until they are so many."""
    taken = min(count - s[CARRIED], s[LIMIT] - s[AT])
    for index in range(taken):
        carry[s[CARRIED] + index] = data[s[AT] + index]
    s[AT] += taken
    s[CARRIED] += taken
    whole: bool = s[CARRIED] == count
    return whole


@inlined
def need(s: Array, carry: Array, data: Array, count: int) -> bool:
    leave(s)
    if s[IS_DRAINED] and not s[IS_CUT]:
        short(s)
        return True
    if s[IS_DRAINED] or (s[CARRIED] == 0 and s[AT] + count <= s[LIMIT]):
        s[PC] += 1
        return True
    if not gather(s, carry, data, count):
        return False
    s[SAVED_AT], s[SAVED_LIMIT], s[SAVED_BASE] = s[AT], s[LIMIT], s[BASE]
    s[BASE] += s[AT] - count
    s[AT], s[LIMIT], s[CARRIED], s[IN_CARRY] = 0, count, 0, 1
    s[PC] += 1
    return True


@inlined
def varint(s: Array, data: Array, less: int) -> bool:
    """The rest of a varint behind its first byte."""
    if s[SHIFT] == 0:
        if s[LENGTH] < 128:
            s[LENGTH] -= less
            s[PC] += 1
            return True
        s[LENGTH] &= 127
        s[SHIFT] = 7
    while s[SHIFT] < 35:
        if s[AT] >= s[LIMIT]:
            if s[IS_DRAINED]:
                short(s)
            return False
        byte = np.int64(data[s[AT]])
        s[AT] += 1
        s[LENGTH] |= (byte & 127) << s[SHIFT]
        s[SHIFT] += 7
        if byte < 128:
            if s[LENGTH] > 0xFFFFFFFF and not s[IN_HEADER]:
                break
            s[LENGTH] -= less
            s[SHIFT] = 0
            s[PC] += 1
            return True
    fail(s)
    return True


@inlined
def read_text(store: Store, s: Array, data: Array, compact: int, action: int, operand: int) -> bool:
    length = s[LENGTH]
    if length < 0:
        if length < -1 and not compact & 1:
            fail(s)
            return True
        s[PC] += 1
        _use_text(store, s, compact, action, operand, data, 0, -1)
        return True
    beyond = s[BASE] + s[AT] - s[BUFFERED] + length > s[DECLARED]
    if s[IS_WALK]:
        if length > _LONGEST:
            fail(s)
            return True
    elif beyond:
        fail(s)
        return True
    if s[BUFFERED] == 0 and s[AT] + length <= s[LIMIT]:
        _use_text(store, s, compact, action, operand, data, s[AT], length)
        s[AT] += length
        s[PC] += 1
        return True
    if s[IS_DRAINED]:
        short(s)
        return True
    taken = min(length - s[BUFFERED], s[LIMIT] - s[AT])
    buffer(store, s, data, s[AT], taken)
    s[AT] += taken
    if s[BUFFERED] < length:
        return False
    _use_text(store, s, compact, action, operand, store.raw, s[BUFFER], length)
    if s[LIMITS + RAW] == store.counts[RAW]:
        store.counts[RAW] = s[BUFFER]
        s[LIMITS + RAW] = s[BUFFER]
    else:
        s[BUFFER] = s[LIMITS + RAW]
    s[BUFFERED] = 0
    s[PC] += 1
    return True


@inlined
def _use_text(store: Store, s: Array, flags: int, action: int, operand: int, data: Array, at: int, length: int) -> None:
    use_text(store, s, action, operand, data, at, length)
    if flags & 2:
        use_text(store, s, do.GROUP, 0, data, at, length)


@kernel
def numbers(store: Store, s: Array, carry: Array, data: Array, action: int) -> bool:
    """Numbers that are rows by themselves: as many as are there."""
    while s[LENGTH] > 0:
        if s[IS_DRAINED]:
            s[AT] += 4 * s[LENGTH]
            break
        if s[CARRIED] == 0 and s[AT] + 4 <= s[LIMIT]:
            use_number(store, s, action, 0, int32(data, s[AT]))
            s[AT] += 4
        else:
            if not gather(s, carry, data, 4):
                return False
            s[CARRIED] = 0
            use_number(store, s, action, 0, int32(carry, 0))
        s[LENGTH] -= 1
    s[PC] += 1
    return True


@kernel
def records(store: Store, s: Array, compact: int, least: int, has_row: int) -> None:
    """The records of a partition: what is told of them is known before their last byte is there."""
    size = s[LENGTH]
    position = s[BASE] + s[AT]
    if size < -1 and not compact:
        fail(s)
        return
    size = max(0, size)
    if s[IS_WALK] and position + size > s[DECLARED]:
        fail(s)
        return
    begin_records(store, s, size, position, has_row != 0)
    s[LEAST] = least if size or s[IS_WALK] else -ENDLESS
    s[PC] += 1


@merged
def entries(store: Store, s: Array, carry: Array, data: Array, tells: int) -> bool:
    """The batches, one after the other, then what is left of the records."""
    while s[SKIP] == 0:
        start = s[BASE] + s[AT] - (0 if s[IS_DRAINED] else s[CARRIED])
        left = s[RECORDS_END] - start
        if left <= 0 or s[STAGE] == CLOSING:
            _close_records(store, s)
            return True
        want = min(left, s[STAGE] if s[STAGE] else START)
        source, at = carry, 0
        if s[IS_DRAINED]:
            at = min(s[AT], s[LIMIT])
            want = s[LIMIT] - at
        else:
            s[ASKED] = start + want
            if s[CARRIED] == 0 and s[AT] + want <= s[LIMIT]:
                source, at = data, s[AT]
            elif not gather(s, carry, data, want):
                return False
            if s[STAGE] == 0 and want == START:
                s[STAGE] = wanted(source, at)
                if s[STAGE] > START and left > START:
                    continue
            s[STAGE] = 0
            s[AT] -= s[CARRIED]
            s[CARRIED] = 0
        _entry(store, s, source, at, want, left, tells)
    return True


@inlined
def _entry(store: Store, s: Array, data: Array, at: int, kept: int, left: int, tells: int) -> None:
    size = look(store, s, data, at, kept, left, tells != 0)
    s[ASKED] = s[BASE] + s[AT] + (min(size, left) if size else left)
    if size == 0:
        s[STAGE] = CLOSING
    step = min(size, left) if size else left
    skip(s, step)


@kernel
def _close_records(store: Store, s: Array) -> None:
    """Behind the records."""
    end_records(store, s)
    s[STAGE] = 0
    s[IS_LAST] = s[DECLARED] - s[RECORDS_END] < s[LEAST]
    s[IS_COUNTED] |= s[IS_LAST]
    s[PC] += 1
    if not s[IS_WALK] and s[AT] > s[LIMIT]:
        if s[BASE] + s[AT] > s[DECLARED]:
            fail(s)
        else:
            short(s)
