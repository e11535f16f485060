"""Real messages, disturbed: every decoder gives a value or says Malformed, and neither takes long."""

import random
import time
from collections.abc import Callable, Mapping

import pytest

from netdiag.linux.netlink.addresses import decode_address, decode_fdb_entry, decode_neighbour
from netdiag.linux.netlink.links import decode_bridge_vlans, decode_link, decode_nsid
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.netlink.routes import decode_route, decode_routing_rule
from netdiag.linux.sockets import Protocol, decode_listener
from tests.netlab.record import recordings

DECODERS: Mapping[str, Callable[[bytes], object]] = {
    "links": decode_link,
    "addresses": decode_address,
    "routes": decode_route,
    "rules": decode_routing_rule,
    "neighbours": decode_neighbour,
    "proxied": decode_nsid,
    "forwarding": decode_fdb_entry,
    "vlans": decode_bridge_vlans,
    "tcp4": lambda payload: decode_listener(payload, Protocol.TCP),
    "udp4": lambda payload: decode_listener(payload, Protocol.UDP),
}
EDGES = (0, 1, 2, 3, 4, 5, 0x7F, 0x80, 0xFF)


def disturbed(chance: random.Random, payload: bytes) -> bytes:
    """Cut, stretched, with other lengths, or with other bytes."""
    data = bytearray(payload)
    for _ in range(chance.randint(1, 4)):
        where = chance.randrange(len(data)) if data else 0
        match chance.randrange(5):
            case 0:
                del data[where:]
            case 1:
                data[where:where] = chance.randbytes(chance.randint(1, 9))
            case 2:
                data[where : where + 1] = bytes([chance.choice(EDGES)])
            case 3:
                # the low byte of a length, most likely
                data[where & ~3 : (where & ~3) + 1] = bytes([chance.choice(EDGES)])
            case _:
                data += data[where:]
    return bytes(data[:65536])


@pytest.mark.parametrize("name", DECODERS)
def test_disturbed_messages(name: str) -> None:
    chance = random.Random(name)
    seeds = [payload for one in recordings() for payload in one.dumps[name]] or [bytes(96)]
    decode = DECODERS[name]
    refused = 0
    slowest = 0.0
    for _ in range(1500):
        data = disturbed(chance, chance.choice(seeds))
        began = time.thread_time()
        try:
            decode(data)
        except Malformed:
            refused += 1
        slowest = max(slowest, time.thread_time() - began)
    assert 0 < refused < 1500
    assert slowest < 0.5
