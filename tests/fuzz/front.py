"""`python -m tests.fuzz.front [--count N] [--seed N]`: damaged captures for the kernels, with every index checked.

Exit 1 where the front does not say what the readers in plain Python say, or looks outside of an array.
"""

import sys
from collections.abc import Sequence
from random import Random

from tests.fuzz.checked import run


def main(arguments: Sequence[str]) -> int:
    """0 when no capture made a difference."""
    words = ("packets in them", "of these decoded by the kernels")
    return run("tests.fuzz.front", arguments, _held_together, words)


def _held_together(random: Random) -> tuple[int, int]:
    """How many packets there were, and how many the front decoded."""
    # Behind the check, which must be asked for before numba is loaded.
    from netdiag.errors import InputError
    from tests.traffic.engine.compiled.fronts import assert_same
    from tests.traffic.engine.test_damaged_captures import FILES, mutated

    data = _layers(random) if random.random() < 0.3 else FILES[random.choice(list(FILES))]
    for _ in range(random.choice((1, 1, 2))):
        data = mutated(random, data)
    begin = 1_700_000_000_000_000_000
    wanted = {name: begin + random.randrange(2 * 10**8) for name in ("since", "until") if random.random() < 0.1}
    sizes = [random.choice((50, 500, 1460, 65_536, 1 << 20)) for _ in range(random.randrange(1, 4))]
    try:
        return assert_same(data, sizes, **wanted)
    except InputError:
        return 0, 0


def _layers(random: Random) -> bytes:
    """Packets of one link in layers at random, in either format."""
    from tests.traffic.engine.capture_files import START, enhanced, interface, option, pcap, section
    from tests.traffic.engine.nested import nested

    made = [nested(random) for _ in range(60)]
    link = made[0][0]
    records = [(START + random.randrange(10**9), data) for other, data in made if other == link]
    order = random.choice("<>")
    if random.random() < 0.5:
        snaplen = random.choice((262_144, 96, 60, 40))
        return pcap(records, link=link, order=order, modified=random.random() < 0.3, snaplen=snaplen)
    clock = option(9, bytes([random.randrange(256)]), order=order) + option(14, random.randbytes(8), order=order)
    head = section(order=order) + interface(link=link, order=order, options=random.choice((b"", clock)))
    wires = (random.choice((None, random.randrange(1 << 32))) for _ in records)
    return head + b"".join(
        enhanced(time // 1000, data, order=order, wire=wire) for (time, data), wire in zip(records, wires, strict=True)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
