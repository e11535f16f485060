"""The batches of a partition's records, each by its header, while their bytes pass by: see `bodies.records`.

Two readers are matched to the letter: that of messages which are kept, and that of those which are too large (`steps`).
They part where batches are damaged. `STAGE` says how many bytes of an entry are wanted, 0 at the first of two looks.
"""

import numpy as np

from netdiag.traffic.engine.bodies.records import MOST_BATCHES
from netdiag.traffic.engine.compiled import machines as reg
from netdiag.traffic.engine.compiled.fields import ROW_PRESENT
from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.layout import PARTITION
from netdiag.traffic.engine.compiled.machines import MESSAGE
from netdiag.traffic.engine.compiled.places import RANGES, place
from netdiag.traffic.engine.compiled.store import Array, Store

START, HEADER = 17, 61
UNKNOWN_RECORDS = -1
CLOSING = -1
"""The stage behind the last batch."""
_LARGEST = (1 << 63) - 1
assert PARTITION.fields is not None
_RECORD_BYTES, _RECORDS, _LAST, _LATEST = (
    PARTITION.fields[name][1] // 8 for name in ("record_bytes", "records", "last_offset", "max_timestamp")
)
_BIT_RECORDS, _BIT_BYTES, _BIT_LAST, _BIT_LATEST = 1 << 11, 1 << 12, 1 << 13, 1 << 14


@inlined
def int32(data: Array, at: int) -> int:
    """A number of 4 bytes."""
    high = (np.int64(data[at]) << 24) | (np.int64(data[at + 1]) << 16)
    value: int = high | (np.int64(data[at + 2]) << 8) | np.int64(data[at + 3])  # type: ignore[assignment]
    return value - (1 << 32) if value >= 1 << 31 else value


@inlined
def int64(data: Array, at: int) -> int:
    """A number of 8 bytes."""
    return (int32(data, at) << 32) | (int32(data, at + 4) & 0xFFFFFFFF)


@kernel
def begin_records(store: Store, s: Array, size: int, position: int, has_row: bool) -> None:
    """The records of a partition begin."""
    facts = store.facts
    facts[s[MESSAGE]].record_bytes += size
    s[reg.RECORDS_END] = position + size
    s[reg.RECORDS] = 0
    s[reg.HAS_LAST] = 0
    s[reg.LATEST] = -1
    s[reg.STAGE] = 0
    s[reg.IS_EARLY] = 0
    s[reg.HAS_ROW] = 0
    if has_row and s[reg.ROW] == 1:
        s[reg.HAS_ROW] = 1
        row = store.facts_words[s[MESSAGE], RANGES + 3] - 1
        store.partition_longs[row, _RECORD_BYTES] = size
        store.partition_words[row, ROW_PRESENT] |= _BIT_BYTES


@kernel
def end_records(store: Store, s: Array) -> None:
    """All that will be known of them is known."""
    total = s[reg.RECORDS]
    if total < 0:
        s[reg.SUMS] = 2
    else:
        store.facts[s[MESSAGE]].records += total
    if not s[reg.HAS_ROW]:
        return
    row = store.facts_words[s[MESSAGE], RANGES + 3] - 1
    if total >= 0:
        store.partition_longs[row, _RECORDS] = total
        store.partition_words[row, ROW_PRESENT] |= _BIT_RECORDS
    if s[reg.HAS_LAST]:
        store.partition_longs[row, _LAST] = s[reg.LAST_OFFSET]
        store.partition_words[row, ROW_PRESENT] |= _BIT_LAST
    if s[reg.LATEST] >= 0:
        store.partition_longs[row, _LATEST] = s[reg.LATEST]
        store.partition_words[row, ROW_PRESENT] |= _BIT_LATEST


@kernel
def wanted(data: Array, at: int) -> int:
    """How many bytes of an entry are looked at, as its first 17 tell."""
    magic = data[at + 16]
    if magic == 2:
        return HEADER
    return 26 if magic == 1 else 18 if magic == 0 else START


