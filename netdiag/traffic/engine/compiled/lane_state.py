"""What the kernels know of connections while all is calm on them, as arrays.

A connection has number `slot`, its directions are 2 * slot + side: what `Connection`, `Dialogue`, `Delivery`, `Framer`,
`Talk` and `Pairing` hold that an ordinary packet changes. All else stays where it is, with the twin.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netdiag.traffic.engine.compiled.lane_rare import TROUBLE, UNFINISHED
from netdiag.traffic.engine.compiled.lane_wishes import MOST_CLIENT_ID, Wishes, new_wishes
from netdiag.traffic.engine.compiled.layout import FACTS, NOTHING, PAIR, SCALARS
from netdiag.traffic.engine.compiled.machines import Machines
from netdiag.traffic.engine.compiled.program import Programs
from netdiag.traffic.engine.compiled.store import ARENAS, Store
from netdiag.traffic.engine.delivery import REMEMBERED
from netdiag.traffic.engine.linking import RECENT

Array = NDArray[Any]

LISTENED, NOT_LISTENED = 1, 2

CONNECTION = np.dtype(
    [
        ("first_time", "i8"),
        ("last_time", "i8"),
        ("number", "i8"),
        ("orphans_until", "i8"),
        ("orphans_low", "i8"),
        ("orphans_high", "i8"),
        ("seen", "u8"),
        ("asked", "i8"),
        ("requests", "i8"),
        ("responses", "i8"),
        ("last_request", "i8"),
        ("last_response", "i8"),
        ("pending_first", "i4"),
        ("pending_last", "i4"),
        ("pending", "i4"),
        ("context", "i4"),
        ("orphans_first", "i4"),
        ("orphans_last", "i4"),
        ("orphans", "i4"),
        ("client_side", "u1"),
        ("unsorted", "u1"),
        ("has_client_id", "u1"),
        ("kind", "u1"),
        ("stage", "u1"),
        ("reset", "i1"),
    ],
    align=True,
)
"""`seen`: a bit for every interface at which a segment tells nothing new about those of the connection.
`orphans_until`: requests that began later than this answer to no response that came before them; nor do those whose id
is below `orphans_low` or above `orphans_high`. `last_request` and `last_response` are ABSENT where there was none.
`unsorted`: the ids of those that wait may not rise from one to the next, so that one may be there twice.
`stage`: how far a connection has come that was opened here and that the twin has never seen; MADE of the others.
`reset`: the side that reset such a connection, NOTHING where none did."""

MADE, CALLED, REPLIED, OPENED, TALKING = range(5)
"""What `stage` says: the twin made it; a SYN was seen, its answer, the acknowledgement of this, the first request."""

HAS_FIN, HAS_RST, HAS_TROUBLE = 1, 2, 4
BIRTH = np.dtype(
    [
        ("asked", "i8"),
        ("answered", "i8"),
        ("acknowledged", "i8"),
        ("order", "i8"),
        ("initial", "u4", (2,)),
        ("key", "i4"),
        ("file", "i4"),
        ("interface", "i2"),
        ("software", "i2"),
        ("digests", "i8", (2,)),
    ],
    align=True,
)
"""How a connection was opened: the times of its three packets, its number in the order of all, the initial sequence
number of both sides, the pair of addresses of its first packet, this packet's file and the bit of its interface. What
rows of `connections` tell: what the client calls itself, by number, and the digest of what each side, the broker first,
has said at first, as far as it has come. Its client id stands in its context."""

FRESH = np.dtype(
    [
        ("number", "i8"),
        ("context", "i4"),
        ("key", "i4"),
        ("client_id_length", "i2"),
        ("client_id", "u1", (MOST_CLIENT_ID,)),
    ],
    align=True,
)
"""A context that was given to a connection, and that nobody has written down yet."""

ABSENT = -(1 << 40)
LONG_AGO = -(1 << 62)

DIRECTION = np.dtype(
    [
        ("start", "i8"),
        ("next", "i8"),
        ("acked", "i8"),
        ("last_time", "i8"),
        ("frame_bytes", "i8"),
        ("packets", "u4"),
        ("frames", "u4"),
        ("window", "i4"),
        ("place", "i4"),
        ("unfinished", "i4"),
        ("recent_first", "i4"),
        ("recent_last", "i4"),
        ("older_first", "i4"),
        ("recent", "u1"),
        ("older", "u1"),
        ("marks", "u1"),
    ],
    align=True,
)
"""`acked` and HAS_FIN and HAS_RST of `marks` are told of connections that the twin has never seen. `unfinished`: its
entry among those, 0 where nothing is. `recent_first` and so on: blocks of `remembered`, see `following`; `recent` and
`older`: how many there are in these, without which the blocks say nothing."""

MOST_COUNTED = 1 << 31
"""From so many packets or messages on a direction is the twin's."""

