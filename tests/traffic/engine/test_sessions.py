"""Fetch sessions, told as a client and a broker tell them (KIP-227)."""

from netdiag.traffic.engine.bodies.facts import PartitionFacts, RequestFacts, ResponseFacts
from netdiag.traffic.engine.sessions import FetchSessions


def fetch(session: int, epoch: int, forgotten: tuple[int, ...] = (), **offsets: int) -> RequestFacts:
    facts = RequestFacts()
    facts.session_id, facts.session_epoch = session, epoch
    facts.forgotten = [("t", number) for number in forgotten]
    nothing = (None,) * (len(PartitionFacts._fields) - 5)
    facts.partitions = [
        PartitionFacts("t", int(name[1:]), None, None, offset, *nothing) for name, offset in offsets.items()
    ]
    return facts


def said(session: int | None) -> ResponseFacts:
    facts = ResponseFacts()
    facts.session_id = session
    return facts


def test_a_request_without_a_session_speaks_for_itself() -> None:
    sessions = FetchSessions()
    assert sessions.exchange("b", fetch(0, -1, p0=5), said(0)) == {("t", 0): 5}
    assert sessions.exchange("b", fetch(0, -1, p1=6), said(0)) == {("t", 1): 6}


def test_offsets_hold_until_they_are_said_anew_or_forgotten() -> None:
    sessions = FetchSessions()
    sessions.exchange("b", fetch(0, 0, p0=5, p1=6), said(77))
    assert sessions.exchange("b", fetch(77, 1), said(77)) == {("t", 0): 5, ("t", 1): 6}
    assert sessions.exchange("b", fetch(77, 2, p1=9), said(77)) == {("t", 0): 5, ("t", 1): 9}
    assert sessions.exchange("b", fetch(77, 3, forgotten=(0,)), said(77)) == {("t", 1): 9}
    assert sessions.exchange("b", fetch(77, 4), None) == {("t", 1): 9}, "an answer that is missing ends nothing"
    assert sessions.exchange("b", fetch(77, 5), said(None)) == {("t", 1): 9}


def test_a_session_ends_with_its_last_epoch_an_error_or_another_broker() -> None:
    sessions = FetchSessions()
    sessions.exchange("b", fetch(0, 0, p0=5), said(77))
    assert sessions.exchange("other", fetch(77, 1), said(77)) == {}
    assert sessions.exchange("b", fetch(77, 1), said(0)) == {("t", 0): 5}
    assert sessions.exchange("b", fetch(77, 2), said(77)) == {}
    sessions.exchange("b", fetch(0, 0, p0=5), said(78))
    sessions.exchange("b", fetch(78, -1, p0=5), said(0))
    assert sessions.exchange("b", fetch(78, 1), said(78)) == {}


def test_those_not_used_for_longest_are_forgotten() -> None:
    sessions = FetchSessions(most_sessions=2)
    for number in (1, 2, 3):
        sessions.exchange("b", fetch(0, 0, p0=number), said(number))
    assert [sessions.exchange("b", fetch(number, 1), said(0)) for number in (1, 2, 3)] == [
        {},
        {("t", 0): 2},
        {("t", 0): 3},
    ]
    few = FetchSessions(most_partitions=2)
    few.exchange("b", fetch(0, 0, p0=1, p1=1), said(1))
    few.exchange("b", fetch(0, 0, p0=2), said(2))
    assert [few.exchange("b", fetch(number, 1), said(0)) for number in (1, 2)] == [{}, {("t", 0): 2}]
