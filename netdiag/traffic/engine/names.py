"""What was asked of name servers and what they answered: DNS over UDP, to the rows of `names`.

Port 53 is DNS unless its bytes say otherwise. Elsewhere only a message that is a plain question to its last byte is
one, and what answers it: in a container, Docker leads what is sent to 127.0.0.11:53 to some port of its own, and the
capture shows that port in the question and 53 in the answer. So a question is known by who asked, its number, and the
name, whoever answers. A question that is seen on several interfaces counts once.
"""

from collections import OrderedDict
from ipaddress import IPv6Address
from struct import Struct
from typing import NamedTuple

from netdiag.traffic.engine.addresses import endpoint_text
from netdiag.traffic.engine.packet import Datagram
from netdiag.traffic.rows import NameRow

UNANSWERED = "unanswered"
_PORT = 53
# Multicast DNS, LLMNR and NetBIOS look like it and ask no name server.
_OTHERS = frozenset((137, 5353, 5355))
_DOCKER = bytes((127, 0, 0, 11))
_HEADER = Struct(">HHHHHH")
_QUESTION = Struct(">HH")
_RECORD = Struct(">HHIH")
_RESPONSE, _OPCODE, _RESERVED, _RCODE = 0x8000, 0x7800, 0x0040, 0x000F
_INTERNET, _A, _AAAA, _OPT = 1, 1, 28, 41
_TYPES = {
    1: "A",
    2: "NS",
    5: "CNAME",
    6: "SOA",
    12: "PTR",
    15: "MX",
    16: "TXT",
    28: "AAAA",
    33: "SRV",
    35: "NAPTR",
    64: "SVCB",
    65: "HTTPS",
    255: "ANY",
}
_RESULTS = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
_LONGEST_NAME = 255
_MOST_ADDRESSES = 64
_MOST_WAITING = 10_000
_MOST_ANSWERED = 4096
_SECOND = 1_000_000_000
# What is asked again with the same number so soon is the same packet, seen elsewhere.
_AGAIN = _SECOND // 2
# No resolver waits longer.
_PATIENCE = 30 * _SECOND

_Key = tuple[bytes, int, int, str]


class _Message(NamedTuple):
    """`name`, `kind`: of the question, None where it is not repeated. `is_plain`: a question and nothing else."""

    number: int
    flags: int
    name: str | None
    kind: int
    addresses: tuple[str, ...]
    is_plain: bool


class _Asked(NamedTuple):
    time: int
    client: str
    server: str
    name: str
    kind: int


