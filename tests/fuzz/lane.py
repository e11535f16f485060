"""`python -m tests.fuzz.lane [--count N] [--seed N]`: captures whose messages are damaged, for the compiled engine.

Every index is checked. Exit 1 where it does not make the rows of the engine in plain Python, or looks outside of an
array.
"""

import sys
from collections.abc import Sequence
from random import Random

from tests.fuzz.checked import run

# Behind the headers of Ethernet, IP and TCP, most of the time.
_PAYLOAD = 66
_ODD = (0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x40000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)


def main(arguments: Sequence[str]) -> int:
    """0 when no capture made a difference."""
    return run("tests.fuzz.lane", arguments, _held_together, ("packets in them", "exchanges found in them"))


def _held_together(random: Random) -> tuple[int, int]:
    """How many packets there were, and how many exchanges both engines found."""
    # Behind the check, which must be asked for before numba is loaded.
    from netdiag.traffic.engine.options import EngineOptions
    from netdiag.traffic.tables import NAMES
    from tests.traffic.engine.capture_files import pcap
    from tests.traffic.engine.compiled.compared import RECORDED, by_kernels, by_twin, harmed, packets_of
    from tests.traffic.engine.compiled.openings import short_connections

    # Kernels open connections where nobody asks for rows of these.
    options = EngineOptions(tables=frozenset(NAMES) - ({"connections"} if random.random() < 0.5 else set()))
    if random.random() < 0.3:
        data = short_connections(random, random.randrange(1, 60), odd=random.choice((0.0, 0.2, 1.0)))
    else:
        data = random.choice(RECORDED).read_bytes()
    if random.random() < 0.3:
        data = harmed(data, random)
    packets = packets_of(data)
    made = [(packet.time, bytearray(packet.data)) for packet in packets]
    for _ in range(random.choice((1, 2, 5, 50))):
        _wound(random, random.choice(made)[1])
    data = pcap([(time, bytes(frame)) for time, frame in made], link=packets[0].link_type)
    sizes = [random.choice((50, 500, 1460, 65_536, 1 << 20)) for _ in range(random.randrange(1, 4))]
    rows = by_twin(data, options)
    found = by_kernels(data, sizes, options)
    different = [name for name in rows if found[name] != rows[name]]
    assert not different, f"{', '.join(different)} in pieces of {sizes}"
    return len(made), len(rows["exchanges"])


def _wound(random: Random, frame: bytearray) -> None:
    begin = _PAYLOAD if len(frame) > _PAYLOAD and random.random() < 0.9 else 0
    if len(frame) <= begin:
        return
    at = random.randrange(begin, len(frame))
    match random.randrange(5):
        case 0:
            frame[at] ^= 1 << random.randrange(8)
        case 1:
            value = random.choice((*_ODD, random.randrange(1 << 32)))
            frame[at : min(at + 4, len(frame))] = value.to_bytes(4, "big")[: len(frame) - at]
        case 2:
            # A number of variable length that does not end.
            count = min(random.randrange(1, 12), len(frame) - at)
            frame[at : at + count] = b"\xff" * count
        case 3:
            count = min(random.randrange(1, 40), len(frame) - at)
            frame[at : at + count] = random.randbytes(count)
        case _:
            # What the size, the key and the version of a message may stand in.
            head = min(begin + random.randrange(12), len(frame) - 1)
            frame[head] = random.randrange(256)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
