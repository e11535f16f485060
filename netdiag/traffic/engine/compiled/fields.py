"""What a machine does with the numbers and texts that it reads: the facts of a message and its rows."""

from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.layout import ENDPOINT, FACTS, NOTHING, PARTITION, SCALARS
from netdiag.traffic.engine.compiled.machines import GROUP, HAS_NEEDS, LENGTH, MESSAGE, ROW, TOPIC
from netdiag.traffic.engine.compiled.machines import PARTITION as INDEX
from netdiag.traffic.engine.compiled.places import RANGES, place
from netdiag.traffic.engine.compiled.store import Array, Store
from netdiag.traffic.engine.compiled.strings import add, add_bytes

assert FACTS.fields is not None
assert PARTITION.fields is not None
PRESENT = FACTS.fields["present"][1] // 4
ERROR_WORD, ERROR_BIT = FACTS.fields["error_code"][1] // 4, 1 << SCALARS.index("error_code")
CLIENT_WORD = FACTS.fields["client_id"][1] // 4
ROW_PRESENT = PARTITION.fields["present"][1] // 4
DROPPED = -2


def scalar(name: str) -> int:
    """The operand of a scalar of the facts."""
    assert FACTS.fields is not None
    return int(FACTS.fields[name][1]) // 4 * 32 + SCALARS.index(name)


def column(name: str, fields: tuple[str, ...]) -> tuple[int, int]:
    """What to do for a column of a partition's row, and its operand."""
    assert PARTITION.fields is not None
    kind, offset = PARTITION.fields[name][:2]
    if kind.itemsize == 8:
        return do.LONG, int(offset) // 8 * 32 + fields.index(name)
    return do.WORD, int(offset) // 4 * 32 + fields.index(name)


def endpoint(name: str) -> int:
    """The operand of a column of an endpoint."""
    assert ENDPOINT.fields is not None
    return int(ENDPOINT.fields[name][1]) // 4


@inlined
def use_number(store: Store, s: Array, action: int, operand: int, value: int) -> None:
    """Do with a number what is to be done with it."""
    words = store.facts_words
    message = s[MESSAGE]
    word, bit = operand // 32, 1 << (operand % 32)
    if action == do.LENGTH:
        s[LENGTH] = value
    elif action == do.WORD or action == do.LONG:
        if s[ROW] == 1:
            row = words[message, RANGES + 3] - 1
            if action == do.WORD:
                store.partition_words[row, word] = value
            else:
                store.partition_longs[row, word] = value
            store.partition_words[row, ROW_PRESENT] |= bit
    elif action == do.SCALAR or (action == do.FIRST and not words[message, PRESENT] & bit):
        words[message, word] = value
        words[message, PRESENT] |= bit
    elif action == do.ERROR:
        if not words[message, PRESENT] & ERROR_BIT or not words[message, ERROR_WORD]:
            words[message, ERROR_WORD] = value
            words[message, PRESENT] |= ERROR_BIT
    elif action == do.INDEX:
        s[INDEX] = value
        if s[ROW] == 1:
            store.partitions[words[message, RANGES + 3] - 1].partition = value
            s[HAS_NEEDS] = 1
    elif action == do.ENDPOINT or action == do.PORT:
        if s[ROW] == 4:
            store.endpoint_words[words[message, RANGES + 9] - 1, operand] = value
            if action == do.PORT:
                s[HAS_NEEDS] = 1
    elif action == do.ROW:
        _new_partition(store, s, value)
    elif action == do.FORGOTTEN:
        row = place(store, s, 3)
        if row >= 0:
            store.forgotten[row].topic = s[TOPIC]
            store.forgotten[row].partition = value


@inlined
def use_text(store: Store, s: Array, action: int, operand: int, data: Array, at: int, length: int) -> None:
    """Do with a text what is to be done with it; a length below 0 is null."""
    if action == do.THROUGH or action == do.NOTHING:
        return
    number = NOTHING
    if length >= 0:
        number = add(store.strings, data, at, length)
    words = store.facts_words
    message = s[MESSAGE]
    word, bit = operand // 32, 1 << (operand % 32)
    if action == do.TOPIC:
        s[TOPIC] = number
        if length > 0:
            _tell_topic(store, s, number)
    elif action == do.CLIENT:
        words[message, CLIENT_WORD] = number
    elif action == do.SCALAR or (action == do.FIRST and not words[message, PRESENT] & bit):
        words[message, word] = number
        words[message, PRESENT] &= ~bit
        if length >= 0:
            words[message, PRESENT] |= bit
    elif action == do.GROUP:
        s[GROUP] = number
    elif action == do.ENDPOINT and s[ROW] == 4:
        store.endpoint_words[words[message, RANGES + 9] - 1, operand] = number


@kernel
def use_topic_id(store: Store, s: Array, data: Array, at: int) -> None:
    """A topic that is known by its id; one of zeros is told nowhere but in its rows."""
    number = NOTHING - 1 - add_bytes(store.ids, data, at, 16)
    s[TOPIC] = number
    for index in range(at, at + 16):
        if data[index]:
            _tell_topic(store, s, number)
            return


@kernel
def open_row(store: Store, s: Array, arena: int, most: int) -> None:
    """A row begins; it has no columns yet, and is let go if there are so many."""
    words = store.facts_words
    s[HAS_NEEDS] = 0
    s[ROW] = DROPPED
    if words[s[MESSAGE], RANGES + 2 * arena + 1] - words[s[MESSAGE], RANGES + 2 * arena] >= most:
        return
    if arena == 1:
        if _new_partition(store, s, 0):
            s[ROW] = 1
        return
    row = place(store, s, 4)
    if row < 0:
        return
    store.endpoints[row].node_id = 0
    store.endpoints[row].port = 0
    store.endpoints[row].host = NOTHING
    store.endpoints[row].rack = NOTHING
    s[ROW] = 4


@inlined
def _new_partition(store: Store, s: Array, partition: int) -> bool:
    row = place(store, s, 1)
    if row < 0:
        return False
    longs = store.partition_longs
    for index in range(9):
        longs[row, index] = 0
    partitions = store.partitions
    partitions[row].topic = s[TOPIC]
    partitions[row].partition = partition
    partitions[row].group = s[GROUP]
    partitions[row].error_code = 0
    partitions[row].leader_id = 0
    partitions[row].leader_epoch = 0
    partitions[row].present = 7 if s[GROUP] >= 0 else 3
    return True


@inlined
def _tell_topic(store: Store, s: Array, number: int) -> None:
    row = place(store, s, 0)
    if row >= 0:
        store.topics[row] = number
