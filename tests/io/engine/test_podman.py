"""Podman's own answers, by its socket and by Docker's library alike."""

import json
from pathlib import Path

import pytest

from netdiag.errors import EngineError
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.docker_sdk import connect
from netdiag.io.engine.unix_socket import SocketEngine
from tests.engine.test_documents import BROKER
from tests.engine.test_podman import DEFAULT, OF_COMPOSE
from tests.io.engine.fake_engine import fake_engine

_VERSION = {"ApiVersion": "1.41", "Version": "4.3.1", "Os": "linux", "Components": [{"Name": "Podman Engine"}]}
_NETWORKS = "/v4.0.0/libpod/networks/json"
_GONE = json.dumps({"message": "container 3f does not exist in database: no such container"}).encode()


def _read(url: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The networks with their devices, and the containers, which both readers must tell alike."""
    address = EngineAddress(url=url, said_by="--host")
    quick = SocketEngine(address)
    assert quick.release() == "Podman 4.3.1"
    with connect(address) as library:
        networks, containers = quick.networks(), quick.containers()
        assert (library.release(), library.networks()) == ("Podman 4.3.1", networks)
        assert library.containers() == containers
    return [(one.name, one.bridge_name) for one in networks], [one.name for one in containers]


def test_networks_are_read_by_its_own_api(tmp_path: Path) -> None:
    answers = {"/version": _VERSION, _NETWORKS: [OF_COMPOSE, DEFAULT, 7], "/containers/json": []}
    with fake_engine(tmp_path / "s", answers) as url:
        assert _read(url)[0] == [("", ""), ("podman", "podman0"), ("shop_kafka", "podman1")]


@pytest.mark.parametrize("status", [400, 404])
def test_a_release_without_that_api_is_asked_as_docker_is(tmp_path: Path, status: int) -> None:
    answers = {"/version": _VERSION, _NETWORKS: status, "/networks": [{"Name": "a"}], "/containers/json": []}
    with fake_engine(tmp_path / "s", answers) as url:
        assert _read(url)[0] == [("a", "")]


def test_a_container_that_goes_away_is_left_out_whatever_the_status(tmp_path: Path) -> None:
    answer = b"HTTP/1.1 500 Error\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(_GONE),
        _GONE,
    )
    answers = {
        "/version": _VERSION,
        _NETWORKS: [],
        "/containers/json": [{"Id": "3f"}, {"Id": BROKER["Id"]}],
        "/containers/3f/json": answer,
        f"/containers/{BROKER['Id']}/json": BROKER,
    }
    with fake_engine(tmp_path / "s", answers) as url:
        assert _read(url)[1] == ["held-broker-1-1"]


def test_another_failure_is_told(tmp_path: Path) -> None:
    answers = {"/version": _VERSION, "/containers/json": [{"Id": "3f"}], "/containers/3f/json": 500}
    with fake_engine(tmp_path / "s", answers) as url, pytest.raises(EngineError, match="the engine answers 500"):
        SocketEngine(EngineAddress(url=url, said_by="--host")).containers()
