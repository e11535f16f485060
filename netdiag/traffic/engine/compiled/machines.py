"""The state of the machines that read messages: one row of numbers each, and a few bytes of what has begun.

A machine is taken when a message begins and given back when it has ended; only unfinished messages hold one.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.kernel import kernel

CARRY = 128
"""The most bytes that are looked at together."""
DEPTH = 8
"""The most arrays and lists of tags inside one another."""

# What a machine does: nothing; read fields; keep the bytes for the twin's reader; wait for the end of the message.
IDLE, READING, KEEPING, DEAF = range(4)

# The numbers of a machine. A position is counted from where the message was handed over, behind its correlation id.
STATUS = 0
MESSAGE = 1
PC = 2
AT = 3  # where it reads, in the piece or in the carried bytes
LIMIT = 4  # where these end
BASE = 5  # what makes a position of AT
SAVED_AT, SAVED_LIMIT, SAVED_BASE = 6, 7, 8  # those of the piece, while it reads carried bytes
IN_CARRY = 9
CARRIED = 10
DONE = 11  # the position behind the pieces before
DECLARED = 12  # the position where the message ends
KEPT = 13  # the position where what is kept ends
IS_DRAINED = 15  # no more bytes are to come, and some are missing
TAG = 14  # the number of a tagged field
SKIP = 16
LENGTH, SHIFT, VALUE = 17, 18, 19
TOPIC, GROUP, PARTITION = 20, 21, 22
LEVEL = 23
ROW = 24  # the arena of the row that is open, else below 0
HAS_NEEDS = 25
IS_WALK, IN_HEADER, IS_CUT, IS_COUNTED, IS_LAST = 26, 27, 28, 29, 30
OUTCOME = 31  # see layout.DECODED, else below 0
IS_UNKNOWN = 32
SUMS = 33  # 0: no records in this message; 1: all are counted; 2: they are not known
RECORDS_END, RECORDS, LAST_OFFSET, HAS_LAST, LATEST, STAGE, ASKED, IS_EARLY, LEAST = range(34, 43)
BUFFER, BUFFERED = 43, 44  # a text on its way in the arena `raw`
IS_REQUEST, API_KEY, HAS_ROW, HAS_LOST = 45, 46, 47, 48
COUNTS = 49  # how often to go on, by level
ENDS = COUNTS + DEPTH  # where tagged fields end, by level
LIMITS = ENDS + DEPTH  # up to where the arenas are this message's
WIDTH = LIMITS + 6


class Machines(NamedTuple):
    """`free`: how many are free, then their numbers."""

    state: npt.NDArray[np.int64]
    carry: npt.NDArray[np.uint8]
    free: npt.NDArray[np.int32]


def machines(count: int = 64) -> Machines:
    """So many machines."""
    free = np.zeros(2 * count + 1, np.int32)
    free[0] = count
    free[1 : count + 1] = np.arange(count - 1, -1, -1)
    return Machines(np.zeros((count, WIDTH), np.int64), np.zeros((count, CARRY), np.uint8), free)


def more(old: Machines) -> Machines:
    """Twice as many; those that are in use keep their numbers."""
    count = len(old.state)
    new = machines(2 * count)
    new.state[:count], new.carry[:count] = old.state, old.carry
    idle = [*range(2 * count - 1, count - 1, -1), *old.free[1 : 1 + int(old.free[0])].tolist()]
    new.free[0] = len(idle)
    new.free[1 : 1 + len(idle)] = idle
    return new


@kernel
def take(machines: Machines) -> int:
    """The number of a free machine; -1 where there is none, see `more`."""
    free: Any = machines.free
    if free[0] == 0:
        return -1
    number: int = free[free[0]]
    free[0] -= 1
    return number


@kernel
def give_back(machines: Machines, number: int) -> None:
    """The machine is free."""
    machines.state[number, STATUS] = IDLE
    machines.free[0] += 1
    machines.free[machines.free[0]] = number
