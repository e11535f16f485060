"""The entries of requests that wait, for whoever looks at them from outside of the kernels of packets."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.lane_state import FREE_PENDING, PAIRS, Array
from netdiag.traffic.engine.compiled.layout import NOTHING, OUTCOMES
from netdiag.traffic.engine.talk import WAITING

_NO_RESPONSE, _UNANSWERED = (OUTCOMES.index(name) for name in ("no-response", "unanswered"))


@kernel
def before(pending: Array, first: Any, correlation_id: Any) -> Any:
    """How many stand before the first of that id; below 0 where there is none of it."""
    entry = np.int64(first)
    count = 0
    while entry != NOTHING:
        if pending[entry].correlation_id == correlation_id:
            return count
        entry = np.int64(pending[entry].next)
        count += 1
    return -1


@kernel
def latest(pending: Array, first: Any, count: Any, found: Array) -> Any:
    """Write id and api of the last WAITING of `count` into `found`.

    Gives how many of all have no api, and of how many the id is not larger than that of the one before it.
    """
    entry = np.int64(first)
    last = np.int64(-1 << 40)
    unsorted = 0
    at = min(WAITING, count) - count
    strange = 0
    while entry != NOTHING:
        strange += pending[entry].api < 0
        unsorted += pending[entry].correlation_id <= last
        last = np.int64(pending[entry].correlation_id)
        if at >= 0:
            found[at, 0] = pending[entry].correlation_id
            found[at, 1] = pending[entry].api
        at += 1
        entry = np.int64(pending[entry].next)
    return strange, unsorted


@kernel
def give_up(pending: Array, numbers: Array, pairs: Array, first: Any, count: Any, context: Any) -> Any:
    """Pair up to `count` requests with nothing, as far as there is room; gives how many, and the first of the rest."""
    entry = np.int64(first)
    given = 0
    while given < count and numbers[PAIRS] < len(pairs):
        pair = pairs[numbers[PAIRS]]
        numbers[PAIRS] += 1
        pair.asked = pending[entry].asked
        pair.answer = NOTHING
        pair.connection = context
        pair.outcome = _NO_RESPONSE if pending[entry].silent else _UNANSWERED
        following = np.int64(pending[entry].next)
        pending[entry].next = numbers[FREE_PENDING]
        pending[entry].asked = NOTHING
        numbers[FREE_PENDING] = entry
        entry = following
        given += 1
    return given, entry
