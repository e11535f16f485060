"""Containers as places, told from what an engine answers."""

import os
from pathlib import Path
from typing import Any

import pytest

from netdiag.errors import EngineError, InputError
from netdiag.io.engine.same_kernel import SameKernel
from netdiag.io.packets import places as module
from netdiag.io.packets.places import Running, read_containers
from netdiag.linux.netns import ProcessNamespace
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine


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
