"""The machine that reads messages, in pieces of any size, as the engine in plain Python reads them.

`begin` is told of a message whose size, correlation id and (of a request) kind were read already, `feed` and `lost`
give what follows, `end` closes it. What a message tells goes to the store; `bodies.read` and `bodies.steps` say what
that is. A message that was cut tells each field that is there, a whole one that does not fit only whole runs of them.
"""

from netdiag.traffic.engine.compiled import machines as reg
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.endings import close, close_kept
from netdiag.traffic.engine.compiled.entries import CLOSING
from netdiag.traffic.engine.compiled.fields import PRESENT
from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged
from netdiag.traffic.engine.compiled.layout import FACTS, NOTHING
from netdiag.traffic.engine.compiled.machines import (
    AT,
    BASE,
    CARRIED,
    DEAF,
    DECLARED,
    DONE,
    IDLE,
    IS_CUT,
    KEEPING,
    KEPT,
    LIMIT,
    LIMITS,
    MESSAGE,
    PC,
    READING,
    SKIP,
    STATUS,
    WIDTH,
    Machines,
)
from netdiag.traffic.engine.compiled.places import RANGES, buffer, has_room_for, trim
from netdiag.traffic.engine.compiled.program import MOST_KEYS, MOST_VERSIONS, Programs
from netdiag.traffic.engine.compiled.running import run
from netdiag.traffic.engine.compiled.store import RAW, Array, Store
from netdiag.traffic.engine.compiled.taking import FAILED, TRUNCATED, leave
from netdiag.traffic.engine.dialogue import KEEP

assert FACTS.fields is not None
_FIRST_SCALAR = FACTS.fields["acks"][1] // 4
_BEHIND_SCALARS = FACTS.fields["api_key"][1] // 4
PIECE = 1 << 15
"""What is read at once: room is asked for so much."""


@merged
def begin(
    store: Store,
    machines: Machines,
    d: int,
    programs: Programs,
    m: int,
    is_request: bool,
    api_key: int,
    api_version: int,
    left: int,
) -> None:
    """Machine `d` reads message `m`, of which `left` bytes follow; its facts have their correlation id."""
    s = machines.state[d]
    for index in range(WIDTH):
        s[index] = 0
    s[MESSAGE] = m
    s[DECLARED] = left
    s[KEPT] = KEEP - (8 if is_request else 4)
    s[reg.TOPIC] = s[reg.GROUP] = NOTHING
    s[reg.OUTCOME] = s[reg.ROW] = -1
    s[reg.IN_HEADER] = 1
    s[reg.IS_REQUEST] = is_request
    s[reg.API_KEY] = api_key
    s[STATUS] = READING
    for arena in range(6):
        s[LIMITS + arena] = store.counts[arena]
    s[reg.BUFFER] = store.counts[RAW]
    _blank(store, m, is_request, api_key, api_version)
    program = programs.strange[0 if is_request else 1]
    if 0 <= api_key < MOST_KEYS and 0 <= api_version < MOST_VERSIONS:
        program = programs.starts[0 if is_request else 1, api_key, api_version]
    s[PC] = program
    s[reg.IS_UNKNOWN] = program == programs.strange[0 if is_request else 1]
    if program < 0:
        s[STATUS] = KEEPING
        _keep_beginning(store, machines, s, d, is_request, api_key, api_version)
    if s[DECLARED] > s[KEPT]:
        s[IS_CUT] = 1


@inlined
def _blank(store: Store, m: int, is_request: bool, api_key: int, api_version: int) -> None:
    """Facts that tell nothing yet."""
    words = store.facts_words
    for arena in range(5):
        words[m, RANGES + 2 * arena] = words[m, RANGES + 2 * arena + 1] = store.counts[arena]
    for index in range(_FIRST_SCALAR, _BEHIND_SCALARS):
        words[m, index] = NOTHING
    words[m, PRESENT] = 0
    facts = store.facts
    facts[m].records = 0
    facts[m].record_bytes = 0
    facts[m].raw = NOTHING
    facts[m].raw_size = 0
    facts[m].client_id = NOTHING
    facts[m].api_key = api_key
    facts[m].api_version = api_version
    facts[m].is_request = is_request
    facts[m].decoded = 0