@inlined
def look(store: Store, s: Array, data: Array, at: int, kept: int, left: int, tells: bool) -> int:
    """Count an entry of which `kept` bytes are there, `left` bytes before the records end; gives how many it takes.

    0: what follows cannot be read.
    """
    if kept < START:
        return _give_up(s, data, at, kept, left)
    length = int32(data, at + 8)
    magic = data[at + 16]
    if magic == 2:
        if kept >= HEADER:
            return _batch(store, s, data, at, left, length, tells)
        if length >= HEADER - 12:
            return _cut_batch(store, s, data, at, kept, left, length, tells)
        return _give_up(s, data, at, kept, left)
    if magic > 1 or length < (22 if magic == 1 else 14) or kept < (26 if magic == 1 else 18):
        return _give_up(s, data, at, kept, left)
    return _message(store, s, data, at, left, length, tells)


@kernel
def _give_up(s: Array, data: Array, at: int, kept: int, left: int) -> int:
    """Nobody knows how many follow, unless all that is there is the beginning of one that the broker cut."""
    early = False
    if s[reg.IS_DRAINED]:
        early = False
    elif kept < START:
        early = True
    elif kept == left or not s[reg.IS_WALK]:
        early = data[at + 16] <= 2 and 12 + int32(data, at + 8) > left
    if early:
        s[reg.IS_EARLY] = 1
    else:
        s[reg.RECORDS] = UNKNOWN_RECORDS
    return 0


@inlined
def _batch(store: Store, s: Array, data: Array, at: int, left: int, length: int, tells: bool) -> int:
    base = int64(data, at)
    flags = data[at + 22]
    delta = int32(data, at + 23)
    count = int32(data, at + 57)
    if length < HEADER - 12 or count < 0 or delta < 0:
        s[reg.RECORDS] = UNKNOWN_RECORDS
        return 0
    complete = 12 + length <= left
    latest = int64(data, at + 35)
    if complete:
        if not flags & 32 and s[reg.RECORDS] >= 0:
            s[reg.RECORDS] += count
        if base <= _LARGEST - delta:
            s[reg.LAST_OFFSET] = base + delta
            s[reg.HAS_LAST] = 1
        elif not s[reg.IS_WALK]:
            s[reg.HAS_LAST] = 0
        s[reg.LATEST] = max(s[reg.LATEST], latest)
    row = _new_row(store, s, tells)
    if row >= 0:
        batches = store.batches
        batches[row].magic = 2
        batches[row].base_offset = base
        batches[row].last_offset_delta = delta
        batches[row].records = count
        batches[row].bytes = 12 + length if complete else left
        batches[row].codec = flags & 7
        batches[row].producer_id = int64(data, at + 43)
        batches[row].producer_epoch = (int32(data, at + 51)) >> 16
        batches[row].base_sequence = int32(data, at + 53)
        batches[row].transactional = flags & 16 != 0
        batches[row].control = flags & 32 != 0
        batches[row].log_append_time = flags & 8 != 0
        batches[row].first_timestamp = int64(data, at + 27)
        batches[row].max_timestamp = latest
        batches[row].complete = complete
        batches[row].present = (1 << 17) - 1
    return 12 + length


@kernel
def tell_batch(store: Store, s: Array, data: Array, at: int, left: int, tells: bool) -> int:
    """The same as `look` of a batch of magic 2 whose header is there."""
    return _batch(store, s, data, at, left, int32(data, at + 8), tells)


@kernel
def _cut_batch(store: Store, s: Array, data: Array, at: int, kept: int, left: int, length: int, tells: bool) -> int:
    """A batch whose header is not there as a whole."""
    complete = 12 + length <= left
    if complete:
        s[reg.RECORDS] = UNKNOWN_RECORDS
        s[reg.LAST_OFFSET] = int64(data, at)
        s[reg.HAS_LAST] = 1
    row = _new_row(store, s, tells)
    if row >= 0:
        batches = store.batches
        batches[row].magic = 2
        batches[row].base_offset = int64(data, at)
        batches[row].bytes = 12 + length if complete else left
        batches[row].complete = complete
        batches[row].present = 0b1_0000_0000_0100_1111
        if kept >= 23:
            flags = data[at + 22]
            batches[row].codec = flags & 7
            batches[row].transactional = flags & 16 != 0
            batches[row].control = flags & 32 != 0
            batches[row].log_append_time = flags & 8 != 0
            batches[row].present |= 1 << 7 | 1 << 11 | 1 << 12 | 1 << 15
    return 12 + length


