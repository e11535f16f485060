"""Questions to name servers and their answers, as clients, Docker and captures from several places show them."""

from collections.abc import Sequence
from struct import pack
from typing import Any

import dns.message
import dns.rcode
import dns.rrset
import pytest

from tests.native.packets import SECOND, Packet, udp_packet
from tests.native.reading import rows_of_packets

CLIENT, SERVER, DOCKER = "172.18.0.5", "10.0.0.53", "127.0.0.11"


def _query(name: str = "Broker-1.example", kind: str = "A", *, number: int = 7, edns: bool = False) -> bytes:
    made = dns.message.make_query(name, kind, id=number, use_edns=0 if edns else False)
    return bytes(made.to_wire())


def _reply(query: bytes, *records: str, rcode: str = "NOERROR") -> bytes:
    question = dns.message.from_wire(query)
    made = dns.message.make_response(question)
    made.set_rcode(dns.rcode.from_text(rcode))
    name = question.question[0].name
    for record in records:
        kind, _, value = record.partition(" ")
        made.answer.append(dns.rrset.from_text(name, 60, "IN", kind, value))
    return bytes(made.to_wire())


def _sent(
    time: int,
    payload: bytes,
    *,
    source: str = f"{CLIENT}:40000",
    destination: str = f"{SERVER}:53",
    interface: str = "",
) -> Packet:
    return udp_packet(source, destination, payload, time=time, interface=interface)


def _back(
    time: int, payload: bytes, *, source: str = f"{SERVER}:53", to: str = f"{CLIENT}:40000", interface: str = ""
) -> Packet:
    return _sent(time, payload, source=source, destination=to, interface=interface)


def _rows(*datagrams: Packet, lost: int = 0) -> Sequence[Any]:
    """The rows of `names`; so many datagrams are no questions or answers."""
    rows = rows_of_packets(datagrams)
    assert sum(loss.times for loss in rows["losses"]) == lost
    return rows["names"]


@pytest.mark.parametrize("edns", [False, True])
@pytest.mark.parametrize(
    ("kind", "records", "rcode", "addresses"),
    [
        ("A", ["A 10.1.0.1", "A 10.1.0.2"], "NOERROR", ("10.1.0.1", "10.1.0.2")),
        ("A", ["CNAME other.example.", "A 10.1.0.1"], "NOERROR", ("10.1.0.1",)),
        ("AAAA", ["AAAA fd00::1"], "NOERROR", ("fd00::1",)),
        ("A", [], "NXDOMAIN", ()),
        ("AAAA", [], "NOERROR", ()),
        ("A", [], "SERVFAIL", ()),
        ("A", [], "REFUSED", ()),
        ("SRV", ["SRV 0 0 9092 broker.example."], "NOERROR", ()),
    ],
)
def test_a_question_and_its_answer(
    kind: str, records: list[str], rcode: str, addresses: tuple[str, ...], edns: bool
) -> None:
    query = _query(kind=kind, edns=edns)
    (row,) = _rows(_sent(5, query), _back(1_500_005, _reply(query, *records, rcode=rcode)))
    assert row._asdict() == {
        "time": 5,
        "client": f"{CLIENT}:40000",
        "server": f"{SERVER}:53",
        "name": "broker-1.example",
        "type": kind,
        "result": rcode,
        "addresses": addresses,
        "latency_ms": 1.5,
    }


def test_an_unusual_result_keeps_its_number() -> None:
    query = _query(kind="TYPE4000")
    row = _rows(_sent(5, query), _back(6, _reply(query, rcode="YXDOMAIN")))[0]
    assert (row.result, row.type) == ("RCODE(6)", "TYPE(4000)")


def test_a_question_without_an_answer_is_unanswered_and_so_is_each_retry() -> None:
    query = _query()
    rows = _rows(_sent(0, query), _sent(5 * SECOND, query), _back(5 * SECOND + 1, _reply(query, "A 10.1.0.1")))
    assert [(row.time, row.result) for row in rows] == [(0, "unanswered"), (5 * SECOND, "NOERROR")]
    assert rows[0].addresses is None
    assert rows[0].latency_ms is None


def test_docker_answers_from_another_port_than_was_asked() -> None:
    query = _query()
    rows = _rows(
        _sent(0, query, source="127.0.0.1:40000", destination=f"{DOCKER}:35353"),
        _back(1000, _reply(query, "A 172.18.0.2"), source=f"{DOCKER}:53", to="127.0.0.1:40000"),
    )
    assert [(row.server, row.result, row.latency_ms) for row in rows] == [(f"{DOCKER}:53", "NOERROR", 0.001)]


def test_each_container_has_a_loopback_of_its_own() -> None:
    query, other = _query(), _query("other.example")
    ends = {"source": "127.0.0.1:40000", "destination": f"{DOCKER}:35353"}
    back = {"source": f"{DOCKER}:53", "to": "127.0.0.1:40000"}
    rows = _rows(
        _sent(0, query, interface="a", **ends),
        _sent(1, other, interface="b", **ends),
        _back(2, _reply(other, "A 10.0.0.2"), interface="b", **back),
        _back(3, _reply(query, "A 10.0.0.1"), interface="a", **back),
    )
    assert {row.name: row.addresses for row in rows} == {
        "broker-1.example": ("10.0.0.1",),
        "other.example": ("10.0.0.2",),
    }


