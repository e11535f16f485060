"""Places of a capture: each namespace once, under a name of its own."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.errors import InputError, NetdiagError
from netdiag.io.packets.places import HOST, Place, named, of_process, open_places
from tests.io.namespaces import FAR, Pair, ip, needs_root
from tests.io.packets.traffic import SENDER, dwelling, python


@pytest.fixture
def dweller(pair: Pair) -> Iterator[subprocess.Popen[bytes]]:
    """A process in the near namespace."""
    with dwelling(pair.near) as process:
        yield process


def test_of_two_ways_to_one_namespace_one_is_taken(pair: Pair, dweller: subprocess.Popen[bytes]) -> None:
    spots = [named(pair.near), of_process(dweller.pid), HOST, of_process(os.getpid()), named(pair.near)]
    places = open_places(spots)
    try:
        assert [place.label for place in places] == [f"{pair.near}+pid-{dweller.pid}", f"host+pid-{os.getpid()}"]
    finally:
        for place in places:
            place.close()


def test_links_are_those_of_the_namespace(pair: Pair) -> None:
    place = Place(named(pair.near))
    assert sorted(place.links.values()) == ["eth0", "lo"]
    assert set(place.links_up()) == {"eth0", "lo"}
    assert list(place.indexes_of(["eth0", "absent"]).values()) == ["eth0"]
    with pytest.raises(InputError, match="has no interface 'docker0'"):
        place.indexes_of(["docker0"])
    before = place.packets_so_far()
    python(pair.near, SENDER, FAR, 9092, 10)
    assert place.packets_so_far()["eth0"] - before["eth0"] >= 10
    ip("-n", pair.near, "link", "add", "later", "type", "bridge")
    index = next(n for n, name in place.namespace.run(socket.if_nameindex) if name == "later")
    assert place.name_of(index) == "later"
    assert place.name_of(9999) == "link-9999"
    ip("-n", pair.near, "link", "delete", "later")
    place.close()


def test_when_a_place_is_over(pair: Pair, dweller: subprocess.Popen[bytes]) -> None:
    needs_root()
    of_dweller = Place(of_process(dweller.pid))
    ip("netns", "add", "ndt-brief")
    of_name = Place(named("ndt-brief"))
    assert not of_dweller.is_gone
    assert not of_name.is_gone
    dweller.kill()
    dweller.wait()
    ip("netns", "delete", "ndt-brief")
    assert of_dweller.is_gone
    assert of_name.is_gone
    assert not Place(HOST).is_gone
    of_dweller.close()
    of_name.close()


def test_what_is_not_there(pair: Pair) -> None:
    with subprocess.Popen(["true"]) as over:
        over.wait()
    descriptors = len(os.listdir("/proc/self/fd"))
    for spot in (of_process(over.pid), named("ndt-none"), named("../x"), of_process(2**31)):
        with pytest.raises(NetdiagError):
            open_places([named(pair.near), spot])
    assert len(os.listdir("/proc/self/fd")) == descriptors


@pytest.mark.parametrize("name", ["a b", "\x1b[31m", "ünïcode", "a:b", "-x"])
def test_hostile_names(name: str) -> None:
    needs_root()
    path = Path("/run/netns", name)
    ip("netns", "add", "ndt-plain")
    path.touch()
    subprocess.run(["mount", "--bind", "/run/netns/ndt-plain", path], check=True)
    try:
        place = Place(named(name))
        assert place.label == name
        place.close()
    finally:
        subprocess.run(["umount", path], check=True)
        path.unlink()
        ip("netns", "delete", "ndt-plain")
