"""From pairs of messages to rows of exchanges, partitions and batches, all of them records in arrays.

A request or answer is a record of `main`, or with a number below NOTHING one of `side`: what Python had to read.
"""

from typing import Any, NamedTuple

from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.exchange_row import TOPICS, alone, answered, asked_for, placed, unanswered
from netdiag.traffic.engine.compiled.joining import NONE, Join, prepare
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import NOTHING, SCALARS
from netdiag.traffic.engine.compiled.partition_rows import (
    PRODUCE,
    answer_row,
    batch_row,
    carried,
    in_force,
    partition_row,
    produced_until,
    requested,
    told,
)
from netdiag.traffic.engine.compiled.row_bits import mask
from netdiag.traffic.engine.compiled.sessions import Sessions, begin, end, has_room
from netdiag.traffic.engine.compiled.words import Numbers, Words, shown, text_of

ALL, ROWS_FULL, SESSIONS_FULL = range(3)
"""Why the kernel came back: no more pairs; no room for the rows of the pair, or for its partitions in sessions."""

EXCHANGES, LISTED, PARTITIONS, BATCHES, STAMP, NEED_LISTED, NEED_PARTITIONS, NEED_BATCHES, ENDS = range(9)
"""In `ends`: how much of each array is used, and what the pair at hand needs."""

FETCH = 1
_SESSION_ID = mask(SCALARS, "session_id")
_SESSION_EPOCH = mask(SCALARS, "session_epoch")
# No session id: below all that fit into four bytes.
_SAYS_NONE = -(1 << 40)


class Wish(NamedTuple):
    """What is wanted: the tables; whether clients, brokers and topics are filtered."""

    exchanges: bool
    partitions: bool
    batches: bool
    clients: bool
    brokers: bool
    topics: bool


class Out(NamedTuple):
    """Where rows go, how much of it is used, and when a text was last listed among topics."""

    exchanges: Numbers
    listed: Numbers
    partitions: Numbers
    batches: Numbers
    ends: Numbers
    stamps: Numbers


class Sources(NamedTuple):
    """What rows are made of; `local`: of each pair its connection's place in `connections`."""

    main: Arenas
    side: Arenas
    pairs: Numbers
    local: Numbers
    connections: Numbers


@kernel
def gather(
    sources: Sources,
    first: int,
    serial: int,
    words: Words,
    sessions: Sessions,
    join: Join,
    wish: Wish,
    out: Out,
) -> Any:
    """Rows of the pairs from `first` on, the first of all being number `serial`. Gives (why it ends, next pair)."""
    main, side = sources.main, sources.side
    for index in range(first, len(sources.pairs)):
        pair = sources.pairs[index]
        where = sources.connections[sources.local[index]]
        if pair.asked == NOTHING:
            if out.ends[EXCHANGES] == len(out.exchanges):
                return ROWS_FULL, index
            source = main if pair.answer >= 0 else side
            said = source.facts[pair.answer if pair.answer >= 0 else -2 - pair.answer]
            _alone(words, where, said, wish, out)
            continue
        one = main if pair.asked >= 0 else side
        asked = one.facts[pair.asked if pair.asked >= 0 else -2 - pair.asked]
        has_answer = pair.answer != NOTHING
        # Where there is no answer, that of `said` is not looked at.
        two = one
        said = asked
        if has_answer:
            two = main if pair.answer >= 0 else side
            said = two.facts[pair.answer if pair.answer >= 0 else -2 - pair.answer]
        if not _has_room(asked, said, has_answer, wish, out):
            return ROWS_FULL, index
        slot = NONE
        follows = wish.partitions and asked.api_key == FETCH and asked.present & _SESSION_EPOCH != 0
        if follows:
            if not has_room(sessions, asked.partitions[1] - asked.partitions[0]):
                return SESSIONS_FULL, index
            says = has_answer and said.present & _SESSION_ID != 0
            slot = begin(sessions, where.broker, one, asked, said.session_id if says else _SAYS_NONE)
        number = serial + index
        if _is_wanted(words, where, text_of(one, asked.client_id), wish) and _exchange(
            words, where, one, asked, two, said, has_answer, number, wish, out
        ):
            if wish.partitions:
                _partitions(words, where, one, asked, two, said, has_answer, number, sessions, slot, join, out)
            if wish.batches:
                _batches(words, where, one, asked, one, asked, number, out)
                if has_answer:
                    _batches(words, where, one, asked, two, said, number, out)
        if follows:
            end(sessions, slot)
    return ALL, len(sources.pairs)


