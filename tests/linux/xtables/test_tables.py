"""Tables of legacy iptables from the bytes that the kernel gives."""

import random
import struct
from contextlib import suppress

import pytest

from netdiag.errors import NetdiagError
from netdiag.linux.ruleset import Origin
from netdiag.linux.xtables.tables import BadTable, TableInfo, decode_info, decode_table


def target(name: str, info: bytes) -> bytes:
    padded = info.ljust(-(-len(info) // 8) * 8, b"\0")
    return struct.pack("=H29sB", 32 + len(padded), name.encode(), 0) + padded


def verdict(code: int) -> bytes:
    return target("", struct.pack("=i", code))


def entry(
    ending: bytes,
    *,
    source: bytes = bytes(4),
    mask: bytes = bytes(4),
    protocol: int = 0,
    flags: int = 0,
    matches: bytes = b"",
    packets: int = 0,
) -> bytes:
    ip = (
        source + bytes(4) + mask + bytes(4) + b"eth0".ljust(16, b"\0") + bytes(16) + b"\xff" * 3 + bytes(13) + bytes(16)
    )
    ip += struct.pack("=HBB", protocol, flags, 0)
    sizes = struct.pack("=HHI", 112 + len(matches), 112 + len(matches) + len(ending), 0)
    return ip + bytes(4) + sizes + struct.pack("=QQ", packets, 10 * packets) + matches + ending


def made() -> tuple[bytes, TableInfo]:
    """FORWARD with a jump, a drop with a source and a rule without a target; a chain called X; the end."""
    drop = entry(verdict(-1), source=bytes([10, 0, 0, 0]), mask=bytes([255, 0, 0, 0]), protocol=6, packets=3)
    sizes = len(entry(verdict(0)))
    jump_size = sizes
    error = entry(target("ERROR", b"X"))
    x_start = jump_size + len(drop) + sizes + sizes + len(error)
    nothing_at = jump_size + len(drop)
    parts = [
        entry(verdict(x_start)),
        drop,
        entry(verdict(nothing_at + sizes)),
        entry(verdict(-1), packets=9),
        error,
        entry(verdict(-2)),
        entry(verdict(-5)),
        entry(target("ERROR", b"ERROR")),
    ]
    data = b"".join(parts)
    policy = jump_size + len(drop) + sizes
    return data, TableInfo(name="filter", begins={"forward": 0}, policies={"forward": policy}, size=len(data))


def test_chains_rules_and_policies() -> None:
    data, info = made()
    table = decode_table(data, info, family="ip")
    assert table.origin is Origin.IPTABLES_LEGACY
    forward, other = table.chains
    assert (forward.name, forward.hook, forward.policy, forward.packets) == ("FORWARD", "forward", "drop", 9)
    assert [rule.text for rule in forward.rules] == [
        "-A FORWARD -i eth+ -j X",
        "-A FORWARD -s 10.0.0.0/8 -i eth+ -p tcp -j DROP",
        "-A FORWARD -i eth+",
    ]
    assert (forward.rules[1].packets, forward.rules[1].bytes) == (3, 30)
    assert (other.name, other.hook, [rule.text for rule in other.rules]) == ("X", "", ["-A X -i eth+ -j ACCEPT"])


def test_what_the_kernel_tells_first() -> None:
    data = b"nat".ljust(32, b"\0") + struct.pack("=I5I5III", 0b11, 0, 100, *[7] * 3, 50, 200, *[7] * 3, 4, 500)
    assert decode_info(data) == TableInfo(
        name="nat", begins={"prerouting": 0, "input": 100}, policies={"prerouting": 50, "input": 200}, size=500
    )
    with pytest.raises(BadTable):
        decode_info(data[:50])


def test_bytes_of_any_kind_give_an_error_of_ours() -> None:
    data, info = made()
    chance = random.Random(9)
    for _ in range(3000):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 8)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        cut = chance.choice((len(broken), chance.randrange(len(broken))))
        with suppress(NetdiagError):
            decode_table(bytes(broken[:cut]), info, family=chance.choice(("ip", "ip6")))
