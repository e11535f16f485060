"""Give a message the next place in an arena: behind its own, or where these are moved to if others stand in the way."""

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.layout import FACTS
from netdiag.traffic.engine.compiled.machines import BUFFER, BUFFERED, LIMITS, MESSAGE
from netdiag.traffic.engine.compiled.store import LACKING, LACKING_SIZE, MARGIN, RAW, TEXTS, Array, Store

assert FACTS.fields is not None
RANGES = FACTS.fields["topics"][1] // 4
"""Where begin and end in `topics` stand in `facts_words`; those in the arenas behind it follow."""


@inlined
def room_of(store: Store, arena: int) -> int:
    """How many places are left."""
    if arena == 0:
        size = len(store.topics)
    elif arena == 1:
        size = len(store.partitions)
    elif arena == 2:
        size = len(store.batches)
    elif arena == 3:
        size = len(store.forgotten)
    elif arena == 4:
        size = len(store.endpoints)
    else:
        size = len(store.raw)
    room: int = size - store.counts[arena]
    return room


@inlined
def has_room_for(store: Store, s: Array, size: int) -> bool:
    """Whether a piece of so many bytes can be read; else says in the store what is too small."""
    words = store.facts_words
    for arena in range(5):
        held = words[s[MESSAGE], RANGES + 2 * arena + 1] - words[s[MESSAGE], RANGES + 2 * arena]
        needed = MARGIN + size // 4
        if s[LIMITS + arena] != store.counts[arena]:
            needed += 2 * held
        if room_of(store, arena) < needed:
            store.counts[LACKING], store.counts[LACKING_SIZE] = arena, needed
            return False
    needed = MARGIN + 2 * (size + s[BUFFERED]) + 8
    if room_of(store, RAW) < needed:
        store.counts[LACKING], store.counts[LACKING_SIZE] = RAW, needed
        return False
    needed = size + s[BUFFERED] + MARGIN
    count = store.strings.counts[0]
    if (
        count + MARGIN + size // 2 >= len(store.strings.bounds)
        or store.strings.bounds[count] + 3 * needed > len(store.strings.data)
        or store.ids.counts[0] + MARGIN + size // 16 >= len(store.ids.bounds)
        or store.ids.bounds[store.ids.counts[0]] + size + 16 * MARGIN > len(store.ids.data)
    ):
        store.counts[LACKING], store.counts[LACKING_SIZE] = TEXTS, needed
        return False
    return True


@inlined
def place(store: Store, s: Array, arena: int) -> int:
    """The place of the message's next row; below 0 where there is no room, which nobody comes to who asked before."""
    words = store.facts_words
    message, column = s[MESSAGE], RANGES + 2 * arena
    end: int = words[message, column + 1]
    if end == s[LIMITS + arena]:
        if end != store.counts[arena]:
            held = end - words[message, column]
            if room_of(store, arena) < 2 * held + 1:
                return -1
            begin = store.counts[arena]
            _copy(store, arena, words[message, column], held, begin)
            words[message, column] = begin
            end = begin + held
            store.counts[arena] = begin + 2 * held + 1
        else:
            if room_of(store, arena) < 1:
                return -1
            store.counts[arena] += 1
        s[LIMITS + arena] = store.counts[arena]
    words[message, column + 1] = end + 1
    return end


@kernel
def _copy(store: Store, arena: int, begin: int, count: int, to: int) -> None:
    for index in range(count):
        if arena == 0:
            store.topics[to + index] = store.topics[begin + index]
        elif arena == 1:
            store.partitions[to + index] = store.partitions[begin + index]
        elif arena == 2:
            store.batches[to + index] = store.batches[begin + index]
        elif arena == 3:
            store.forgotten[to + index] = store.forgotten[begin + index]
        else:
            store.endpoints[to + index] = store.endpoints[begin + index]


@kernel
def buffer(store: Store, s: Array, data: Array, at: int, count: int) -> None:
    """Put bytes behind those that the machine holds in `raw`."""
    raw = store.raw
    end = s[BUFFER] + s[BUFFERED]
    if end + count > s[LIMITS + RAW]:
        used = store.counts[RAW]
        if s[LIMITS + RAW] == used and end + count <= len(raw):
            store.counts[RAW] = end + count
        elif used + 2 * s[BUFFERED] + count <= len(raw):
            for index in range(s[BUFFERED]):
                raw[used + index] = raw[s[BUFFER] + index]
            s[BUFFER] = used
            end = used + s[BUFFERED]
            store.counts[RAW] = used + 2 * s[BUFFERED] + count
        else:
            return
        s[LIMITS + RAW] = store.counts[RAW]
    for index in range(count):
        raw[end + index] = data[at + index]
    s[BUFFERED] += count


@inlined
def trim(store: Store, s: Array) -> None:
    """Give back what the message has not used, where nobody came behind it."""
    words = store.facts_words
    for arena in range(5):
        if s[LIMITS + arena] == store.counts[arena]:
            store.counts[arena] = words[s[MESSAGE], RANGES + 2 * arena + 1]
    if s[LIMITS + RAW] == store.counts[RAW]:
        store.counts[RAW] = s[BUFFER] + s[BUFFERED]