COPY = np.dtype(
    [
        ("time", "i8"),
        ("sequence", "u4"),
        ("acknowledgement", "u4"),
        ("what", "u4"),
        ("identification", "u2"),
        ("places", "u2"),
    ],
    align=True,
)
"""What a packet is known again by. `what`: the length of its payload; of one without, BARE, its window and flags; and
NAMELESS where it has no identification. `places`: the number of the place and 1, or SETS and a number of `place_sets`:
there up to MOST_COPIES of them have 16 bits each, the first lowest."""

BARE, NAMELESS = 1 << 31, 1 << 30
MOST_SIZE = 1 << 24
"""No payload in the arrays is as large."""
SETS = 1 << 15
MOST_PLACES = SETS - 2
MOST_COPIES = 4
_MOST_SETS = 1024

PENDING = np.dtype(
    [("asked", "i8"), ("correlation_id", "i4"), ("api", "i4"), ("next", "i4"), ("silent", "u1")], align=True
)
"""A request that waits. `asked` as in PAIR, NOTHING of an entry that is free. `api` is key << 16 | version; `silent`:
no response is to come."""

ORPHAN = np.dtype(
    [
        ("start_time", "i8"),
        ("end_time", "i8"),
        ("start_number", "i8"),
        ("end_number", "i8"),
        ("head", "i8"),
        ("kept", "i4"),
        ("size", "i4"),
        ("correlation_id", "i4"),
        ("file", "i4"),
        ("next", "i4"),
    ],
    align=True,
)
"""A response whose request is not there: `kept` bytes of it lie at `head`; NOTHING of an entry that is free."""

SENT = np.dtype(
    [
        ("number", "i8"),
        ("time", "i8"),
        ("acknowledgement", "u4"),
        ("length", "i4"),
        ("source_port", "u2"),
        ("destination_port", "u2"),
        ("side", "u1"),
    ],
    align=True,
)
"""What the linker notes of a segment, but for its sequence number; `number` is that of the connection."""

DIGESTED_BYTES = 64
DIGEST = np.dtype(
    [("slot", "i4"), ("size", "i4"), ("length", "u1"), ("is_request", "u1"), ("head", "u1", (DIGESTED_BYTES,))],
    align=True,
)
"""One of the first messages of a connection, for its digest."""

KEYS, VERSIONS = 96, 128
"""Api keys and versions that are ordinary."""
FEW_VERSIONS = 16
"""So many api keys of a connection stand in `versions`, each with its version as (key << 8 | version) + 1; those beyond
these in its row of `more_versions`, at their place, as version + 1."""

# What `Lane.numbers` counts.
PAIRS, DIGESTS, CARRY, FREE_PENDING, NOTED, NEXT_SWEEP = range(6)
# SLOTS, CONTEXTS, BLOCKS: free ones that are left; OVER: contexts that nobody uses, once rows are made of their pairs.
# BORN: connections that the twin has never seen; MOST_BORN: how many there may be; ORDER: connections so far.
SLOTS, CONTEXTS, OVER, FRESHES, SYNS, ORDER, BORN, MOST_BORN, BLOCKS = range(6, 15)
# SLOTS_EVER, BLOCKS_EVER: those behind so many were never taken.
FREE_ORPHAN, ORPHAN_HEADS, SLOTS_EVER, BLOCKS_EVER = range(15, 19)
# UNFINISHED_EVER: those behind so many were never taken.
FREE_UNFINISHED, UNFINISHED_EVER, FREE_BLOCK, PLACE_SETS = range(19, 23)

_BLOCKS = 4096

BLOCK = 4
MOST_BLOCKS = 2 * REMEMBERED // BLOCK
"""So many entries of `remembered` are in a row; `following` says which block is the next one of a direction, or of
those that are free."""


WHOLE = 0
"""The machine for messages that are there as a whole."""


class Reading(NamedTuple):
    """What reads messages, and where it puts what they tell."""

    store: Store
    machines: Machines
    programs: Programs


class Lane(NamedTuple):
    """The arrays, as the kernels take them."""

    connections: Array
    directions: Array
    trouble: Array
    unfinished: Array
    remembered: Array
    versions: Array
    more_versions: Array
    pending: Array
    pairs: Array
    digests: Array
    orphans: Array
    orphan_heads: Array
    carry: Array
    sent: Array
    sent_sequences: Array
    message: Array
    saved: Array
    numbers: Array
    births: Array
    slots: Array
    contexts: Array
    over: Array
    fresh: Array
    syns: Array
    syn_sequences: Array
    hashing: Array
    following: Array
    place_sets: Array
    wishes: Wishes


