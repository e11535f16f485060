"""Connections that the kernels have alone: found by address or number, made into the twin's objects, ended."""

import random
from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.handover import LaneConnection
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.run import Engine
from tests.traffic.engine.compiled.compared import by_twin, packets_of
from tests.traffic.engine.compiled.fronts import pieces
from tests.traffic.engine.compiled.openings import short_connections

_OPTIONS = EngineOptions(tables=frozenset({"exchanges", "connections"}))


class _Twin(Engine):
    def connections(self) -> dict[int, Connection]:
        return dict(self._flows.live)


def test_objects_are_those_of_the_twin() -> None:
    """Whatever a connection has come to when the twin must have it."""
    rng = random.Random(4)
    data = short_connections(rng, 30, odd=0.2, ports=100)
    packets = packets_of(data)
    for count in range(5, len(packets), 7):
        engine, twin = CompiledEngine(_OPTIONS, ["a.pcap"]), _Twin(_OPTIONS, ["a.pcap"])
        chunk = Front(Keys()).take(data)
        engine.feed(chunk.part(0, count))
        for packet in packets[:count]:
            twin.feed(packet)
        flows = engine.twin.flows
        for slot in flows.births.slots().tolist():
            flows.give(slot)
        for number, connection in twin.connections().items():
            ours = flows.live[number]
            assert isinstance(ours, LaneConnection)
            if ours.is_in:
                engine.handover.check_out(ours)
            assert _told(ours) == _told(connection), count
        assert flows.live.keys() == twin.connections().keys()


def test_they_are_found_by_address_and_by_number() -> None:
    data = short_connections(random.Random(5), 20, odd=0.0, ports=100)
    engine = CompiledEngine(_OPTIONS, ["a.pcap"])
    engine.feed(Front(Keys()).take(data))
    births = engine.twin.flows.births
    slot = int(births.slots()[-1])
    number = int(engine.handover.lane.connections["number"][slot])
    key = (b"\x0a\x00\x00\x02", b"\x0a\x00\x00\x01", 9092, 40_019, b"")
    assert births.of_key(key) == slot == births.of_number(number)
    assert births.of_key((*key[:4], b"V")) == births.of_number(number + 1) == -1
    count = len(births)
    connection = engine.twin.flows.live.get(number)
    assert connection is not None
    assert connection.client == "10.0.0.1:40019"
    assert engine.twin.flows.sides.get(key) == (connection, 1)
    assert len(births) == count - 1


def test_room_is_made_for_the_pairs_of_what_ends() -> None:
    data = short_connections(random.Random(6), 60, odd=0.0, ports=100)
    engine = CompiledEngine(_OPTIONS, ["a.pcap"])
    engine.feed(Front(Keys()).take(data))
    handover = engine.handover
    engine.flush()
    handover.lane = handover.lane._replace(pairs=handover.lane.pairs[:2])
    engine.finish()
    rows = engine.drain()["exchanges"]
    twin = Engine(_OPTIONS, ["a.pcap"])
    for packet in packets_of(data):
        twin.feed(packet)
    twin.finish()
    assert rows == twin.drain()["exchanges"]
    assert np.count_nonzero(handover.lane.connections["stage"]) == 0


def _told(connection: Connection) -> dict[str, Any]:
    """What the twin goes by."""
    dialogue, pairing, handshake = connection.dialogue, connection.pairing, connection.handshake
    assert dialogue is not None
    assert pairing is not None
    talk = dialogue.talk
    told: dict[str, Any] = {
        name: getattr(connection, name)
        for name in ("number", "client", "broker", "first_time", "last_time", "interfaces", "keys", "file", "is_closed")
    }
    told["handshake"] = (handshake.opening, handshake.milliseconds, handshake.is_settled, handshake.opener)
    told["talk"] = {name: getattr(talk, name) for name in talk.__slots__ if name != "sink"}
    told["pairing"] = (pairing.client_id, pairing.requests, pairing.responses, len(pairing.pending))
    told["row"] = (pairing.client_software, pairing.digest)
    told["dialogue"] = (dialogue.client_side, dialogue.opener)
    for side, delivery in enumerate(dialogue.deliveries):
        names = set(delivery.__slots__) - {"framer"}
        told[f"delivery {side}"] = {name: getattr(delivery, name) for name in names}
        framer = delivery.framer
        names = {"mode", "is_request", "least", "noted", "frames", "frame_bytes", "header", "left", "buffer"}
        told[f"framer {side}"] = {name: getattr(framer, name) for name in names}
    return told


def test_addresses_stay_when_their_pairs_get_other_numbers() -> None:
    """As in a capture with more pairs of addresses than are numbered at a time."""
    epochs = 0
    for seed in range(18, 30):
        rng = random.Random(seed)
        data = short_connections(
            rng, rng.choice([20, 60, 200]), odd=rng.choice([0.0, 0.0, 0.2]), ports=rng.choice([10, 100, 1000])
        )
        engine, front = CompiledEngine(_OPTIONS, ["a.pcap"]), Front(Keys(most=rng.choice([4, 16, 64])))
        for piece in pieces(data, (rng.choice([2000, 9000, 30_000]),)):
            chunk = front.take(piece)
            epochs = max(epochs, chunk.epoch)
            engine.feed(chunk)
        engine.feed(front.end())
        engine.finish()
        assert engine.drain()["exchanges"] == by_twin(data, _OPTIONS)["exchanges"], seed
    assert epochs > 3
