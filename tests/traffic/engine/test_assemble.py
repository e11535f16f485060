"""Rows of exchanges, from what both messages tell."""

from netdiag.traffic.engine.assemble import Answer, Asked, Context, exchange_row
from netdiag.traffic.engine.bodies import RequestFacts, ResponseFacts
from netdiag.traffic.engine.headers import RequestHeader
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.topic_ids import TopicIds

CONTEXT = Context(5, "c:1", "b:2", ("a.pcap",), TopicIds())
HEADER = RequestHeader(1, 12, 3, "app", 20, True)


def message(is_request: bool, start: int, end: int) -> Message:
    return Message(is_request, 100, b"", None, start * 1_000_000, end * 1_000_000, start, end, 0)


def facts(decoded: str) -> RequestFacts:
    made = RequestFacts()
    made.decoded = decoded
    made.topics = ("a", b"\x00" * 16, "a")
    return made


def test_times_run_from_the_last_byte_of_the_request() -> None:
    asked = Asked(HEADER, message(True, 1, 4), facts("full"))
    row = exchange_row(CONTEXT, asked, Answer(3, message(False, 6, 9), ResponseFacts()), "answered")
    assert (row.latency_ms, row.service_ms) == (5.0, 2.0)
    assert (row.time, row.response_time, row.request_packet, row.response_packet) == (4_000_000, 9_000_000, 4, 9)


def test_the_worse_of_both_bodies_counts() -> None:
    said = ResponseFacts()
    said.decoded = "header"
    asked = Asked(HEADER, message(True, 1, 1), facts("truncated"))
    assert exchange_row(CONTEXT, asked, Answer(3, message(False, 2, 2), said), "answered").decoded == "header"
    assert exchange_row(CONTEXT, asked, None, "unanswered").decoded == "truncated"


def test_topics_are_named_once() -> None:
    row = exchange_row(CONTEXT, Asked(HEADER, message(True, 1, 1), facts("full")), None, "unanswered")
    assert row.topics == ("a", "AAAAAAAAAAAAAAAAAAAAAA")


def test_topics_are_named_where_their_id_is_known() -> None:
    ids = TopicIds()
    ids.learn([(b"\x00" * 16, "named")])
    asked = Asked(HEADER, message(True, 1, 1), facts("full"))
    assert exchange_row(CONTEXT._replace(topic_ids=ids), asked, None, "unanswered").topics == ("a", "named")


def test_a_response_alone() -> None:
    row = exchange_row(CONTEXT, None, Answer(3, message(False, 2, 2), None), "no-request")
    assert (row.api_key, row.request_bytes, row.response_bytes, row.correlation_id) == (None, None, 100, 3)
    assert row.outcome == "no-request"
