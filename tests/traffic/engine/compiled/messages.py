"""One message read twice: by the machine, and by framing and pairing in plain Python, whatever way its bytes come."""

import random
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.bodies.facts import Facts
from netdiag.traffic.engine.compiled import facts as back
from netdiag.traffic.engine.compiled import interpreter as vm
from netdiag.traffic.engine.compiled import machines as pool
from netdiag.traffic.engine.compiled.compaction import compacted
from netdiag.traffic.engine.compiled.program import programs
from netdiag.traffic.engine.compiled.store import grown, has_room, new_facts, store
from netdiag.traffic.engine.dialogue import KEEP
from netdiag.traffic.engine.frames import FRAMES, Framer
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pairing import Pairing
from netdiag.traffic.engine.talk import Talk
from netdiag.traffic.tables import NAMES
from tests.kafka.protocol.random_values import RandomValues

REQUEST, RESPONSE = wire.Direction
CORRELATION = 77
Piece = bytes | int
"""Bytes, or how many are not in the capture."""


class Both:
    """Two readers for the same tables."""

    def __init__(self, tables: Iterable[str] = NAMES, size: int = 1 << 11) -> None:
        self.bodies = Bodies(tables)
        self.programs = programs(tables)
        self.store = store(size, 1 << 14)
        self.machines = pool.machines(2)

    def by_twin(self, message: bytes, pieces: Sequence[Piece], key: int, version: int, is_request: bool) -> Any:
        """What the plain engine makes of it: the request or the response, as paired."""
        found: list[tuple[Asked | None, Answer | None]] = []
        pairing = Pairing(lambda asked, answer, outcome: found.append((asked, answer)), self.bodies)
        if not is_request:
            head = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
            head += CORRELATION.to_bytes(4, "big") + b"\xff\xff"
            pairing.message(Message(True, len(head), head, None, 0, 0, 0, 0, 0))
        framer = Framer(Talk(pairing, KEEP))
        framer.mode = FRAMES
        framer.become(is_request)
        begun = len(message).to_bytes(4, "big") + message[: 8 if is_request else 4]
        framer.take(begun, len(begun), 0, 0, 0)
        for piece in pieces:
            if isinstance(piece, int):
                framer.gap(piece, 0, 0, 0)
            else:
                framer.take(piece, len(piece), 0, 0, 0)
        pairing.finish()
        asked, answer = found[-1]
        return asked if is_request else answer

    def by_machine(self, message: bytes, pieces: Sequence[Piece], key: int, version: int, is_request: bool) -> int:
        """The number of the message in the store."""
        before = 8 if is_request else 4
        self.make_room()
        number = new_facts(self.store)
        self.store.facts[number]["size"] = len(message)
        self.store.facts[number]["correlation_id"] = CORRELATION
        machine = pool.take(self.machines)
        self.begin(machine, number, key, version, len(message) - before, is_request)
        for piece in pieces:
            self.go_on(machine, piece)
        self.end(machine)
        return number

    def begin(self, machine: int, number: int, key: int, version: int, left: int, is_request: bool) -> None:
        vm.begin(self.store, self.machines, machine, self.programs, number, is_request, key, version, left)

    def go_on(self, machine: int, piece: Piece) -> None:
        """Feed a piece, with more room where that is asked for."""
        if isinstance(piece, int):
            self.make_room()
            vm.lost(self.store, self.machines, machine, self.programs, piece)
            return
        data = np.frombuffer(piece, np.uint8).copy()
        at = 0
        while at < len(data):
            reached = vm.feed(self.store, self.machines, machine, self.programs, data, at, len(data))
            assert at <= reached <= len(data)
            if reached < len(data):
                self.store = grown(self.store)
            at = reached

    def end(self, machine: int) -> None:
        self.make_room()
        vm.end(self.store, self.machines, machine, self.programs)
        pool.give_back(self.machines, machine)

    def make_room(self) -> None:
        while not has_room(self.store):
            self.store = grown(self.store)

    def forget(self) -> None:
        """Begin anew, where only the last message matters."""
        self.store.counts[:] = 0

    def check(self, message: bytes, pieces: Sequence[Piece], key: int, version: int, direction: wire.Direction) -> None:
        """Both tell the same."""
        is_request = direction is REQUEST
        expected = self.by_twin(message, pieces, key, version, is_request)
        number = self.by_machine(message, pieces, key, version, is_request)
        if is_request:
            asked = back.asked(self.store, number, self.bodies)
            assert asked.header[:4] == expected.header[:4]
            told = said(asked.facts)
        else:
            told = said(back.response_facts(self.store, number, self.bodies))
        assert told == said(expected.facts), (key, version, direction, message.hex(), pieces)

    def check_in_turns(
        self, ways: Sequence[tuple[bytes, Sequence[Piece], int, int, wire.Direction]], dice: random.Random
    ) -> None:
        """Messages that come at the same time tell what each tells by itself."""
        running = []
        for message, pieces, key, version, direction in ways:
            is_request = direction is REQUEST
            self.make_room()
            number = new_facts(self.store)
            self.store.facts[number]["size"] = len(message)
            self.store.facts[number]["correlation_id"] = CORRELATION
            machine = pool.take(self.machines)
            self.begin(machine, number, key, version, len(message) - (8 if is_request else 4), is_request)
            running.append((machine, list(pieces)))
        while any(pieces for _, pieces in running):
            machine, pieces = dice.choice([each for each in running if each[1]])
            self.go_on(machine, pieces.pop(0))
            if dice.random() < 0.2:
                moved = compacted(self.store, np.zeros(0, np.int64), self.machines, strings=dice.random() < 0.5)
                self.store = moved.store
        numbers = [int(self.machines.state[machine, pool.MESSAGE]) for machine, _ in running]
        for machine, _ in running:
            self.end(machine)
        for number, (message, pieces, key, version, direction) in zip(numbers, ways, strict=True):
            expected = self.by_twin(message, pieces, key, version, direction is REQUEST)
            read = back.request_facts if direction is REQUEST else back.response_facts
            assert said(read(self.store, number, self.bodies)) == said(expected.facts)