def test_the_same_packets_on_several_interfaces_count_once() -> None:
    query, places = _query(), ("veth1", "br0", "eth0")
    reply = _reply(query, "A 10.1.0.1")
    late = [_sent(3000, query, interface="late"), _back(3001, reply, interface="late")]
    asked = [_sent(index, query, interface=place) for index, place in enumerate(places)]
    answered = [_back(1000 + index, reply, interface=place) for index, place in enumerate(places)]
    rows = _rows(*asked, *answered, *late)
    assert [(row.time, row.result) for row in rows] == [(0, "NOERROR")]


def test_an_answer_whose_question_was_not_captured_still_counts() -> None:
    rows = _rows(_back(9, _reply(_query(), "A 10.1.0.1")))
    assert [(row.time, row.addresses, row.latency_ms) for row in rows] == [(9, ("10.1.0.1",), None)]


def test_an_answer_about_something_else_is_no_answer() -> None:
    rows = _rows(_sent(0, _query()), _back(1, _reply(_query("evil.example"), "A 10.6.6.6")))
    assert [(row.name, row.result) for row in rows] == [("evil.example", "NOERROR"), ("broker-1.example", "unanswered")]


def test_an_answer_may_leave_the_question_out() -> None:
    rows = _rows(_sent(0, _query()), _back(1, pack(">HHHHHH", 7, 0x8005, 0, 0, 0, 0)))
    assert [(row.name, row.result) for row in rows] == [("broker-1.example", "REFUSED")]


def test_dns_at_another_port_must_be_a_plain_question() -> None:
    for edns in (False, True):
        query = _query(edns=edns, number=8 + edns)
        rows = _rows(
            *(_sent(at, wrong, destination=f"{SERVER}:8600") for at, wrong in enumerate((query + b"\0", query[:-1]))),
            _sent(2, query, destination=f"{SERVER}:8600"),
            _back(3, _reply(_query(number=99), "A 10.1.0.1"), source=f"{SERVER}:8600"),
            _back(4, _reply(query, "A 10.1.0.1"), source=f"{SERVER}:8600"),
            lost=3,
        )
        assert [row.result for row in rows] == ["NOERROR"]


@pytest.mark.parametrize("port", [137, 5353, 5355])
def test_what_looks_like_it_and_asks_no_name_server_is_left_out(port: int) -> None:
    assert not _rows(_sent(0, _query(), destination=f"224.0.0.251:{port}"), lost=1)


def test_what_a_snaplen_leaves_of_an_answer_is_used() -> None:
    query = _query()
    reply = _reply(query, "A 10.1.0.1", "A 10.1.0.2")
    for kept in range(len(query), len(reply)):
        rows = _rows(_sent(0, query), _back(1, reply[:kept]))
        assert [row.result for row in rows] == ["NOERROR"]
        assert rows[0].addresses in ((), ("10.1.0.1",))


def test_names_are_safe_to_print() -> None:
    labels = b"\x05a.b\x1b\xff\x03C D\x00"
    rows = _rows(_sent(0, pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + labels + pack(">HH", 1, 1)))
    assert rows[0].name == r"a\046b\027\255.c\032d"
    rows = _rows(_sent(0, pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\0" + pack(">HH", 2, 1)))
    assert (rows[0].name, rows[0].type) == (".", "NS")


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\0" * 11,
        pack(">HHHHHH", 7, 0x0100, 2, 0, 0, 0) + b"\x01a\0" + pack(">HH", 1, 1),
        pack(">HHHHHH", 7, 0x2800, 1, 0, 0, 0) + b"\x01a\0" + pack(">HH", 1, 1),
        # A question that points at itself, goes on for ever, has no end, or is of another world.
        pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\xc0\x0c" + pack(">HH", 1, 1),
        pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\x01a" * 200 + b"\0" + pack(">HH", 1, 1),
        pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\x3fabc",
        pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\x01a\0" + pack(">HH", 1, 3),
        pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\x01a\0\0",
        pack(">HHHHHH", 7, 0x0100, 0, 0, 0, 0),
    ],
)
def test_what_is_no_dns_is_refused(payload: bytes) -> None:
    assert not _rows(_sent(0, payload), lost=1)


def test_hostile_records_end_where_the_payload_does() -> None:
    head = pack(">HHHHHH", 7, 0x8180, 0, 0xFFFF, 0, 0)
    query = _query()
    for records in (
        b"\xc0\x0c" * 30_000,
        b"\0" * 60_000,
        b"\x3f" * 60_000,
        b"\xc0\x0c" + pack(">HHIH", 1, 1, 0, 0xFFFF),
    ):
        rows = _rows(_sent(0, query), _back(1, head + records))
        assert [row.result for row in rows] == ["NOERROR"]


def test_open_questions_are_bounded_in_number_and_time() -> None:
    """Those that are given up are told before the others: after 30 seconds, or when 10,000 wait."""
    question = _query("many.example")[2:]
    asked = [_sent(index, pack(">H", index) + question) for index in range(25_000)]
    late = _sent(100 * SECOND, _query())
    answers = [_back(101 * SECOND, _reply(pack(">H", index) + question, "A 10.1.0.1")) for index in (14_999, 24_999)]
    results = [row.result for row in rows_of_packets([*asked, answers[0]._replace(time=30_000)])["names"]]
    assert results == ["unanswered"] * 15_000 + ["NOERROR"] + ["unanswered"] * 10_000
    results = [row.result for row in rows_of_packets([*asked, answers[1]._replace(time=30_000)])["names"]]
    assert results == ["unanswered"] * 15_000 + ["NOERROR"] + ["unanswered"] * 9_999
    rows = rows_of_packets([*asked, late, answers[1]])["names"]
    assert [row.name for row in rows] == ["many.example"] * 25_001 + ["broker-1.example"]
