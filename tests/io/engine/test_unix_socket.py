"""An engine asked through its socket: what it says, what it does not, and never longer than it may take."""

import json
import os
import socket
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest

from netdiag.engine.events import LARGEST, query
from netdiag.errors import EngineError, NotThere
from netdiag.io.engine import unix_socket
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.docker_sdk import connect
from netdiag.io.engine.unix_socket import SocketEngine
from tests.engine.test_documents import BROKER
from tests.engine.test_events import document
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.io.namespaces import needs_root

IDENTIFIER = BROKER["Id"]
ANSWERS = {
    "/version": VERSION,
    "/containers/json": [{"Id": IDENTIFIER}, {"Id": "gone"}, {"Id": "../escape"}, 7, {}],
    f"/containers/{IDENTIFIER}/json": BROKER,
    "/networks": [{"Name": "b", "Driver": "bridge"}, {"Name": "a"}],
}


def engine_at(url: str, timeout: float = 10) -> SocketEngine:
    return SocketEngine(EngineAddress(url=url, said_by="DOCKER_HOST"), timeout=timeout)


def test_it_says_what_the_library_says(tmp_path: Path) -> None:
    machine = {"OperatingSystem": "Debian", "KernelVersion": "6.1", "FirewallBackend": {"Driver": "nftables"}}
    mount = {"Type": "volume", "Name": "data", "Source": "/volumes/data", "Destination": "/data", "RW": True}
    answers: dict[str, object] = {
        **ANSWERS,
        "/containers/json": [{"Id": IDENTIFIER}],
        f"/containers/{IDENTIFIER}/json": {**BROKER, "Mounts": [mount]},
        "/info": machine,
    }
    with fake_engine(tmp_path / "s", answers) as url:
        with connect(EngineAddress(url=url, said_by="--host")) as library:
            expected = (library.release(), library.host(), library.containers(), library.networks())
            mounts = library.mounts(expected[2][0])
        engine = engine_at(url)
        assert (engine.release(), engine.host(), engine.containers(), engine.networks()) == expected
        assert engine.mounts(expected[2][0]) == mounts
    assert expected[1].firewall == "nftables"
    assert expected[2][0].name == "held-broker-1-1"
    assert mounts


def test_the_mounts_of_a_container_that_is_gone(tmp_path: Path) -> None:
    with fake_engine(tmp_path / "s", {**ANSWERS, "/containers/json": [{"Id": IDENTIFIER}]}) as url:
        (container,) = engine_at(url).containers()
    with fake_engine(tmp_path / "t", {"/version": VERSION}) as url, pytest.raises(NotThere):
        engine_at(url).mounts(container)


def test_what_is_gone_or_is_no_container_is_left_out(tmp_path: Path) -> None:
    with fake_engine(tmp_path / "s", ANSWERS) as url:
        engine = engine_at(url)
        assert engine.release() == "20.10.24"
        assert [container.name for container in engine.containers()] == ["held-broker-1-1"]
        assert [network.name for network in engine.networks()] == ["a", "b"]


