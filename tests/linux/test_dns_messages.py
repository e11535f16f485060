"""Questions and answers of name servers, held against dnspython; no bytes make the reader fail or invent an address."""

import random

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from netdiag.linux.dns_messages import AAAA, MOST_ADDRESSES, A, decode_answer, encode_name, encode_question
from netdiag.linux.resolver import DnsAnswer

KINDS = [(A, dns.rdatatype.A), (AAAA, dns.rdatatype.AAAA)]
NAMES = ["kafka", "Broker-1.shop_default", "a.b.c.d.e.f.", "x" * 63, ".".join(["y" * 63] * 3), "bücher.example", "0"]


def query(name: str, kind: dns.rdatatype.RdataType = dns.rdatatype.A) -> dns.message.QueryMessage:
    return dns.message.make_query(dns.name.from_text(name), kind, id=0x1234)


def question(name: str, kind: int = A) -> bytes:
    return encode_question(0x1234, encode_name(name), kind)


@pytest.mark.parametrize("name", NAMES)
def test_a_question_is_the_one_of_dnspython(name: str) -> None:
    for ours, theirs in KINDS:
        assert question(name, ours) == query(name, theirs).to_wire()


@pytest.mark.parametrize("name", ["", ".", "a..b", ".a", "x" * 64, "ü" * 70, ".".join("y" * 60 for _ in range(5))])
def test_what_can_be_no_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        encode_name(name)


def response(name: str, *records: tuple[str, str, str], rcode: int = 0) -> dns.message.Message:
    made = dns.message.make_response(query(name))
    made.set_rcode(dns.rcode.Rcode(rcode))
    for owner, kind, value in records:
        made.answer.append(dns.rrset.from_text(dns.name.from_text(owner), 60, "IN", kind, value))
    return made


CASES = [
    (response("kafka", ("kafka", "A", "10.0.0.1")), DnsAnswer(rcode=0, addresses=("10.0.0.1",))),
    (response("kafka", ("kafka", "AAAA", "2001:db8::1")), DnsAnswer(rcode=0, addresses=("2001:db8::1",))),
    (
        response(
            "kafka", ("kafka", "CNAME", "k1.example."), ("k1.example", "A", "10.0.0.1"), ("k1.example", "TXT", "x")
        ),
        DnsAnswer(rcode=0, addresses=("10.0.0.1",)),
    ),
    (response("kafka"), DnsAnswer(rcode=0)),
    (response("kafka", rcode=3), DnsAnswer(rcode=3)),
    (response("kafka", rcode=2), DnsAnswer(rcode=2)),
    (
        response("kafka", *(("kafka", "A", f"10.0.0.{n}") for n in range(40))),
        DnsAnswer(rcode=0, addresses=tuple(f"10.0.0.{n}" for n in range(MOST_ADDRESSES))),
    ),
]


@pytest.mark.parametrize(("message", "expected"), CASES)
def test_an_answer_is_read_as_it_was_written(message: dns.message.Message, expected: DnsAnswer) -> None:
    assert decode_answer(message.to_wire(), question("kafka")) == expected
    # Names in other letters, with bytes behind the end, and uncompressed.
    assert decode_answer(message.to_wire() + b"more", question("KAFKA")) == expected


def test_an_answer_to_another_question_is_none() -> None:
    wire = CASES[0][0].to_wire()
    assert decode_answer(wire, question("other")) is None
    assert decode_answer(wire, question("kafka", AAAA)) is None
    assert decode_answer(wire, encode_question(0x4321, encode_name("kafka"), A)) is None
    assert decode_answer(query("kafka").to_wire(), question("kafka")) is None
    other = response("kafka")
    other.set_opcode(dns.opcode.NOTIFY)
    assert decode_answer(other.to_wire(), question("kafka")) is None
    classed = bytearray(CASES[0][0].to_wire())
    at = classed.index(b"\0\1\0\1\0\0\0\x3c")
    classed[at + 3] = 3
    assert decode_answer(bytes(classed), question("kafka")) == DnsAnswer(rcode=0)


def test_a_refusal_may_leave_out_the_question() -> None:
    refused = response("kafka", rcode=5)
    refused.question.clear()
    assert decode_answer(refused.to_wire(), question("kafka")) == DnsAnswer(rcode=5)
    known = response("kafka", rcode=0)
    known.question.clear()
    assert decode_answer(known.to_wire(), question("kafka")) is None


def test_damaged_answers_give_nothing_or_what_dnspython_gives() -> None:
    chance = random.Random(5)
    asked, both, read = question("kafka"), query("kafka"), 0
    for message, _ in CASES * 300:
        data = bytearray(message.to_wire())
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        del data[chance.randrange(len(data), 2 * len(data)) if chance.random() < 0.9 else chance.randrange(len(data)) :]
        answer = decode_answer(bytes(data), asked)
        if answer is None:
            continue
        read += 1
        assert len(answer.addresses) <= MOST_ADDRESSES
        try:
            theirs = dns.message.from_wire(bytes(data), ignore_trailing=True, raise_on_truncation=False)
        except Exception:  # noqa: BLE001  # it looks at more than we do: owners, other kinds of records
            continue
        assert both.is_response(theirs)
        records = [one for rrset in theirs.answer for one in rrset if rrset.rdclass == 1]
        known = {one.address for one in records if one.rdtype in (dns.rdatatype.A, dns.rdatatype.AAAA)}
        assert set(answer.addresses) <= known
        assert answer.rcode == theirs.rcode()
    assert read > 300
    for size in range(300):
        decode_answer(chance.randbytes(size), asked)
