"""Take the steps of a program as far as the bytes go.

Whatever a step wants, it either has it as a whole or leaves the machine as it was, but for the bytes put aside. Of a
message of which no more is to come (`IS_DRAINED`), what is missing ends it. No byte is read beyond LIMIT, no loop
goes on without reading one.
"""

import numpy as np

from netdiag.traffic.engine.bodies.steps import MOST_ROWS
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.entries import int32, int64
from netdiag.traffic.engine.compiled.fields import open_row, use_number, use_topic_id
from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged
from netdiag.traffic.engine.compiled.machines import (
    AT,
    BASE,
    COUNTS,
    DEAF,
    DECLARED,
    ENDS,
    IN_CARRY,
    IN_HEADER,
    IS_REQUEST,
    IS_WALK,
    KEPT,
    LENGTH,
    LEVEL,
    LIMIT,
    OUTCOME,
    PC,
    READING,
    ROW,
    SKIP,
    STATUS,
    SUMS,
    TAG,
    VALUE,
    Machines,
)
from netdiag.traffic.engine.compiled.store import Array, Store
from netdiag.traffic.engine.compiled.taking import (
    ENDLESS,
    FAILED,
    FULL,
    TRUNCATED,
    entries,
    fail,
    leave,
    need,
    numbers,
    read_text,
    records,
    short,
    skip,
    varint,
)
from netdiag.traffic.engine.frames import WALK_HEAD

_SIZES = do.KIND_SIZES


@merged
def run(store: Store, machines: Machines, s: Array, d: int, code: Array, data: Array) -> None:
    """Go on until the bytes are used up or the message is read."""
    carry = machines.carry[d]
    going = True
    while going and s[STATUS] == READING and s[SKIP] == 0:
        at = s[PC] * do.SIZE
        step, a, b, c = code[at], code[at + 1], code[at + 2], code[at + 3]
        source = carry if s[IN_CARRY] else data
        if step == do.READ:
            _read(store, s, source, a, b, c)
        elif step == do.NEED:
            going = need(s, carry, data, a)
        elif step == do.STEP:
            s[AT] += a
            s[PC] += 1
        elif step == do.DO:
            use_number(store, s, b, c, s[VALUE])
            s[PC] += 1
        elif step == do.AGAIN or step == do.ARRAY or step == do.TAGS:
            _loop(s, step, a, b, c)
        elif step == do.VARINT:
            leave(s)
            going = varint(s, carry if s[IN_CARRY] else data, a)
        elif step == do.TEXT:
            leave(s)
            going = read_text(store, s, carry if s[IN_CARRY] else data, a, b, c)
        elif step == do.OPEN:
            open_row(store, s, a, MOST_ROWS if s[IS_WALK] else ENDLESS)
            s[PC] += 1
        elif step == do.CLOSE:
            s[ROW] = -1
            s[PC] += 1
        elif step == do.ENTRIES:
            leave(s)
            going = entries(store, s, carry, data, a)
        elif step == do.RECORDS:
            records(store, s, a, b, c)
        elif step == do.NUMBERS:
            leave(s)
            going = numbers(store, s, carry, data, b)
        else:
            _other(store, s, step, a, b, c)


@kernel
def _other(store: Store, s: Array, step: int, a: int, b: int, c: int) -> None:
    """The steps that are rare, or stand once in a message."""
    position = s[BASE] + s[AT]
    s[PC] += 1
    if step == do.SKIP:
        skip(s, a)
    elif step == do.OVER:
        if s[LENGTH] > 0:
            skip(s, s[LENGTH])
        elif s[LENGTH] < -1 and not a:
            fail(s)
    elif step == do.MANY:
        skip(s, s[LENGTH] * a - b)
    elif step == do.JUMP_BELOW:
        if s[VALUE] < 0:
            s[PC] = a
    elif step == do.TAG:
        if a == 0:
            s[TAG] = s[LENGTH]
        else:
            s[ENDS + s[LEVEL] - 1] = position + s[LENGTH]
            if not s[IN_HEADER] and position + s[LENGTH] > s[DECLARED]:
                fail(s)
    elif step == do.JUMP:
        s[PC] = a
    elif step == do.IF_TAG:
        if s[TAG] == a:
            s[PC] = b
    elif step == do.OVER_TAG:
        skip(s, s[ENDS + s[LEVEL] - 1] - position)
    elif step == do.END_TAG:
        if position != s[ENDS + s[LEVEL] - 1]:
            fail(s)
    elif step == do.BODY:
        _begin_body(store, s, a, b, position)
    elif step == do.STRANGE:
        s[STATUS] = DEAF
    else:
        s[STATUS] = DEAF
        s[OUTCOME] = FULL
        if s[AT] > s[LIMIT]:
            s[OUTCOME] = FAILED if position > s[DECLARED] else TRUNCATED


@kernel
def _begin_body(store: Store, s: Array, walk: int, has_records: int, position: int) -> None:
    """Behind the header: a body that is too large to keep is read by another program, if there is one."""
    s[IN_HEADER] = 0
    s[SUMS] = has_records
    before = 8 if s[IS_REQUEST] else 4
    if walk >= 0 and s[DECLARED] > s[KEPT] and position + before <= WALK_HEAD:
        s[IS_WALK] = 1
        s[SUMS] = 1
        s[KEPT] = ENDLESS
        s[PC] = walk


@inlined
def _read(store: Store, s: Array, data: Array, kind: int, action: int, operand: int) -> None:
    at = s[AT]
    if at + _SIZES[kind] > s[LIMIT]:
        short(s)
        return
    s[AT] = at + _SIZES[kind]
    s[PC] += 1
    if kind == do.UUID:
        if action == do.TOPIC:
            use_topic_id(store, s, data, at)
        return
    value = _number(data, at, kind)
    s[VALUE] = value
    if action != do.NOTHING:
        use_number(store, s, action, operand, value)


@inlined
def _number(data: Array, at: int, kind: int) -> int:
    first: int = np.int64(data[at])  # type: ignore[assignment]
    if kind == do.INT32:
        return int32(data, at)
    if kind == do.INT64:
        return int64(data, at)
    if kind == do.UINT8:
        return first
    if kind == do.BOOL:
        return 1 if first else 0
    if kind == do.INT8:
        return first - 256 if first > 127 else first
    if kind == do.UINT32:
        return int32(data, at) & 0xFFFFFFFF
    if kind == do.OTHER8:
        return 0
    value: int = first << 8 | np.int64(data[at + 1])  # type: ignore[assignment]
    return value - 65536 if kind == do.INT16 and value > 32767 else value


@inlined
def _loop(s: Array, step: int, a: int, b: int, c: int) -> None:
    """The beginning or the end of one round: of an array, of tagged fields."""
    count = s[LENGTH]
    level = s[LEVEL]
    left = s[DECLARED] - s[BASE] - s[AT]
    if step == do.AGAIN:
        s[COUNTS + level - 1] -= 1
        if s[COUNTS + level - 1] > 0:
            s[PC] = a
        else:
            s[LEVEL] -= 1
            s[PC] += 1
    elif step == do.TAGS:
        if count == 0:
            s[PC] = c
            return
        if not s[IN_HEADER] and count * 2 > left:
            fail(s)
        s[COUNTS + level] = count
        s[LEVEL] += 1
        s[PC] += 1
    elif count > 0:
        if count * b > left:
            fail(s)
        if not a & 2:
            s[COUNTS + level] = count
            s[LEVEL] += 1
        s[PC] += 1
    else:
        if count < -1 and not a & 1:
            fail(s)
        s[PC] = c