def said(facts: Facts) -> dict[str, Any]:
    """All that facts tell, whatever kind of list it is in."""
    names = {name for kind in type(facts).__mro__ for name in getattr(kind, "__annotations__", {})} - {"is_counted"}
    values = {name: getattr(facts, name) for name in names}
    return {name: list(value) if isinstance(value, list | tuple) else value for name, value in values.items()}


def header(key: int, version: int, direction: wire.Direction, tags: bytes = b"\0", client: str | None = "app") -> bytes:
    """What stands before the body."""
    number = wire.header_version(key, version, direction)
    correlation = CORRELATION.to_bytes(4, "big")
    if direction is RESPONSE:
        return correlation + (tags if number else b"")
    head = key.to_bytes(2, "big") + version.to_bytes(2, "big") + correlation
    if number == 0:
        return head
    name = b"\xff\xff" if client is None else len(client.encode()).to_bytes(2, "big") + client.encode()
    return head + name + (tags if number > 1 else b"")


def random_message(
    key: int, version: int, direction: wire.Direction, dice: random.Random, tags: bytes | None = None
) -> bytes:
    """A message as it may be, with records that are some."""
    value = RandomValues(dice.getrandbits(40), tame=False, most_elements=4).struct(wire.layout(key, version, direction))
    put_records(value, dice)
    chosen = dice.choice((b"\0", b"\x01\x05\x02ab", b"\x02\x05\x00\x81\x01\x01x")) if tags is None else tags
    client = dice.choice((None, "", "app", "ä" * 70))
    return header(key, version, direction, chosen, client) + wire.encode(key, version, direction, value)


def put_records(value: dict[str, Any], dice: random.Random) -> None:
    """Batches and messages of all formats where random bytes stand."""
    for name, content in value.items():
        if name == "records":
            value[name] = dice.choice(RECORDS if content is None else RECORDS[1:])
        for item in content if isinstance(content, tuple) else ():
            if isinstance(item, dict):
                put_records(item, dice)


def mutated(message: bytes, before: int, dice: random.Random) -> bytes:
    """The message with a few bytes changed behind those that say what it is."""
    data = bytearray(message)
    for _ in range(dice.randrange(1, 4)):
        if len(data) > before:
            data[dice.randrange(before, len(data))] = dice.choice((0, 255, 127, 128, dice.randrange(256)))
    return bytes(data)


def _batch(base: int, size: int, count: int = 3, flags: int = 0, delta: int | None = None) -> bytes:
    delta = count - 1 if delta is None else delta
    head = struct.pack(">qiibIhiqqqhii", base, 49 + size, 0, 2, 0, flags, delta, 1000, 3000, 7, 1, 0, count)
    return head + bytes(size)


def _message(offset: int, size: int, magic: int, flags: int = 0) -> bytes:
    inner = struct.pack(">Ibb", 0, magic, flags) + (struct.pack(">q", 5000) if magic else b"")
    inner += struct.pack(">ii", -1, size)
    return struct.pack(">qi", offset, len(inner) + size) + inner + bytes(size)


RECORDS = (
    None,
    b"",
    _batch(10, 100),
    _batch(10, 100) + _batch(13, 900, flags=32) + _batch(16, 0)[:70],
    _batch(10, 100) + _batch(13, 3000)[:30],
    _batch(10, 100) + _batch(13, 3000)[:65],
    _batch((1 << 63) - 2, 10) + _batch(5, 7, delta=-1) + _batch(9, 9),
    _message(3, 5, 0) + _message(4, 60, 0) + _message(5, 9, 1) + _batch(6, 10),
    _message(3, 5, 1) * 3 + _message(6, 200, 1)[:40],
    _message(-(1 << 63), 5, 1) + _message((1 << 63) - 1, 0, 1) + _message(6, 20, 1, flags=1),
    _message(3, 5, 1, flags=8) + _message(4, 5, 1),
    b"\x07" * 200,
    b"\x00" * 30,
)
"""Records of every format: whole, cut, and such as are none."""