class Names:
    """Pairs the questions and answers of all name servers; holds a bounded number of open questions."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[_Key, _Asked] = OrderedDict()
        self._answered: OrderedDict[_Key, tuple[int, str]] = OrderedDict()
        self._rows: list[NameRow] = []

    def push(self, datagram: Datagram) -> bool:
        """Take the next datagram; whether it was DNS."""
        ports = datagram.source_port, datagram.destination_port
        if _OTHERS.intersection(ports):
            return False
        message = _decoded(datagram.payload)
        if message is None:
            return False
        is_known = _PORT in ports or _DOCKER in (datagram.source, datagram.destination)
        if message.flags & _RESPONSE:
            key = _key(datagram.destination, datagram.destination_port, message.number, datagram)
            if not is_known and key not in self._waiting and key not in self._answered:
                return False
            self._answer(key, datagram, message)
        else:
            if message.name is None or not (is_known or message.is_plain):
                return False
            self._ask(_key(datagram.source, datagram.source_port, message.number, datagram), datagram, message)
        return True

    def drain(self) -> list[NameRow]:
        """The rows since the last time."""
        rows, self._rows = self._rows, []
        return rows

    def finish(self) -> None:
        """Nothing more comes: what waits was not answered."""
        while self._waiting:
            self._give_up(self._waiting.popitem(last=False)[1])

    def _ask(self, key: _Key, datagram: Datagram, message: _Message) -> None:
        name = message.name or ""
        earlier = self._waiting.get(key)
        if earlier is not None:
            if (earlier.name, earlier.kind) == (name, message.kind) and abs(datagram.time - earlier.time) < _AGAIN:
                return
            self._give_up(self._waiting.pop(key))
        elif (answered := self._answered.get(key)) and answered[1] == name and datagram.time - answered[0] < _AGAIN:
            return
        client = endpoint_text(datagram.source, datagram.source_port)
        server = endpoint_text(datagram.destination, datagram.destination_port)
        self._waiting[key] = _Asked(datagram.time, client, server, name, message.kind)
        oldest = next(iter(self._waiting.values()))
        while len(self._waiting) > _MOST_WAITING or datagram.time - oldest.time > _PATIENCE:
            self._give_up(self._waiting.popitem(last=False)[1])
            oldest = next(iter(self._waiting.values()))

    def _answer(self, key: _Key, datagram: Datagram, message: _Message) -> None:
        asked = self._waiting.get(key)
        if asked is not None and message.name is not None and (message.name, message.kind) != (asked.name, asked.kind):
            asked = None
        if asked is None and message.name is None:
            return
        name = message.name if message.name is not None else asked.name if asked else ""
        if asked is None and (seen := self._answered.get(key)) and seen[1] == name:
            return
        if asked is not None:
            del self._waiting[key]
        self._answered[key] = datagram.time, name
        self._answered.move_to_end(key)
        if len(self._answered) > _MOST_ANSWERED:
            self._answered.popitem(last=False)
        self._rows.append(
            NameRow(
                time=asked.time if asked else datagram.time,
                client=endpoint_text(datagram.destination, datagram.destination_port),
                server=endpoint_text(datagram.source, datagram.source_port),
                name=name,
                type=_type_text(message.kind if asked is None else asked.kind),
                result=_RESULTS.get(message.flags & _RCODE, f"RCODE({message.flags & _RCODE})"),
                addresses=message.addresses,
                latency_ms=max(0, datagram.time - asked.time) / 1e6 if asked else None,
            )
        )

    def _give_up(self, asked: _Asked) -> None:
        self._rows.append(
            NameRow(
                time=asked.time,
                client=asked.client,
                server=asked.server,
                name=asked.name,
                type=_type_text(asked.kind),
                result=UNANSWERED,
                addresses=None,
                latency_ms=None,
            )
        )


def _key(client: bytes, port: int, number: int, datagram: Datagram) -> _Key:
    # Every namespace has a loopback of its own.
    place = f"{datagram.file} {datagram.interface}" if len(client) == 4 and client[0] == 127 else ""
    return client, port, number, place


def _type_text(kind: int) -> str:
    return _TYPES.get(kind, f"TYPE({kind})")


def _decoded(payload: memoryview) -> _Message | None:
    """A message of DNS (RFC 1035) with at most one question, perhaps cut off behind it; else None."""
    if len(payload) < _HEADER.size:
        return None
    number, flags, questions, answers, authorities, additional = _HEADER.unpack_from(payload)
    if questions > 1 or flags & (_OPCODE | _RESERVED):
        return None
    position, name, kind = _HEADER.size, None, 0
    if questions:
        read = _name(payload, position)
        if read is None or read[1] + _QUESTION.size > len(payload):
            return None
        name, position = read
        kind, network = _QUESTION.unpack_from(payload, position)
        if network != _INTERNET:
            return None
        position += _QUESTION.size
    if flags & _RESPONSE:
        return _Message(number, flags, name, kind, _addresses(payload, position, answers), False)
    is_plain = questions == 1 and not answers and not authorities and not flags & _RCODE and kind in _TYPES
    return _Message(number, flags, name, kind, (), is_plain and _ends(payload, position, additional))


def _name(payload: memoryview, position: int) -> tuple[str, int] | None:
    """The name that stands whole at this place, in lower case, and where it ends; a question points nowhere else."""
    begin = position
    labels: list[str] = []
    while position < len(payload):
        length = payload[position]
        position += 1
        if length == 0:
            return ".".join(labels) or ".", position
        if length > 63 or position + length > len(payload) or position - begin > _LONGEST_NAME:
            return None
        labels.append(_label(bytes(payload[position : position + length])))
        position += length
    return None


def _label(label: bytes) -> str:
    """As in a zone file: what cannot be printed, and dots, as three digits."""
    text = label.decode("latin-1").lower()
    return "".join(
        character if "!" <= character <= "~" and character not in '."\\' else f"\\{ord(character):03}"
        for character in text
    )


def _addresses(payload: memoryview, position: int, count: int) -> tuple[str, ...]:
    """The addresses among the first `count` records, as far as they are there."""
    found: list[str] = []
    for _ in range(count):
        position = _behind_name(payload, position)
        if position + _RECORD.size > len(payload) or len(found) == _MOST_ADDRESSES:
            break
        kind, _, _, length = _RECORD.unpack_from(payload, position)
        position += _RECORD.size
        data = bytes(payload[position : position + length])
        if kind == _A and len(data) == length == 4:
            found.append(".".join(map(str, data)))
        elif kind == _AAAA and len(data) == length == 16:
            found.append(str(IPv6Address(data)))
        position += length
    return tuple(found)


def _behind_name(payload: memoryview, position: int) -> int:
    """Where a name ends, without looking where it points; the end of the payload where it does not."""
    while position < len(payload):
        length = payload[position]
        if length == 0:
            return position + 1
        if length >= 0xC0:
            return position + 2
        if length > 63:
            break
        position += 1 + length
    return len(payload)


def _ends(payload: memoryview, position: int, additional: int) -> bool:
    """Whether a question ends here, or with the options of EDNS (RFC 6891)."""
    if not additional:
        return position == len(payload)
    if additional > 1 or position + 1 + _RECORD.size > len(payload) or payload[position]:
        return False
    kind, _, _, length = _RECORD.unpack_from(payload, position + 1)
    return bool(kind == _OPT) and position + 1 + _RECORD.size + length == len(payload)
