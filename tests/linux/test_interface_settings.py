"""Switches of a device out of the message that describes it."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.io.kernel.channel import ROUTE, Channel
from netdiag.linux.interface_settings import Switches, decode_shared_switches, decode_switches

GETLINK = struct.pack("=IHHII", 32, 18, 0, 0, 0) + bytes(16)


def attribute(number: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), number) + value + bytes(-len(value) % 4)


def link(conf: bytes, before: bytes = b"") -> bytes:
    families = attribute(10, attribute(2, CONF6)) + attribute(2, attribute(1, conf))
    return bytes(16) + before + attribute(26 | 0x8000, families)


CONF = struct.pack("=33I", *range(1, 34))
CONF6 = struct.pack("=27I", *[0] * 26, 1)
BOTH = Switches(rp_filter=8, route_localnet=26, ipv6_disabled=True)


def test_each_switch_has_its_place() -> None:
    assert decode_switches(link(CONF)) == BOTH
    assert decode_switches(memoryview(link(CONF, attribute(3, b"eth0\0")))) == BOTH
    assert decode_switches(link(CONF[:100])) == replace(BOTH, route_localnet=None)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        bytes(16),
        bytes(16) + attribute(26, attribute(10, b"")),
        bytes(16) + struct.pack("=HH", 3, 26) + CONF,
        bytes(16) + struct.pack("=HH", 4000, 26) + CONF,
        bytes(16) + attribute(26, struct.pack("=HH", 0, 0) * 4),
    ],
)
def test_without_settings_there_are_none(payload: bytes) -> None:
    assert decode_switches(payload) == Switches()


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (bytes(4) + attribute(1, b"\xff" * 4) + attribute(3, b"\2\0\0\0") + attribute(2, b"\1\0\0\0"), (1, 2)),
        (bytes(4) + attribute(2, b"\1\0"), (None, None)),
        (b"", (None, None)),
        (bytes(4) + struct.pack("=HH", 2, 2), (None, None)),
    ],
)
def test_shared_switches(payload: bytes, expected: tuple[int | None, int | None]) -> None:
    assert decode_shared_switches(payload) == expected


def test_the_kernel_says_over_netlink_what_its_files_say() -> None:
    with Channel(ROUTE) as channel:
        payloads = [bytes(payload) for _, payload in channel.dump(GETLINK)]
    conf = Path("/proc/sys/net/ipv4/conf")
    compared = 0
    for payload in payloads:
        # the name is the first attribute
        name = payload[20:].split(b"\0", 1)[0].decode()
        if (conf / name).is_dir():
            compared += 1
            found = decode_switches(payload)
            files = tuple(int((conf / name / switch).read_text()) for switch in ("rp_filter", "route_localnet"))
            assert (found.rp_filter, found.route_localnet) == files
            ipv6 = Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
            assert found.ipv6_disabled == (int(ipv6.read_text()) != 0 if ipv6.exists() else None)
    assert compared
