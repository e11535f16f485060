"""Questions to name servers and their answers, as bytes (RFC 1035, section 4).

Answers come from strangers: nothing is read beyond their end, and no compression pointer is followed, because only
the places of names are passed over. What is none is None.
"""

import ipaddress
import struct

from netdiag.linux.resolver import DnsAnswer

A, AAAA = 1, 28
MOST_ADDRESSES = 16
_INTERNET = 1
# RFC 1035, section 2.3.4.
_LONGEST_LABEL, _LONGEST_NAME = 63, 255
_HEADER = struct.Struct(">HHHHHH")
_QUESTION = struct.Struct(">HH")
_RECORD = struct.Struct(">HHIH")
_IS_ANSWER, _OPCODE, _WANTS_RECURSION, _RCODE = 0x8000, 0x7800, 0x0100, 0x000F
# FORMERR, SERVFAIL, NOTIMP, REFUSED may come without the question (RFC 1035, section 4.1.1).
_UNREAD = frozenset({1, 2, 4, 5})
_SIZES = {A: 4, AAAA: 16}


def encode_name(name: str) -> bytes:
    """The labels of an absolute name, without or with its final dot; ValueError for what can be no name."""
    labels = name.removesuffix(".").split(".")
    # What is not ASCII is written as IDNA 2003 has it.
    encoded = [label.encode("ascii" if label.isascii() else "idna") for label in labels]
    if not all(0 < len(label) <= _LONGEST_LABEL for label in encoded):
        raise ValueError("a label is empty or too long")
    data = b"".join(bytes([len(label)]) + label for label in encoded) + b"\0"
    if len(data) > _LONGEST_NAME:
        raise ValueError("the name is too long")
    return data


def encode_question(identifier: int, name: bytes, kind: int) -> bytes:
    """A question for the records of a kind (`A`, `AAAA`) that an encoded name has."""
    header = _HEADER.pack(identifier, _WANTS_RECURSION, 1, 0, 0, 0)
    return header + name + _QUESTION.pack(kind, _INTERNET)


def identifier_of(data: bytes) -> int:
    """The identifier of the question that a datagram seems to answer."""
    return int.from_bytes(data[:2], "big")


def decode_answer(data: bytes, question: bytes) -> DnsAnswer | None:
    """The answer to a question; None for a datagram that is none."""
    try:
        _, flags, questions, records, _, _ = _HEADER.unpack_from(data)
        rcode = flags & _RCODE
        if data[:2] != question[:2] or not flags & _IS_ANSWER or flags & _OPCODE:
            return None
        at = _HEADER.size
        if questions or rcode not in _UNREAD:
            end = at + len(question) - _HEADER.size
            # Lengths of labels are below the letters, so lower() leaves them alone.
            if questions != 1 or data[at:end].lower() != question[_HEADER.size :].lower():
                return None
            at = end
        addresses: list[str] = []
        for _ in range(records):
            at, found = _record(data, at)
            if found is not None and len(addresses) < MOST_ADDRESSES:
                addresses.append(found)
    except (struct.error, ValueError, IndexError):
        return None
    return DnsAnswer(rcode=rcode, addresses=tuple(addresses))


def _record(data: bytes, at: int) -> tuple[int, str | None]:
    """Where the record that begins at `at` ends, and its address if it has one; ValueError for a broken one."""
    at = _after_name(data, at)
    kind, of, _, length = _RECORD.unpack_from(data, at)
    at += _RECORD.size
    end = at + length
    if end > len(data):
        raise ValueError("a record is cut off")
    if of != _INTERNET or kind not in _SIZES:
        return end, None
    if length != _SIZES[kind]:
        raise ValueError("an address of another length")
    return end, str(ipaddress.ip_address(data[at:end]))


def _after_name(data: bytes, at: int) -> int:
    """The place behind a name."""
    while (length := data[at]) & 0xC0 == 0:
        at += 1 + length
        if length == 0:
            return at
    if length & 0xC0 != 0xC0:
        raise ValueError("a label of an unknown type")
    return at + 2
