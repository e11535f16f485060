"""Fill the tables from the exchanges of a capture, with what only several exchanges together tell.

That is which topic an id means, and which offsets are in force in fetch sessions. Teach it every exchange in the order
of the capture, also those whose rows are not wanted.
"""

from collections.abc import Mapping
from typing import Any

from netdiag.traffic.engine import details
from netdiag.traffic.engine.assemble import Answer, Asked, Context
from netdiag.traffic.engine.details import FETCH, Exchange
from netdiag.traffic.engine.sessions import FetchSessions, Offsets
from netdiag.traffic.engine.topic_ids import TopicIds

Rows = Mapping[str, list[tuple[Any, ...]]]


class Assembly:
    """Rows of partitions, batches, group_events, endpoints and leaders, for those tables that `rows` has."""

    __slots__ = ("_offsets", "_sessions", "topic_ids")

    def __init__(self) -> None:
        self.topic_ids = TopicIds()
        self._sessions = FetchSessions()
        self._offsets: Offsets | None = None

    def learn(self, context: Context, asked: Asked | None, answer: Answer | None) -> None:
        """Take in what an exchange tells about others; to be called before its rows are added."""
        said = None if answer is None else answer.facts
        self._offsets = None
        if said is not None and said.names:
            self.topic_ids.learn(said.names)
        if asked is None:
            return
        if asked.facts.names:
            self.topic_ids.learn(asked.facts.names)
        if asked.header.api_key == FETCH and asked.facts.session_epoch is not None:
            self._offsets = self._sessions.exchange(context.broker, asked.facts, said)

    def add(self, rows: Rows, context: Context, asked: Asked, answer: Answer | None) -> None:
        """Add the rows of an exchange."""
        header, message, facts = asked
        if header.api_key is None or header.correlation_id is None:
            return
        exchange = Exchange(
            message.end_time,
            None if answer is None else answer.message.end_time,
            context.connection,
            context.client,
            context.broker,
            header.correlation_id,
            header.api_key,
            header.client_id,
            facts,
            None if answer is None else answer.facts,
        )
        if "partitions" in rows:
            rows["partitions"].extend(details.partition_rows(exchange, self.topic_ids, self._offsets))
        if "batches" in rows:
            rows["batches"].extend(details.batch_rows(exchange, self.topic_ids))
        if "group_events" in rows and header.api_key in details.GROUP_KEYS:
            rows["group_events"].append(details.group_event_row(exchange, self.topic_ids))
        if "endpoints" in rows:
            rows["endpoints"].extend(details.endpoint_rows(exchange))
        if "leaders" in rows:
            rows["leaders"].extend(details.leader_rows(exchange, self.topic_ids))