@pytest.mark.parametrize("odd", [{}, [], "x", {"Id": 3, "Version": []}, {"ApiVersion": "1.x"}])
def test_documents_of_any_shape(tmp_path: Path, odd: object) -> None:
    answers = {"/version": odd, "/containers/json": odd, "/networks": odd}
    with fake_engine(tmp_path / "s", answers) as url:
        engine = engine_at(url)
        assert (engine.release(), engine.containers(), engine.networks()) == ("", (), ())


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (500, "the engine answers 500 status 500"),
        (403, "the engine answers 403 status 403"),
        (404, "the engine answers 404 status 404"),
        (b"nonsense\r\n\r\n", "does not answer as its API promises"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{broken", "does not answer as its API promises"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "1 of 99 bytes arrived"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "does not answer as its API promises"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000, "its answer is not HTTP"),
        (b"HTTP/9.9 200 OK\r\n\r\n{}", "its answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"[" * 200_000, "does not answer as its API promises"),
        (b"", "it closes the connection without an answer"),
    ],
)
def test_what_is_no_engine(tmp_path: Path, answer: object, says: str) -> None:
    with (
        fake_engine(tmp_path / "s", {"/version": answer}) as url,
        pytest.raises(EngineError) as caught,
    ):
        engine_at(url).release()
    assert says in caught.value.message
    assert "\n" not in str(caught.value)
    assert caught.value.where == url


def test_an_answer_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_socket, "LARGEST_ANSWER", 1024 * 1024)
    endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b" " * (2 * 1024 * 1024)
    with (
        fake_engine(tmp_path / "s", {"/version": endless}) as url,
        pytest.raises(EngineError, match="larger than 1 MiB"),
    ):
        engine_at(url).release()


def test_an_engine_that_hangs(tmp_path: Path) -> None:
    begin = time.monotonic()
    with fake_engine(tmp_path / "s", {**ANSWERS, "/networks": None}) as url:
        engine = engine_at(url, timeout=0.5)
        engine.release()
        with pytest.raises(EngineError, match="in time"):
            engine.networks()
        assert time.monotonic() - begin < 5


def test_the_time_is_for_each_answer(tmp_path: Path) -> None:
    with fake_engine(tmp_path / "s", {**ANSWERS, "/containers/json": None}) as url:
        engine = engine_at(url, timeout=0.3)
        engine.release()
        time.sleep(0.4)
        assert [network.name for network in engine.networks()] == ["a", "b"]
        with pytest.raises(EngineError, match="in time"):
            engine.containers()


def test_an_engine_that_answers_drop_by_drop(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def drip() -> None:
            taken, _ = listening.accept()
            with taken:
                try:
                    taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                    for _ in range(200):
                        taken.sendall(b" ")
                        time.sleep(0.02)
                except OSError:
                    return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        engine = engine_at(f"unix://{path}", timeout=0.3)
        with pytest.raises(EngineError, match="in time"):
            engine.release()
        thread.join(10)
        assert not thread.is_alive()


SINCE, UNTIL = datetime.fromtimestamp(1000, UTC), datetime.fromtimestamp(1005, UTC)
HEAD = b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"
EVENTS = "".join(json.dumps(document(action, at=1001)) + "\n" for action in ("start", "die")).encode()


def test_events_are_asked_for_between_two_times(tmp_path: Path) -> None:
    asked = "/events?" + urlencode(query(SINCE, UNTIL))
    with fake_engine(tmp_path / "s", {"/version": VERSION, asked: HEAD + EVENTS}) as url:
        engine = engine_at(url)
        found = engine.events(SINCE, UNTIL)
        assert [(one.name, one.starts) for one in found] == [("name-a", True), ("name-a", False)]
        engine.release()
        assert engine.events(SINCE, UNTIL) == found
        with connect(EngineAddress(url=url, said_by="--host")) as library:
            assert library.events(SINCE, UNTIL) == found


def test_events_of_an_engine_that_never_ends_its_answer(tmp_path: Path) -> None:
    with fake_engine(tmp_path / "s", {"/version": VERSION, "/events": (HEAD, EVENTS)}) as url:
        begin = time.monotonic()
        assert len(engine_at(url, timeout=0.5).events(SINCE, UNTIL)) == 2
    chunk = b"%x\r\n%b\r\n" % (len(EVENTS), EVENTS)
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with fake_engine(tmp_path / "t", {"/version": VERSION, "/events": (chunked, chunk)}) as url:
        with connect(EngineAddress(url=url, said_by="--host"), timeout=0.5) as library:
            assert len(library.events(SINCE, UNTIL)) == 2
        assert time.monotonic() - begin < 5


def test_events_without_bound(tmp_path: Path) -> None:
    flood = HEAD + EVENTS * (LARGEST // len(EVENTS) + 1000)
    with fake_engine(tmp_path / "s", {"/version": VERSION, "/events": flood}) as url:
        assert len(engine_at(url).events(SINCE, UNTIL)) == 10_000
        with connect(EngineAddress(url=url, said_by="--host")) as library:
            assert len(library.events(SINCE, UNTIL)) == 10_000


@pytest.mark.parametrize(
    ("answer", "says"),
    [(403, "answers 403"), (None, "in time|as its API promises"), (b"", "no engine|as its API promises")],
)
def test_an_engine_that_tells_no_events(tmp_path: Path, answer: object, says: str) -> None:
    with fake_engine(tmp_path / "s", {"/version": VERSION, "/events": answer}) as url:
        with pytest.raises(EngineError, match=says):
            engine_at(url, timeout=0.3).events(SINCE, UNTIL)
        with (
            connect(EngineAddress(url=url, said_by="--host"), timeout=0.3) as library,
            pytest.raises(EngineError, match=says),
        ):
            library.events(SINCE, UNTIL)


def test_no_socket(tmp_path: Path) -> None:
    engine = engine_at(f"unix://{tmp_path}/none")
    with pytest.raises(EngineError, match="No such file or directory"):
        engine.release()


def test_a_socket_that_nobody_listens_on(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    engine = engine_at(f"unix://{tmp_path}/s")
    with pytest.raises(EngineError, match="Connection refused"):
        engine.release()


def test_a_path_that_is_too_long() -> None:
    engine = engine_at(f"unix:///{'x' * 200}")
    with pytest.raises(EngineError, match="no engine answers there"):
        engine.release()


def test_no_permission(tmp_path: Path) -> None:
    needs_root()
    folder = tmp_path / "closed"
    folder.mkdir()
    with fake_engine(folder / "s", {"/version": VERSION}) as url:
        os.chmod(tmp_path, 0o711)
        os.chmod(folder, 0o700)
        os.seteuid(65534)
        try:
            engine = engine_at(url)
            with pytest.raises(EngineError, match="permission denied"):
                engine.release()
        finally:
            os.seteuid(0)


def test_one_that_ends_its_lines_as_it_likes(tmp_path: Path) -> None:
    answers = {**ANSWERS, "/version": b'HTTP/1.0 200\ncontent-LENGTH:  19\n\n{"Version": "27.1"}'}
    with fake_engine(tmp_path / "s", answers) as url:
        assert engine_at(url).release() == "27.1"


@pytest.mark.parametrize(("offered", "asked"), [("1.41", "/v1.41"), ("1.99", "/v1.51"), ("", ""), ("x", "")])
def test_the_version_that_is_asked_for(offered: str, asked: str) -> None:
    assert unix_socket._prefix(offered) == asked