@kernel
def _keep_beginning(
    store: Store, machines: Machines, s: Array, d: int, is_request: bool, api_key: int, api_version: int
) -> None:
    """Put what was read of a message before in front of the bytes that are kept of it."""
    carry = machines.carry[d]
    at = 0
    if is_request:
        carry[0], carry[1] = (api_key >> 8) & 255, api_key & 255
        carry[2], carry[3] = (api_version >> 8) & 255, api_version & 255
        at = 4
    correlation_id = store.facts[s[MESSAGE]].correlation_id
    for index in range(4):
        carry[at + index] = (correlation_id >> (24 - 8 * index)) & 255
    buffer(store, s, carry, 0, at + 4)


@merged
def feed(store: Store, machines: Machines, d: int, programs: Programs, data: Array, start: int, stop: int) -> int:
    """Read bytes of a piece; gives where it stopped, before `stop` where there is no room for more."""
    s = machines.state[d]
    while start < stop:
        if s[STATUS] == DEAF or s[STATUS] == IDLE:
            s[DONE] += stop - start
            return stop
        kept = s[KEPT] - s[DONE]
        if s[STATUS] == READING and s[SKIP] > 0 and kept > 0:
            step = min(s[SKIP], stop - start, kept)
            s[SKIP] -= step
            s[DONE] += step
            start += step
            continue
        piece = max(0, min(PIECE, stop - start, kept))
        if piece and not has_room_for(store, s, piece):
            return start
        if s[STATUS] == READING:
            _go(store, machines, s, d, programs, data, start, start + piece, piece == 0)
        elif piece:
            buffer(store, s, data, start, piece)
            s[DONE] += piece
        else:
            s[STATUS] = DEAF
        start += piece
    return stop


@kernel
def _go(
    store: Store,
    machines: Machines,
    s: Array,
    d: int,
    programs: Programs,
    data: Array,
    start: int,
    stop: int,
    is_drained: bool,
) -> None:
    """Read on; `is_drained`: no more is to come, and some is missing, so what is there is read field by field."""
    done = s[DONE]
    if is_drained:
        if s[SKIP] > 0 and s[reg.IS_EARLY]:
            s[reg.RECORDS] = -1
        s[reg.IS_DRAINED] = s[reg.IN_CARRY] = 1
        s[LIMIT] = s[CARRIED]
        s[BASE] = done - s[CARRIED]
        s[AT] = s[SKIP]
        s[SKIP] = 0
    else:
        s[AT], s[LIMIT], s[BASE] = start, stop, done - start
    run(store, machines, s, d, programs.code, data)
    if is_drained:
        s[STATUS] = DEAF
    leave(s)
    s[DONE] = done + stop - start


@merged
def lost(store: Store, machines: Machines, d: int, programs: Programs, count: int) -> None:
    """The next bytes are not in the capture."""
    s = machines.state[d]
    if count <= 0 or s[STATUS] == IDLE:
        return
    s[IS_CUT] = 1
    s[reg.HAS_LOST] = 1
    if s[STATUS] == KEEPING:
        s[STATUS] = DEAF
    nothing = machines.carry[d]
    while s[STATUS] == READING:
        if s[SKIP] == 0 or not s[reg.IS_WALK]:
            _go(store, machines, s, d, programs, nothing, 0, 0, not s[reg.IS_WALK])
        if s[STATUS] != READING or count == 0:
            break
        if s[SKIP] > 0:
            step = min(s[SKIP], count)
            s[SKIP] -= step
            s[DONE] += step
            count -= step
        elif programs.code[s[PC] * do.SIZE] == do.ENTRIES:
            s[CARRIED] = 0
            s[reg.RECORDS] = -1
            s[reg.STAGE] = CLOSING
            s[reg.ASKED] = s[reg.RECORDS_END]
            s[SKIP] = s[reg.RECORDS_END] - s[DONE]
        else:
            s[STATUS] = DEAF
            s[reg.OUTCOME] = TRUNCATED
    s[DONE] += count


@merged
def end(store: Store, machines: Machines, d: int, programs: Programs) -> None:
    """Nothing more is to come: the message is as complete as it will ever be."""
    s = machines.state[d]
    if s[STATUS] == IDLE:
        return
    is_drained = False
    while s[STATUS] == READING:
        if s[SKIP] == 0 or is_drained:
            _go(store, machines, s, d, programs, machines.carry[d], 0, 0, is_drained)
        if is_drained:
            s[reg.OUTCOME] = FAILED
        is_drained = not s[reg.IS_WALK] and not s[reg.IN_HEADER]
        if not is_drained:
            break
    at_records = s[STATUS] == READING and programs.code[s[PC] * do.SIZE] == do.ENTRIES
    if s[PC] < 0:
        close_kept(store, s)
    else:
        close(store, s, at_records)
        s[reg.BUFFERED] = 0
    trim(store, s)
    s[STATUS] = IDLE
