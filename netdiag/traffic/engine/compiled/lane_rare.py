"""Records of what few directions have at a time: memory of those that are not written is not taken."""

import numpy as np

TROUBLE = np.dtype(
    [
        ("duplicates", "i8"),
        ("retransmissions", "i8"),
        ("keep_alives", "i8"),
        ("zero_windows", "i8"),
        ("truncated_bytes", "i8"),
        ("cut_bytes", "i8"),
        ("cut_times", "i8"),
        ("cut_time", "i8"),
    ]
)
"""What is counted of a direction that has HAS_TROUBLE, as few have: nothing else is written there, so that it takes no
memory. `cut_bytes` and so on: what messages lack that the snap length cut, since the check-in."""

UNFINISHED = np.dtype(
    [
        ("start_time", "i8"),
        ("start_number", "i8"),
        ("carry", "i8"),
        ("carried", "i4"),
        ("room", "i4"),
        ("size", "i4"),
        ("left", "i4"),
        ("next", "i4"),
        ("header", "u4"),
        ("header_length", "u1"),
        ("broken", "u1"),
    ],
    align=True,
)
"""A message that was not all in one packet. `carry`: where its `carried` bytes lie, with `room` for so many: kept for
the next message until there is no more. `next`: of an entry that is free, the next of these. The first is nobody's."""