@kernel
def _message(store: Store, s: Array, data: Array, at: int, left: int, length: int, tells: bool) -> int:
    """A message of magic 0 or 1; a compressed one holds others, whose number it does not say."""
    base = int64(data, at)
    magic = data[at + 16]
    flags = data[at + 17]
    complete = 12 + length <= left
    timestamp = int64(data, at + 18) if magic == 1 else 0
    if complete:
        if flags & 7:
            s[reg.RECORDS] = UNKNOWN_RECORDS
        elif s[reg.RECORDS] >= 0:
            s[reg.RECORDS] += 1
        s[reg.LAST_OFFSET] = base
        s[reg.HAS_LAST] = 1
        if magic == 1:
            s[reg.LATEST] = max(s[reg.LATEST], timestamp)
    if tells and complete and not flags & 7 and _join(store, s, base, magic, flags, timestamp, 12 + length):
        return 12 + length
    row = _new_row(store, s, tells)
    if row >= 0:
        batches = store.batches
        batches[row].magic = magic
        batches[row].bytes = 12 + length if complete else left
        batches[row].codec = flags & 7
        batches[row].complete = complete
        present = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 16
        if not flags & 7:
            batches[row].base_offset = base
            batches[row].records = 1
            batches[row].first_timestamp = timestamp
            present |= 1 << 3 | 1 << 4 | 1 << 5
        if magic == 1:
            batches[row].max_timestamp = timestamp
            batches[row].log_append_time = flags & 8 != 0
            present |= 1 << 14 | 1 << 15
            if not flags & 7:
                present |= 1 << 13
        batches[row].present = present
    return 12 + length


@kernel
def _join(store: Store, s: Array, base: int, magic: int, flags: int, timestamp: int, size: int) -> bool:
    """Whether the message has become part of the batch before it."""
    words = store.facts_words
    end = words[s[MESSAGE], RANGES + 5]
    if end == words[s[MESSAGE], RANGES + 4]:
        return False
    batches = store.batches
    row = end - 1
    if (
        batches[row].topic != s[reg.TOPIC]
        or batches[row].partition != s[reg.PARTITION]
        or batches[row].magic != magic
        or not batches[row].present & (1 << 7)
        or batches[row].codec != 0
        or not batches[row].complete
    ):
        return False
    if magic == 1 and batches[row].log_append_time != (flags & 8 != 0):
        return False
    batches[row].present &= ~(1 << 4)
    first = batches[row].base_offset
    batches[row].last_offset_delta = 0
    # first looks that the difference does not wrap: what overflows may be anything
    if base >= first and (first >= 0 or base < first + (1 << 31)) and base - first < 1 << 31:
        batches[row].last_offset_delta = base - first
        batches[row].present |= 1 << 4
    batches[row].records += 1
    batches[row].bytes += size
    if magic == 1:
        batches[row].max_timestamp = max(batches[row].max_timestamp, timestamp)
    return True


@inlined
def _new_row(store: Store, s: Array, tells: bool) -> int:
    words = store.facts_words
    if not tells or words[s[MESSAGE], RANGES + 5] - words[s[MESSAGE], RANGES + 4] >= MOST_BATCHES:
        return -1
    row = place(store, s, 2)
    if row >= 0:
        batches = store.batches
        batches[row].topic = s[reg.TOPIC]
        batches[row].partition = s[reg.PARTITION]
        batches[row].base_offset = 0
        batches[row].producer_id = 0
        batches[row].first_timestamp = 0
        batches[row].max_timestamp = 0
        batches[row].records = 0
        batches[row].last_offset_delta = 0
        batches[row].producer_epoch = 0
        batches[row].base_sequence = 0
        batches[row].codec = 0
        batches[row].transactional = 0
        batches[row].control = 0
        batches[row].log_append_time = 0
    return row
