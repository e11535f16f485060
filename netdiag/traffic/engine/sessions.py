"""The offsets that are in force in fetch sessions (KIP-227).

An incremental Fetch names only the partitions whose offset changed, and its answer only those with news; what a
partition of the answer was fetched from has then been said by an earlier request. A session belongs to a broker and
outlives the connection. Memory is bounded: the sessions that were not used for longest are forgotten.
"""

from collections import OrderedDict

from netdiag.traffic.engine.bodies.facts import RequestFacts, ResponseFacts, Topic

MOST_SESSIONS = 4096
MOST_PARTITIONS = 500_000

Offsets = dict[tuple[Topic, int], int]

_NO_SESSION = 0
_LAST = -1
_FULL = (0, _LAST)
"""Epochs of requests that name all their partitions: the first one of a session, and one without or after it. An
error of the session itself is answered with session id 0."""


class FetchSessions:
    """The sessions of all brokers of a capture."""

    __slots__ = ("_most_partitions", "_most_sessions", "_partitions", "_sessions")

    def __init__(self, most_sessions: int = MOST_SESSIONS, most_partitions: int = MOST_PARTITIONS) -> None:
        self._most_sessions = most_sessions
        self._most_partitions = most_partitions
        self._partitions = 0
        self._sessions: OrderedDict[tuple[str, int], Offsets] = OrderedDict()

    def exchange(self, broker: str, asked: RequestFacts, said: ResponseFacts | None) -> Offsets:
        """Follow a Fetch and its answer; gives the offsets that the answer's partitions were fetched from."""
        number = asked.session_id or _NO_SESSION
        known = None
        if number != _NO_SESSION:
            known = self._take(broker, number)
        offsets: Offsets = {} if known is None or asked.session_epoch in _FULL else known
        for row in asked.partitions:
            if row.offset is not None:
                offsets[row.topic, row.partition] = row.offset
        for forgotten in asked.forgotten:
            offsets.pop(forgotten, None)
        told = None if said is None else said.session_id
        following = number if told is None else told
        if following != _NO_SESSION and asked.session_epoch != _LAST:
            self._put(broker, following, offsets)
        return offsets

    def _take(self, broker: str, number: int) -> Offsets | None:
        offsets = self._sessions.pop((broker, number), None)
        if offsets is not None:
            self._partitions -= len(offsets)
        return offsets

    def _put(self, broker: str, number: int, offsets: Offsets) -> None:
        self._take(broker, number)
        self._sessions[broker, number] = offsets
        self._partitions += len(offsets)
        while self._sessions and (
            len(self._sessions) > self._most_sessions or self._partitions > self._most_partitions
        ):
            self._partitions -= len(self._sessions.popitem(last=False)[1])
