"""Places of a capture: each namespace once, under a name of its own."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netdiag.errors import EngineError, InputError, NetdiagError
from netdiag.io.engine.same_kernel import SameKernel
from netdiag.io.packets import places as module
from netdiag.io.packets.places import HOST, Place, Running, named, of_process, open_places, read_containers
from netdiag.linux.netns import ProcessNamespace
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine
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


def answers(*documents: dict[str, Any]) -> dict[str, Any]:
    return {
        "/version": VERSION,
        "/containers/json": [{"Id": document["Id"]} for document in documents],
        **{f"/containers/{document['Id']}/json": document for document in documents},
        "/networks": [{"Name": "held_kafka", "Id": "n1", "Driver": "bridge"}],
    }


def second(**state: object) -> dict[str, Any]:
    config = BROKER["Config"] | {"Labels": {"com.docker.compose.service": "broker-2"}}
    return BROKER | {
        "Id": "b" * 64,
        "Name": "/held-broker-2-1",
        "Config": config,
        "State": BROKER["State"] | {"Pid": os.getpid()} | state,
    }


def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *documents: dict[str, Any], here: bool = True) -> Running:
    if here:
        # The containers of a made-up engine have no processes.
        monkeypatch.setattr(module, "locate", lambda address, found: SameKernel(docker_host=None))
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    with fake_engine(folder / "s", answers(*documents)) as url:
        return read_containers(url)


def running(**state: object) -> dict[str, Any]:
    return BROKER | {"State": BROKER["State"] | {"Pid": os.getpid()} | state}


@pytest.mark.parametrize("name", ["broker-2", "held-broker-2-1", "b" * 12, "b" * 64])
def test_by_service_name_or_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    spot = looked(tmp_path, monkeypatch, running(), second()).spot(name)
    assert (spot.label, spot.what) == ("broker-2", "container held-broker-2-1")
    assert spot.entrance == ProcessNamespace(pid=os.getpid(), container_id="b" * 64)


def test_every_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = looked(tmp_path, monkeypatch, running(), second(), second() | {"Id": "c" * 64, "Name": "/x"})
    assert len(view.brokers()) == 3
    stopped = looked(tmp_path, monkeypatch, running(Status="exited", Pid=0))
    with pytest.raises(InputError, match="the engine runs no broker"):
        stopped.brokers()


def test_ports_of_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = looked(tmp_path, monkeypatch, running())
    ports = view.ports()
    assert ports
    assert view.ports(names=["broker-1"]) == ports
    assert view.ports(names=["nobody"]) == ()


@pytest.mark.parametrize(
    ("documents", "name", "message"),
    [
        ([running()], "nobody", "no container has this name"),
        ([running()], "\x1b[31m", "no container has this name"),
        ([running(Status="exited", Pid=0)], "broker-1", "it is not running: exited"),
        ([running(), running() | {"Id": "d" * 64, "Name": "/other"}], "broker-1", "several containers have this name"),
    ],
)
def test_which_one_cannot_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: list[dict[str, Any]], name: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        looked(tmp_path, monkeypatch, *documents).spot(name)


def test_an_engine_elsewhere_has_no_network_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = looked(tmp_path, monkeypatch, running(), here=False)
    with pytest.raises(InputError, match="another machine"):
        view.spot("broker-1")


def test_no_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        read_containers(f"unix://{tmp_path}/none")