def new_lane(slots: int = 256, *, pairs: int = 1 << 16, carry: int = 1 << 22, wishes: Wishes | None = None) -> Lane:
    """Arrays for so many connections; all but the linker's grow."""
    numbers = np.zeros(24, "i8")
    numbers[FREE_PENDING] = numbers[FREE_ORPHAN] = numbers[FREE_BLOCK] = NOTHING
    numbers[UNFINISHED_EVER] = 1
    lane = Lane(
        connections=np.zeros(0, CONNECTION),
        directions=np.zeros(0, DIRECTION),
        trouble=np.zeros(0, TROUBLE),
        unfinished=np.zeros(64, UNFINISHED),
        remembered=np.zeros(0, COPY),
        versions=np.zeros((0, FEW_VERSIONS), "i2"),
        more_versions=np.zeros((0, KEYS), "u1"),
        pending=np.zeros(0, PENDING),
        pairs=np.zeros(pairs, PAIR),
        digests=np.zeros(4096, DIGEST),
        orphans=np.zeros(0, ORPHAN),
        orphan_heads=np.zeros(carry >> 2, "u1"),
        carry=np.zeros(carry, "u1"),
        sent=np.zeros(RECENT, SENT),
        sent_sequences=np.zeros(RECENT, "u4"),
        message=blank_message(),
        saved=np.zeros(len(ARENAS), "i8"),
        numbers=numbers,
        births=np.zeros(0, BIRTH),
        slots=np.zeros(0, "i4"),
        contexts=np.zeros(0, "i4"),
        over=np.zeros(0, "i4"),
        fresh=np.zeros(1 << 14, FRESH),
        syns=np.zeros(RECENT, SENT),
        syn_sequences=np.zeros(RECENT, "u4"),
        hashing=np.zeros(48, "u8"),
        following=np.zeros(0, "i4"),
        place_sets=np.zeros(_MOST_SETS, "u8"),
        wishes=wishes or new_wishes(),
    )
    return more_blocks(more_orphans(more_contexts(more_pending(more_slots(lane, slots)))))


def blank_message() -> Array:
    """Facts that tell nothing."""
    message = np.zeros(1, FACTS)
    for name in ("raw", "client_id", *SCALARS):
        message[name] = NOTHING
    message["records"] = message["record_bytes"] = 0
    return message


def more_slots(lane: Lane, slots: int) -> Lane:
    """Room for more connections. What was never used takes no memory, and stays so: whoever takes a slot writes it."""
    known, free = len(lane.connections), int(lane.numbers[SLOTS])
    stack = longer(lane.slots, slots)
    stack[free : free + slots - known] = np.arange(slots - 1, known - 1, -1)
    lane.numbers[SLOTS] = free + slots - known
    has_trouble, has_many = lane.directions["marks"] & HAS_TROUBLE, lane.versions[:, FEW_VERSIONS - 1]
    return lane._replace(
        connections=longer(lane.connections, slots),
        directions=longer(lane.directions, 2 * slots),
        trouble=_longer_where(lane.trouble, 2 * slots, has_trouble),
        versions=longer(lane.versions, slots),
        more_versions=_longer_where(lane.more_versions, slots, has_many),
        births=longer(lane.births, slots),
        slots=stack,
    )


def more_blocks(lane: Lane) -> Lane:
    """Room for more copies to be known again; what was never used takes no memory."""
    known = len(lane.following)
    room = max(2 * known, MOST_BLOCKS << 17) if known else _BLOCKS
    lane.numbers[BLOCKS] += room - known
    return lane._replace(following=longer(lane.following, room), remembered=longer(lane.remembered, BLOCK * room))


def more_contexts(lane: Lane) -> Lane:
    """Room for more contexts; the new ones are free."""
    known, free = len(lane.contexts), int(lane.numbers[CONTEXTS])
    count = max(1024, 2 * known)
    stack = longer(lane.contexts, count)
    stack[free : free + count - known] = np.arange(count - 1, known - 1, -1)
    lane.numbers[CONTEXTS] = free + count - known
    return lane._replace(contexts=stack, over=longer(lane.over, count))


def more_pending(lane: Lane) -> Lane:
    """Room for more requests that wait; the new entries are free ones."""
    known = len(lane.pending)
    pending = longer(lane.pending, max(1024, 2 * known))
    pending["asked"][known:] = NOTHING
    pending["next"][known:] = np.arange(known + 1, len(pending) + 1)
    pending["next"][-1] = lane.numbers[FREE_PENDING]
    lane.numbers[FREE_PENDING] = known
    return lane._replace(pending=pending)


def more_orphans(lane: Lane) -> Lane:
    """Room for more responses without a request; the new entries are free ones."""
    known = len(lane.orphans)
    orphans = longer(lane.orphans, max(256, 2 * known))
    orphans["kept"][known:] = NOTHING
    orphans["next"][known:] = np.arange(known + 1, len(orphans) + 1)
    orphans["next"][-1] = lane.numbers[FREE_ORPHAN]
    lane.numbers[FREE_ORPHAN] = known
    return lane._replace(orphans=orphans)


def longer(array: Array, length: int) -> Array:
    """The same with room for more."""
    if len(array) >= length:
        return array
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _longer_where(array: Array, length: int, has_some: Array) -> Array:
    """The same of what most have nothing of."""
    longer = np.zeros((max(length, len(array)), *array.shape[1:]), array.dtype)
    found = np.flatnonzero(has_some)
    longer[found] = array[found]
    return longer
