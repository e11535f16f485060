"""Two network namespaces joined by a veth pair, for tests that probe what loopback cannot show."""

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

NEAR = "10.77.0.1"
FAR = "10.77.0.2"
NOBODY = "10.77.0.99"
SWALLOWED = "10.88.0.{}"
"""Addresses behind FAR, which forwards nothing and says nothing about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The names of the namespaces: `near` is where to look from."""

    near: str
    far: str


def needs_root() -> None:
    """Skip where namespaces cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the test makes network namespaces")


@contextlib.contextmanager
def joined_namespaces() -> Iterator[Pair]:
    """Made for the block."""
    needs_root()
    token = secrets.token_hex(3)
    pair = Pair(near=f"ndt-{token}-near", far=f"ndt-{token}-far")
    made: list[str] = []
    try:
        for name in (pair.near, pair.far):
            ip("netns", "add", name)
            made.append(name)
            ip("-n", name, "link", "set", "lo", "up")
        peer = ("type", "veth", "peer", "name", "eth0", "netns", pair.far)
        ip("link", "add", "name", "eth0", "netns", pair.near, *peer)
        for name, address in ((pair.near, NEAR), (pair.far, FAR)):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", pair.near, "route", "add", "10.88.0.0/16", "via", FAR)
        ip("-n", pair.near, "route", "add", "unreachable", "10.99.0.0/16")
        yield pair
    finally:
        for name in made:
            ip("netns", "delete", name)


def ip(*words: str) -> None:
    """Run iproute2."""
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)
