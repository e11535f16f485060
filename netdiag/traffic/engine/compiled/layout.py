"""The records that the kernels hand to each other, as dtypes of numpy.

An absent value is told by a bit of `present`, in the order of the named tuple that the record stands for; where a
number says it itself, NOTHING is that number. Texts are numbers of `strings`. A topic that is an id (KIP-516) is told
apart from a name by its sign, see `topic_id`.
"""

import numpy as np

NOTHING = -1
"""No text, no index."""

FROM_TWIN = -2
"""Of references to facts: what lies below is held by the twin, see `held`."""

# What a kernel says when it comes back.
DONE, ODD_PACKET, ODD_REST, FULL, SWEEP = range(5)
"""DONE: the packets are used up. ODD_PACKET: the packet at the index is for the twin, nothing of it was counted.
ODD_REST: the payload from the offset on is for the twin's framer; the packet itself was counted. FULL: there is no room
for what comes; make room, and go on at the same index and offset. SWEEP: the clock of the capture has come to where the
twin looks for connections that are over."""

UNKNOWN_KEY, LEFT_OUT = -1, -2
"""What `lanes` says of a pair of addresses: nobody has looked at it; its segments without SYN, FIN, RST are nothing to
us (another task's connection, or a port that nobody asked for). -3 - connection: the twin has it."""

PACKET = np.dtype(
    [
        ("time", "i8"),
        ("start", "i8"),
        ("payload", "i8"),
        ("number", "i8"),
        ("captured", "i4"),
        ("length", "u4"),
        ("kept", "i4"),
        ("size", "i4"),
        ("key", "i4"),
        ("window", "i4"),
        ("identification", "i4"),
        ("link_type", "i4"),
        ("sequence", "u4"),
        ("acknowledgement", "u4"),
        ("interface", "i2"),
        ("flags", "u2"),
        ("segment", "u1"),
    ],
    align=True,
)
"""A packet of a chunk. `start`: where its bytes begin in the chunk, `captured` of `length`. With `segment` 1 it is a
TCP segment whose addresses are pair `key`, whose payload begins at `payload`, `kept` of `size` bytes; what `segment` 0
is, only `decode_packet` can tell. `interface` is a number of the reader's list of names; with `segment` 0 it is NOTHING
where that list is full. Other names are those of `packet.Segment`."""

KEY = np.dtype(
    [
        ("source", "u1", (16,)),
        ("destination", "u1", (16,)),
        ("source_port", "u2"),
        ("destination_port", "u2"),
        ("width", "u1"),
        ("back", "i4"),
    ],
    align=True,
)
"""A pair of addresses, one way; `width` is 4 or 16 bytes, `back` the number of the same pair the other way: always the
number ^ 1, as both are made at once, the way of the first packet even."""

# How far a body was decoded, by number; `facts.FULL` and the others by name.
DECODED = ("full", "truncated", "header", "failed")

OUTCOMES = ("answered", "no-response", "unanswered", "no-request")

SCALARS = (
    "acks",
    "wait_ms",
    "replica_id",
    "session_id",
    "session_epoch",
    "error_code",
    "throttle_ms",
    "empty",
    "committed",
    "records",
    "record_bytes",
    "group",
    "transactional_id",
    "member_id",
    "instance_id",
    "generation",
    "protocol_type",
    "protocol",
    "leader",
    "session_timeout_ms",
    "rebalance_timeout_ms",
    "reason",
    "key_type",
    "cluster_id",
    "controller_id",
)
"""Attributes of Facts, in the order of the bits of `present`."""

TEXTS = frozenset(
    {
        "group",
        "transactional_id",
        "member_id",
        "instance_id",
        "protocol_type",
        "protocol",
        "leader",
        "reason",
        "cluster_id",
    }
)

FACTS = np.dtype(
    [
        ("start_time", "i8"),
        ("end_time", "i8"),
        ("start_number", "i8"),
        ("end_number", "i8"),
        ("records", "i8"),
        ("record_bytes", "i8"),
        ("raw", "i8"),
        ("raw_size", "i4"),
        ("size", "i4"),
        ("correlation_id", "i4"),
        ("client_id", "i4"),
        ("connection", "i4"),
        ("file", "i4"),
        ("present", "u4"),
        ("topics", "i4", (2,)),
        ("partitions", "i4", (2,)),
        ("batches", "i4", (2,)),
        ("forgotten", "i4", (2,)),
        ("endpoints", "i4", (2,)),
        *((name, "i4") for name in SCALARS if name not in ("records", "record_bytes")),
        ("api_key", "i2"),
        ("api_version", "i2"),
        ("is_request", "u1"),
        ("decoded", "u1"),
    ],
    align=True,
)
"""A message: what `message.Message`, the header and the facts tell of it.

`topics` and the others are begin and end in the arena of that name. `raw` and `raw_size`: where its kept bytes (behind
the size field) lie in the arena `raw`, of a message that the twin's reader is to read; else `raw` is NOTHING.
`api_key` and `api_version` of a response are those of its request, once it is known."""

PARTITION = np.dtype(
    [
        ("offset", "i8"),
        ("high_watermark", "i8"),
        ("last_stable_offset", "i8"),
        ("log_start_offset", "i8"),
        ("timestamp", "i8"),
        ("records", "i8"),
        ("record_bytes", "i8"),
        ("last_offset", "i8"),
        ("max_timestamp", "i8"),
        ("topic", "i4"),
        ("partition", "i4"),
        ("group", "i4"),
        ("error_code", "i4"),
        ("leader_id", "i4"),
        ("leader_epoch", "i4"),
        ("present", "u4"),
    ],
    align=True,
)
"""`PartitionFacts`; bit n of `present` is its field n."""

BATCH = np.dtype(
    [
        ("base_offset", "i8"),
        ("producer_id", "i8"),
        ("first_timestamp", "i8"),
        ("max_timestamp", "i8"),
        ("records", "i8"),
        ("topic", "i4"),
        ("partition", "i4"),
        ("last_offset_delta", "i4"),
        ("bytes", "i4"),
        ("producer_epoch", "i4"),
        ("base_sequence", "i4"),
        ("present", "u4"),
        ("magic", "i1"),
        ("codec", "i1"),
        ("transactional", "u1"),
        ("control", "u1"),
        ("log_append_time", "u1"),
        ("complete", "u1"),
    ],
    align=True,
)
"""`BatchFacts`; bit n of `present` is its field n."""

FORGOTTEN = np.dtype([("topic", "i4"), ("partition", "i4")], align=True)
"""A partition that a Fetch takes out of its session."""

ENDPOINT = np.dtype([("node_id", "i4"), ("port", "i4"), ("host", "i4"), ("rack", "i4")], align=True)
"""`EndpointFacts` of the tag node_endpoints (KIP-951)."""

PAIR = np.dtype([("asked", "i8"), ("answer", "i8"), ("connection", "i4"), ("outcome", "i4")], align=True)
"""What would be one call of `Pairing._emit`, in the order of these calls: indices into FACTS, NOTHING where there is
none, FROM_TWIN - n for what the twin holds as number n. `outcome` is an index into OUTCOMES."""


def topic_id(number: int) -> int:
    """The topic that is number `number` of the ids, and back."""
    return -2 - number
