"""Talking to engines that answer, that refuse, and that are none: one clear line each."""

import os
import socket
from pathlib import Path

import pytest

from netdiag.errors import EngineError
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.docker_sdk import Engine, connect, read_logs
from tests.deployment.test_engine_source import container
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.io.namespaces import needs_root


def engine_at(url: str, timeout: float = 10) -> Engine:
    return connect(EngineAddress(url=url, said_by="DOCKER_HOST"), timeout=timeout)


def test_what_an_engine_says(tmp_path: Path) -> None:
    identifier = BROKER["Id"]
    answers = {
        "/version": VERSION,
        "/containers/json": [{"Id": identifier}, {"Id": "gone"}],
        f"/containers/{identifier}/json": BROKER,
        "/networks": [{"Name": "b"}, {"Name": "a"}],
    }
    with fake_engine(tmp_path / "s", answers) as url, engine_at(url) as engine:
        assert (engine.version().release, engine.version().api_version) == ("20.10.24", "1.41")
        assert [c.name for c in engine.containers()] == ["held-broker-1-1"]
        assert [n.name for n in engine.networks()] == ["a", "b"]


def test_a_log_that_cannot_be_had_is_empty(tmp_path: Path) -> None:
    document = BROKER | {"Config": BROKER["Config"] | {"Tty": True}}
    answers = {"/version": VERSION, f"/containers/{container().id}/json": document}
    with fake_engine(tmp_path / "s", answers) as url, engine_at(url) as engine:
        assert engine.log(container()) == ()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (500, "the engine answers"),
        (b"nonsense\r\n\r\n", "no engine answers there"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{broken", "no engine answers there"),
        (b"", "no engine answers there"),
    ],
)
def test_what_is_no_engine(tmp_path: Path, answer: object, says: str) -> None:
    with fake_engine(tmp_path / "s", {"/version": answer}) as url, pytest.raises(EngineError) as caught:
        engine_at(url)
    assert says in caught.value.message
    assert "\n" not in str(caught.value)
    assert caught.value.where == url


def test_an_engine_that_hangs(tmp_path: Path) -> None:
    with fake_engine(tmp_path / "s", {"/version": None}) as url, pytest.raises(EngineError, match="in time"):
        engine_at(url, timeout=0.5)


def test_no_socket(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="No such file or directory") as caught:
        engine_at(f"unix://{tmp_path}/none")
    assert (
        caught.value.hint
        == "start it, or name another engine with --host, --context or DOCKER_HOST (in use: DOCKER_HOST)"
    )


def test_a_socket_that_nobody_listens_on(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    with pytest.raises(EngineError, match="Connection refused"):
        engine_at(f"unix://{tmp_path}/s")


def test_no_permission(tmp_path: Path) -> None:
    needs_root()
    folder = tmp_path / "closed"
    with fake_engine(tmp_path / "s", {"/version": VERSION}) as url:
        os.chmod(tmp_path / "s", 0o600)
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            try:
                engine_at(url)
                os._exit(1)
            except EngineError as error:
                os._exit(0 if error.message == "permission denied" and "docker" in (error.hint or "") else 2)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert not folder.exists()


def test_no_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no engine answers there"):
        read_logs(f"unix://{tmp_path}/no.sock")
