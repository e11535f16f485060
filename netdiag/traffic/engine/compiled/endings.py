"""The end of a message: how far it was decoded, and what of its sums is known then."""

import numpy as np

from netdiag.kafka.protocol.table import CONTROLLED_SHUTDOWN
from netdiag.traffic.engine.bodies.read import FETCH, SHARE_FETCH
from netdiag.traffic.engine.compiled import machines as reg
from netdiag.traffic.engine.compiled.entries import end_records
from netdiag.traffic.engine.compiled.fields import ERROR_BIT, PRESENT
from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.layout import SCALARS
from netdiag.traffic.engine.compiled.machines import MESSAGE
from netdiag.traffic.engine.compiled.places import RANGES
from netdiag.traffic.engine.compiled.store import Array, Store
from netdiag.traffic.engine.compiled.strings import add
from netdiag.traffic.engine.compiled.taking import FAILED, FULL, HEADER, TRUNCATED

_COUNT = 1 << SCALARS.index("records")
_RECORDS = _COUNT | 1 << SCALARS.index("record_bytes")
_EMPTY = 1 << SCALARS.index("empty")
_REPLICA = 1 << SCALARS.index("replica_id")


@kernel
def close_kept(store: Store, s: Array) -> None:
    """A message that another reader reads: its client is told all the same."""
    facts = store.facts
    m = s[MESSAGE]
    begin, size = s[reg.BUFFER], s[reg.BUFFERED]
    facts[m].raw = begin
    facts[m].raw_size = size
    facts[m].records = 0
    raw = store.raw
    if not s[reg.IS_REQUEST] or size < 10:
        return
    if facts[m].api_key == CONTROLLED_SHUTDOWN and facts[m].api_version == 0:
        return
    length: int = np.int64(raw[begin + 8]) << 8 | np.int64(raw[begin + 9])  # type: ignore[assignment]
    if length < 1 << 15 and 10 + length <= size:
        facts[m].client_id = add(store.strings, raw, begin + 10, length)


@kernel
def close_whole(store: Store, s: Array) -> None:
    """A message that was read to its end at once."""
    if s[reg.SUMS]:
        _sums(store, s, FULL)
    _whole(store, s)


@inlined
def close(store: Store, s: Array, at_records: bool) -> None:
    """A message that was read here; `at_records`: its bytes ended inside of records."""
    facts = store.facts
    m = s[MESSAGE]
    outcome = s[reg.OUTCOME]
    if s[reg.IS_UNKNOWN]:
        outcome = HEADER
    elif s[reg.IN_HEADER]:
        outcome = TRUNCATED if s[reg.IS_CUT] else FAILED
    elif s[reg.IS_WALK]:
        if outcome < 0:
            outcome = TRUNCATED
            if at_records:
                if s[reg.ASKED] < s[reg.RECORDS_END]:
                    s[reg.RECORDS] = -1
                end_records(store, s)
                s[reg.IS_LAST] = s[reg.DECLARED] - s[reg.RECORDS_END] < s[reg.LEAST]
    elif outcome < 0:
        outcome = FAILED
    if s[reg.ROW] > 0 and not (s[reg.HAS_NEEDS] and (s[reg.IS_CUT] or s[reg.IS_WALK])):
        store.facts_words[m, RANGES + 2 * s[reg.ROW] + 1] -= 1
    if s[reg.SUMS]:
        _sums(store, s, outcome)
    if outcome == FULL:
        _whole(store, s)
    if outcome == FULL and s[reg.IS_WALK] and s[reg.HAS_LOST]:
        outcome = TRUNCATED
    facts[m].decoded = outcome


@inlined
def _sums(store: Store, s: Array, outcome: int) -> None:
    """Of a message that was not read to its end it is known rarely how many records it has."""
    facts = store.facts
    words = store.facts_words
    m = s[MESSAGE]
    seen = s[reg.IS_LAST] if s[reg.IS_WALK] else s[reg.IS_CUT] and s[reg.IS_COUNTED]
    known = outcome == FULL or (outcome == TRUNCATED and seen)
    size = facts[m].record_bytes
    if not s[reg.IS_REQUEST]:
        fetched = s[reg.API_KEY] == FETCH or s[reg.API_KEY] == SHARE_FETCH
        if size and (fetched or not known):
            facts[m].empty = 0
            words[m, PRESENT] |= _EMPTY
        elif fetched and outcome == FULL:
            facts[m].empty = 1
            words[m, PRESENT] |= _EMPTY
    if known:
        words[m, PRESENT] |= _RECORDS
        if s[reg.SUMS] == 2:
            words[m, PRESENT] &= ~_COUNT
    if not words[m, PRESENT] & _COUNT:
        facts[m].records = 0


@inlined
def _whole(store: Store, s: Array) -> None:
    """What a message says by not saying it."""
    facts = store.facts
    words = store.facts_words
    m = s[MESSAGE]
    if not s[reg.IS_REQUEST]:
        if not words[m, PRESENT] & ERROR_BIT:
            facts[m].error_code = 0
            words[m, PRESENT] |= ERROR_BIT
    elif s[reg.API_KEY] == FETCH and not words[m, PRESENT] & _REPLICA:
        facts[m].replica_id = -1
        words[m, PRESENT] |= _REPLICA
