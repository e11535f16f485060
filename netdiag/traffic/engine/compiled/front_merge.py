"""Chunks of files that overlap in time as one chunk, in the order of their packets.

The order is that of `Captures.packets`: the file whose next packet is the earliest gives packets as long as no other
file has an earlier one; those of one file keep their order, even where its clock goes back.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.compiled.front import Chunk
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import NOTHING

Array = np.ndarray[Any, Any]

_NEVER = 2**63 - 1


class Waiting(NamedTuple):
    """The packets of a chunk from `begin` on."""

    chunk: Chunk
    begin: int


def can_merge(waiting: Sequence[Waiting]) -> bool:
    """Whether the chunks agree on the numbers of pairs, and all interfaces have numbers."""
    names = sum(len(each.chunk.interfaces) for each in waiting)
    return (
        names < 1 << 15
        and len({each.chunk.epoch for each in waiting}) == 1
        and not any(each.chunk.strange for each in waiting)
    )


def merged(waiting: Sequence[Waiting], running: int, until: int) -> tuple[Chunk | None, list[int], int]:
    """The packets until the first file has none left, or it is `until` (below 0: never); None where there are none.

    `waiting` are by number of their file, `running` is the one that gave the last packet, or NOTHING. Also how many
    of each were taken, and which one runs now.
    """
    times = np.concatenate([each.chunk.packets["time"][each.begin :] for each in waiting])
    sizes = np.array([len(each.chunk.packets) - each.begin for each in waiting], np.int64)
    begins = np.concatenate(([0], np.cumsum(sizes)))[:-1]
    places, order = begins.copy(), np.zeros(len(times), np.int64)
    state = np.array([running, 0], np.int64)
    _order(times, places, begins + sizes, until, state, order)
    taken = [int(count) for count in places - begins]
    running, count = int(state[0]), int(state[1])
    if not count:
        return None, taken, running
    return _made(waiting, taken, order[:count], begins), taken, running


def _made(waiting: Sequence[Waiting], taken: list[int], order: Array, begins: Array) -> Chunk:
    packets, data, interfaces, files = [], [], list[str](), list[int]()
    # Where each file's packets begin among those that were taken of all files.
    ranks, shift, base = np.zeros(len(waiting), np.int64), 0, 0
    for index, ((chunk, begin), count) in enumerate(zip(waiting, taken, strict=True)):
        rows = chunk.packets[begin : begin + count].copy()
        ranks[index], base = base, base + count
        if count:
            first = int(rows["start"].min())
            last = int((rows["start"] + rows["captured"]).max())
            rows["start"] += shift - first
            rows["payload"] += shift - first
            rows["interface"] += len(interfaces)
            data.append(chunk.data[first:last])
            shift += last - first
        packets.append(rows)
        interfaces += chunk.interfaces
        files += [chunk.file] * len(chunk.interfaces)
    # From places among all that wait to places among those that were taken.
    owner = np.searchsorted(begins, order, side="right") - 1
    newest = max((each.chunk for each in waiting), key=lambda chunk: chunk.pairs)
    return Chunk(
        file=NOTHING,
        files=files,
        data=np.concatenate(data),
        packets=np.concatenate(packets)[order - begins[owner] + ranks[owner]],
        keys=newest.keys,
        pairs=newest.pairs,
        epoch=newest.epoch,
        interfaces=interfaces,
        strange={},
    )


@kernel
def _order(times: Array, places: Array, ends: Array, until: int, state: Array, order: Array) -> None:
    """Note which packets come next; `state` is the file that runs, and how many there are."""
    running: Any = np.int64(state[0])
    count = 0
    while True:
        limit: Any = np.int64(_NEVER if until < 0 else until)
        first: Any = np.int64(-1)
        for file in range(len(places)):
            if places[file] >= ends[file]:
                state[0], state[1] = running, count
                return
            if file == running:
                continue
            if first < 0 or times[places[file]] < times[places[first]]:
                first = file
        if first >= 0:
            limit = min(limit, times[places[first]])
        if running < 0 or times[places[running]] > limit:
            # Whose turn it is now: the earliest, of those the first; whoever ran is one of them again.
            if running >= 0 and (
                first < 0
                or times[places[running]] < times[places[first]]
                or (times[places[running]] == times[places[first]] and running < first)
            ):
                first = running
            running = np.int64(-1)
            if 0 <= until <= times[places[first]]:
                break
            running = first
            order[count] = places[running]
            places[running] += 1
            count += 1
            continue
        while places[running] < ends[running] and times[places[running]] <= limit:
            order[count] = places[running]
            places[running] += 1
            count += 1
    state[0], state[1] = running, count