@kernel
def _has_room(asked: Any, said: Any, has_answer: bool, wish: Wish, out: Out) -> bool:
    listed = asked.topics[1] - asked.topics[0]
    partitions = asked.partitions[1] - asked.partitions[0]
    batches = asked.batches[1] - asked.batches[0]
    if has_answer:
        listed += said.topics[1] - said.topics[0]
        partitions += said.partitions[1] - said.partitions[0]
        batches += said.batches[1] - said.batches[0]
    ends = out.ends
    ends[NEED_LISTED] = listed
    ends[NEED_PARTITIONS] = partitions
    ends[NEED_BATCHES] = batches
    return (
        ends[EXCHANGES] < len(out.exchanges)
        and ends[LISTED] + listed <= len(out.listed)
        and (not wish.partitions or ends[PARTITIONS] + partitions <= len(out.partitions))
        and (not wish.batches or ends[BATCHES] + batches <= len(out.batches))
    )


@kernel
def _is_wanted(words: Words, where: Any, client_id: int, wish: Wish) -> bool:
    if wish.brokers and not where.is_broker:
        return False
    if not wish.clients or where.is_client:
        return True
    # Nobody is asked for by the name ''; a request without a name has that.
    return client_id >= 0 and words.clients[client_id] != 0


@kernel
def _alone(words: Words, where: Any, said: Any, wish: Wish, out: Out) -> None:
    if wish.topics or not wish.exchanges or not _is_wanted(words, where, where.client_id, wish):
        return
    row = out.exchanges[out.ends[EXCHANGES]]
    placed(row, where)
    alone(row, words, said)
    row.topics[0] = row.topics[1] = out.ends[LISTED]
    out.ends[EXCHANGES] += 1


@kernel
def _exchange(
    words: Words,
    where: Any,
    one: Arenas,
    asked: Any,
    two: Arenas,
    said: Any,
    has_answer: bool,
    number: int,
    wish: Wish,
    out: Out,
) -> bool:
    """The row of the exchange, where that is wanted; whether its topics are."""
    before = out.ends[LISTED]
    out.ends[STAMP] += 1
    is_wanted = _list(words, one, asked, number, wish, out)
    if has_answer and _list(words, two, said, number, wish, out):
        is_wanted = True
    if not wish.exchanges or not is_wanted:
        out.ends[LISTED] = before
        return is_wanted
    row = out.exchanges[out.ends[EXCHANGES]]
    placed(row, where)
    asked_for(row, words, one, asked)
    if has_answer:
        answered(row, words, asked, said)
    else:
        unanswered(row, words, asked)
    row.topics[0] = before
    row.topics[1] = out.ends[LISTED]
    if out.ends[LISTED] > before:
        row.present |= TOPICS
    out.ends[EXCHANGES] += 1
    return True


@kernel
def _list(words: Words, arenas: Arenas, facts: Any, number: int, wish: Wish, out: Out) -> bool:
    """List the topics that were not listed for this exchange yet; whether one is wanted."""
    is_wanted = not wish.topics
    at, stamp = out.ends[LISTED], out.ends[STAMP]
    for index in range(facts.topics[0], facts.topics[1]):
        text = shown(words, arenas, arenas.topics[index], number)
        if out.stamps[text] != stamp:
            out.stamps[text] = stamp
            out.listed[at] = text
            at += 1
            if wish.topics and words.topics[text]:
                is_wanted = True
    out.ends[LISTED] = at
    return is_wanted


@kernel
def _partitions(
    words: Words,
    where: Any,
    one: Arenas,
    asked: Any,
    two: Arenas,
    said: Any,
    has_answer: bool,
    number: int,
    sessions: Sessions,
    slot: int,
    join: Join,
    out: Out,
) -> None:
    """First what was answered, in that order, then what was not."""
    keys = prepare(join, one, asked.partitions[0], asked.partitions[1])
    produce = asked.api_key == PRODUCE
    at = out.ends[PARTITIONS]
    if has_answer:
        for index in range(said.partitions[0], said.partitions[1]):
            answer = two.partitions[index]
            row = out.partitions[at]
            at += 1
            partition_row(row, where, words, one, asked, answer, two, number)
            place = answer_row(join, one, two, answer)
            if place != NONE:
                request = one.partitions[place]
                requested(row, request)
                if produce:
                    carried(row, request, produce)
            else:
                in_force(row, sessions, slot, two, answer)
            if not produce:
                carried(row, answer, produce)
            told(row, answer, produce)
            if produce:
                produced_until(row)
    for key in range(keys):
        if not join.taken[key]:
            request = one.partitions[join.rows[key]]
            row = out.partitions[at]
            at += 1
            partition_row(row, where, words, one, asked, request, one, number)
            requested(row, request)
            if produce:
                carried(row, request, produce)
    out.ends[PARTITIONS] = at


@kernel
def _batches(
    words: Words, where: Any, one: Arenas, asked: Any, source: Arenas, facts: Any, number: int, out: Out
) -> None:
    at = out.ends[BATCHES]
    for index in range(facts.batches[0], facts.batches[1]):
        batch_row(out.batches[at], where, words, one, asked, source.batches[index], source, number)
        at += 1
    out.ends[BATCHES] = at
