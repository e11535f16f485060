"""Read a message that is there as a whole in one go, as the machine would: by the programs of `quickening`.

Nothing that could be unusual is decided here: what does not fit, tagged fields, old or cut batches leave the message to
the machine, which then reads it from the beginning. Every place is looked at before it is read, and a step that adds
to an arena or to the texts has made sure of room.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled import machines as reg
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled import quickening as quick
from netdiag.traffic.engine.compiled.endings import close_whole
from netdiag.traffic.engine.compiled.entries import HEADER, begin_records, end_records, tell_batch
from netdiag.traffic.engine.compiled.fields import open_row, use_number, use_text, use_topic_id
from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.machines import COUNTS, DEPTH, LIMITS, MESSAGE
from netdiag.traffic.engine.compiled.places import RANGES
from netdiag.traffic.engine.compiled.store import MARGIN, Array, Store, has_room
from netdiag.traffic.engine.compiled.strings import LONGEST_ADDED
from netdiag.traffic.engine.compiled.taking import ENDLESS

_ROOM = MARGIN - 8
_LEFT = reg.DONE
"""In place of what the machine says there: how many steps may still add something before somebody looks for room."""
_ID = 16
_MAGIC = 16
_CONTROL = 32


@merged
def read_whole(store: Store, s: Array, code: Array, program: Any, m: Any, data: Array, begin: Any, end: Any) -> Any:
    """Read message `m` from `begin` to `end`; False where that is for the machine, and what was told is void."""
    _start(store, s, m)
    pc, at = np.int64(program), np.int64(begin)
    value: Any = np.int64(0)
    length, level = np.int64(0), np.int64(0)
    while True:
        place = np.uint64(pc) * np.uint64(quick.SIZE)
        step, kind = code[place], code[place + np.uint64(2)]
        a, b, c = _operand(code, place, 4), _operand(code, place, 5), _operand(code, place, 6)
        at += _operand(code, place, 1)
        pc += 1
        if kind != quick.NO_NUMBER:
            at, value = _read(data, at, end, kind, _operand(code, place, 3))
            if at < 0:
                return False
        if step == quick.QUICK_TAGS:
            if value:
                return False
            if a >= 0:
                pc, level = _next_round(s, pc, level, a)
        elif step == quick.QUICK_NUMBER:
            use_number(store, s, a, b, value)
        elif step == quick.QUICK_ARRAY:
            if value < -1 or level >= DEPTH or value * b > end - at:
                return False
            length = value
            if value <= 0:
                pc = c
            elif not a & 2:
                s[COUNTS + level] = value
                level += 1
        elif step == quick.QUICK_AGAIN:
            pc, level = _next_round(s, pc, level, a)
        elif step == quick.QUICK_END:
            if at > end:
                return False
            s[reg.SUMS] = a
            close_whole(store, s)
            return True
        elif step <= quick.QUICK_RECORDS:
            if value < -1 or at + value > end:
                return False
            if step == quick.QUICK_TEXT and not _text(store, s, data, at, value, a, b, c):
                return False
            if step == quick.QUICK_RECORDS and not _records(store, s, data, at, max(0, value), b, c):
                return False
            at += max(0, value)
        elif step == quick.QUICK_JUMP_BELOW:
            if value < 0:
                pc = a
        else:
            at = _other(store, s, data, at, end, step, a, length * a - b)
            if at < 0:
                return False


@inlined
def _other(store: Store, s: Array, data: Array, at: Any, end: Any, step: Any, a: Any, many: Any) -> Any:
    """What is rare; gives where the next step reads, below 0 where that is for the machine."""
    if step == quick.QUICK_MANY:
        return at + many
    if step == quick.QUICK_CLOSE:
        s[reg.ROW] = -1
        return at
    if step == quick.QUICK_STEP:
        return at
    if step == quick.QUICK_LEAVE or at + _ID > end or not _may_add(store, s):
        return np.int64(-1)
    if step == quick.QUICK_OPEN:
        open_row(store, s, a, ENDLESS)
        return at
    use_topic_id(store, s, data, at)
    return at + _ID


@inlined
def _next_round(s: Array, pc: Any, level: Any, again: Any) -> Any:
    """The step that comes now, and how many arrays are open."""
    s[COUNTS + level - 1] -= 1
    if s[COUNTS + level - 1] > 0:
        return again, level
    return pc, level - 1


@inlined
def _may_add(store: Store, s: Array) -> Any:
    """Whether a step may add a row, a topic, and a text or id."""
    s[_LEFT] -= 1
    if s[_LEFT] < 0:
        if not has_room(store):
            return False
        s[_LEFT] = _ROOM
    return True


@inlined
def _text(store: Store, s: Array, data: Array, at: Any, length: Any, flags: Any, action: Any, operand: Any) -> Any:
    strings = store.strings
    if strings.bounds[strings.counts[0]] + LONGEST_ADDED * length > len(strings.data) or not _may_add(store, s):
        return False
    use_text(store, s, action, operand, data, at, length)
    if flags & 2:
        use_text(store, s, do.GROUP, 0, data, at, length)
    return True


@inlined
def _start(store: Store, s: Array, m: Any) -> None:
    s[MESSAGE] = m
    s[reg.TOPIC] = s[reg.GROUP] = NOTHING
    s[reg.ROW] = -1
    s[reg.IS_REQUEST] = store.facts[m].is_request
    s[reg.API_KEY] = store.facts[m].api_key
    s[reg.IS_WALK] = 0
    s[_LEFT] = _ROOM
    for arena in range(5):
        count = store.counts[arena]
        s[LIMITS + arena] = count
        store.facts_words[m, RANGES + 2 * arena] = count
        store.facts_words[m, RANGES + 2 * arena + 1] = count


@inlined
def _operand(code: Array, place: Any, index: Any) -> Any:
    return np.int64(code[place + np.uint64(index)])


@inlined
def _byte(data: Array, at: Any) -> Any:
    return np.int64(data[np.uint64(at)])


@inlined
def _half(data: Array, at: Any) -> Any:
    return _byte(data, at) << 8 | _byte(data, at + 1)


@inlined
def _word(data: Array, at: Any) -> Any:
    return np.int64(np.int32(_half(data, at) << 16 | _half(data, at + 2)))


@inlined
def _read(data: Array, at: Any, end: Any, kind: Any, size: Any) -> Any:
    """Where what follows a number begins, below 0 where it is not all there; and the number."""
    if at + size > end:
        return np.int64(-1), np.int64(0)
    value = _number(data, at, kind)
    at += size
    if kind >= quick.VARINT and value > 127:
        at, value = _rest_of_varint(data, at, end, value)
    if kind == quick.COMPACT:
        value -= 1
    return at, value


@inlined
def _number(data: Array, at: Any, kind: Any) -> Any:
    """A number whose bytes are there; of a varint the first."""
    if kind >= quick.VARINT or kind == do.UINT8:
        return _byte(data, at)
    if kind == do.INT16:
        return np.int64(np.int16(_half(data, at)))
    if kind == do.INT32:
        return _word(data, at)
    if kind == do.INT64:
        return _word(data, at) << 32 | (_word(data, at + 4) & 0xFFFFFFFF)
    if kind == do.BOOL:
        return np.int64(_byte(data, at) != 0)
    if kind == do.INT8:
        return np.int64(np.int8(_byte(data, at)))
    if kind == do.UINT16:
        return _half(data, at)
    if kind == do.UINT32:
        return _word(data, at) & 0xFFFFFFFF
    return np.int64(0)


@inlined
def _rest_of_varint(data: Array, at: Any, end: Any, first: Any) -> Any:
    """Where a varint ends, and what it is; below 0 where it is long, or does not end."""
    value = first & 127
    for shift in (7, 14, 21):
        if at >= end:
            break
        byte = _byte(data, at)
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return at, value
    return np.int64(-1), value


@inlined
def _records(store: Store, s: Array, data: Array, begin: Any, size: Any, tells: Any, has_row: Any) -> Any:
    """Count the records of a partition; False where that needs a closer look."""
    if tells or has_row:
        return _told(store, s, data, begin, size, tells, has_row)
    facts = store.facts[s[MESSAGE]]
    at, end, count = begin, begin + size, np.int64(0)
    while at < end:
        left = end - at
        if left < HEADER or _byte(data, at + _MAGIC) != 2:
            return False
        length, records = _word(data, at + 8), _word(data, at + 57)
        if length < HEADER - 12 or records < 0 or _word(data, at + 23) < 0:
            return False
        if 12 + length <= left and not _byte(data, at + 22) & _CONTROL:
            count += records
        at += 12 + length
    facts.record_bytes += size
    facts.records += count
    return True


@kernel
def _told(store: Store, s: Array, data: Array, begin: Any, size: Any, tells: Any, has_row: Any) -> Any:
    """The same where rows tell of it."""
    begin_records(store, s, size, 0, has_row != 0)
    at, end = begin, begin + size
    while at < end:
        left = end - at
        if left < HEADER or data[at + _MAGIC] != 2 or not has_room(store):
            return False
        step = tell_batch(store, s, data, at, left, tells != 0)
        if not step:
            return False
        at += step
    end_records(store, s)
    return True
