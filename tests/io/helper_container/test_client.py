"""Helpers on an engine whose containers are processes: what comes back, what is told, and that none is left.

The engine is an API on a unix socket: its containers are made, attached to, started and removed. Attached streams are
as the engine's: what comes in goes to standard input, what comes out has a head of eight bytes; the end of the
connection is the end of standard input.
"""

import contextlib
import json
import socketserver
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import netdiag
from netdiag.engine.helper_container import Hello, Helper, Kind, Order, Right, encode_hello, frame
from netdiag.errors import EngineError
from netdiag.io.engine.address import EngineAddress
from netdiag.io.helper_container.client import Setting, carry_out
from tests.cli.shell import CLEAN, environment
from tests.io.engine.fake_engine import VERSION
from tests.io.namespaces import needs_root

ID = "c" * 64
HELPER = (sys.executable, "-m", "netdiag.cli.in_helper")


@dataclass(slots=True, kw_only=True)
class FakeContainers:
    """What it is asked, and what it answers with. `refusals` are what `create` says before it makes one."""

    url: str = ""
    argv: Sequence[str] = HELPER
    image: object = field(default_factory=lambda: {"Os": "linux"})
    version: dict[str, str] = field(default_factory=lambda: dict(VERSION))
    refusals: list[tuple[int, str]] = field(default_factory=list)
    start_refusal: str = ""
    created: list[dict[str, Any]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    environment: dict[str, str] | None = None
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)


@contextlib.contextmanager
def fake_containers(path: Path, fake: FakeContainers) -> Iterator[FakeContainers]:
    """Serve for the block."""
    with _Server(str(path), fake) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        fake.url = f"unix://{path}"
        try:
            yield fake
        finally:
            for process in fake.processes:
                process.kill()
            server.shutdown()
            thread.join()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, path: str, fake: FakeContainers) -> None:
        super().__init__(path, _Handler)
        self.fake = fake
        self.started = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        path, fake = self._bare_path(), self.server.fake
        if path == "/version":
            self._answer(200, fake.version)
        elif path.startswith("/images/") and fake.image:
            self._answer(200, fake.image)
        elif path == "/containers/json":
            self._answer(200, [])
        elif path == f"/containers/{ID}/json" and not fake.removed:
            self._answer(200, {"Id": ID})
        else:
            self._answer(404, {"message": "no such thing"})

    def do_DELETE(self) -> None:
        self.server.fake.removed.append(self._bare_path())
        for process in self.server.fake.processes:
            process.kill()
        self._answer(204, None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, fake = self._bare_path(), self.server.fake
        if path.endswith("/attach"):
            self._attach()
        elif path == "/containers/create":
            fake.created.append(json.loads(body))
            status, message = fake.refusals.pop(0) if fake.refusals else (201, "")
            self._answer(status, {"message": message} if message else {"Id": ID, "Warnings": []})
        elif fake.start_refusal:
            self._answer(500, {"message": fake.start_refusal})
        else:
            self.server.started.set()
            self._answer(204, None)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def address_string(self) -> str:
        return "unix"

    def _attach(self) -> None:
        """Give and take until the process is over."""
        self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        self.close_connection = True
        if not self.server.started.wait(60):
            return
        fake = self.server.fake
        process = subprocess.Popen(
            fake.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=fake.environment
        )
        fake.processes.append(process)
        threading.Thread(target=self._give, args=(process.stdin,), daemon=True).start()
        lock = threading.Lock()
        streams = ((process.stdout, 1), (process.stderr, 2))
        takers = [threading.Thread(target=self._take, args=(*one, lock), daemon=True) for one in streams]
        for taker in takers:
            taker.start()
        for taker in takers:
            taker.join()
        process.wait()

    def _give(self, stream: Any) -> None:
        with contextlib.suppress(OSError):
            while data := self.connection.recv(65536):
                stream.write(data)
                stream.flush()
        with contextlib.suppress(OSError):
            stream.close()

    def _take(self, stream: Any, number: int, lock: threading.Lock) -> None:
        with contextlib.suppress(OSError):
            while data := stream.read1(65536):
                with lock:
                    self.connection.sendall(struct.pack(">BxxxI", number, len(data)) + data)

    def _bare_path(self) -> str:
        bare = self.path.partition("?")[0]
        return "/" + bare.split("/", 2)[2] if bare.startswith("/v1.") else bare

    def _answer(self, status: int, document: object) -> None:
        data = b"" if status == 204 else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


REMOVED = [f"/containers/{ID}"]


def setting(fake: FakeContainers) -> Setting:
    path = fake.url.removeprefix("unix://")
    helper = Helper(image="netdiag:test", socket=path, shown_as=path, rights=[Right.ENTER])
    return Setting(address=EngineAddress(url=fake.url, said_by="--host"), helper=helper, timeout=30)


def order(fake: FakeContainers, folder: Path, *words: str, **more: object) -> Order:
    socket = fake.url.removeprefix("unix://")
    return Order(words=words, folder=str(folder), container="", socket=socket, **more)  # type: ignore[arg-type]


def done(fake: FakeContainers, asked: Order) -> tuple[int, dict[Kind, bytes]]:
    said: dict[Kind, bytes] = {}

    def tell(kind: Kind, data: bytes) -> None:
        said[kind] = said.get(kind, b"") + data

    return carry_out(setting(fake), asked, tell), said


def saying(code: str) -> FakeContainers:
    """A container that is a program of ours instead of a helper."""
    return FakeContainers(argv=(sys.executable, "-c", code))


def greeting(*, version: str = netdiag.__version__, rights: tuple[str, ...] = ("SYS_ADMIN",)) -> bytes:
    return frame(Kind.HELLO, encode_hello(Hello(protocol=1, version=version, rights=rights)))


def refused(tmp_path: Path, fake: FakeContainers) -> str:
    with fake_containers(tmp_path / "s", fake), pytest.raises(EngineError) as caught:
        done(fake, order(fake, tmp_path, "rules"))
    assert "\n" not in str(caught.value)
    return f"{caught.value} | {caught.value.hint}"


_LAST_FRAMES = f"""
import os, sys
os.write(1, {greeting()!r})
size = int.from_bytes(sys.stdin.buffer.read(8), "big")
sys.stdin.buffer.read(size)
os.write(1, {frame(Kind.OUT, b"one") + frame(Kind.ALIVE) + frame(Kind.ERRORS, b"two")!r})
os.write(1, {frame(Kind.STATUS, bytes([4]))!r})
"""


def test_what_a_helper_says_comes_back_and_nothing_of_it_stays(tmp_path: Path) -> None:
    with fake_containers(tmp_path / "s", saying(_LAST_FRAMES)) as fake:
        assert done(fake, order(fake, tmp_path, "rules")) == (4, {Kind.OUT: b"one", Kind.ERRORS: b"two"})
        assert fake.removed == REMOVED


def test_what_is_not_where_it_was_thought_is_looked_for_elsewhere(tmp_path: Path) -> None:
    fake = saying(_LAST_FRAMES)
    missing = 'invalid mount config for type "bind": bind source path does not exist: '
    fake.refusals = [(400, missing + "/run/netns"), (400, missing + "/elsewhere/s")]
    with fake_containers(tmp_path / "s", fake):
        assert done(fake, order(fake, tmp_path, "rules"))[0] == 4
    sources = [[one["Source"] for one in each["HostConfig"]["Mounts"]] for each in fake.created]
    own = str(tmp_path / "s")
    assert sources == [[own, "/run/netns"], [own], ["/var/run/docker.sock"]]


def test_no_socket_anywhere(tmp_path: Path) -> None:
    missing = "bind source path does not exist: /x"
    assert "the engine's socket is not at '/var/run/docker.sock'" in refused(
        tmp_path, FakeContainers(refusals=[(400, missing)] * 2)
    )


def test_without_the_image_the_command_that_builds_it(tmp_path: Path) -> None:
    fake = FakeContainers(image=None)
    said = refused(tmp_path, fake)
    assert "the engine has no image 'netdiag:test'" in said
    assert "docker build --tag netdiag:test ." in said
    assert not fake.created


def test_an_engine_of_windows(tmp_path: Path) -> None:
    fake = FakeContainers()
    fake.version["Os"] = "windows"
    assert "the engine runs containers of windows" in refused(tmp_path, fake)


def test_an_engine_that_allows_no_such_container(tmp_path: Path) -> None:
    said = refused(tmp_path, FakeContainers(refusals=[(403, "authorization denied by plugin")]))
    assert "the engine refuses the helper container: authorization denied by plugin" in said


def test_an_engine_that_does_not_start_it(tmp_path: Path) -> None:
    fake = FakeContainers(start_refusal="OCI runtime create failed:\noperation not permitted")
    assert "OCI runtime create failed: operation not permitted" in refused(tmp_path, fake)
    assert fake.removed == REMOVED


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; sys.exit('No module named netdiag.cli.in_helper')", "failed: No module named netdiag"),
        ("pass", "ended before its work was done"),
        (f"import os; os.write(1, {greeting(version='0.0.9')!r})", "the image holds netdiag 0.0.9, and this is"),
        (f"import os; os.write(1, {greeting(rights=())!r})", "CAP_SYS_ADMIN"),
        (f"import os; os.write(1, {greeting(rights=('NET_RAW',))!r})", "CAP_SYS_ADMIN"),
        ("print('Usage: something else')", "its output is not netdiag's"),
        (f"import os; os.write(1, {greeting()!r})", "ended before its work was done"),
    ],
)
def test_images_that_do_not_help(tmp_path: Path, code: str, says: str) -> None:
    fake = saying(code)
    assert says in refused(tmp_path, fake)
    assert fake.removed == REMOVED


def test_netdiag_itself_there_and_back(tmp_path: Path) -> None:
    """The inner end is the real one, with the rights of this test."""
    needs_root()
    (tmp_path / "s.d").mkdir()
    with fake_containers(tmp_path / "s", FakeContainers(environment=environment())) as fake:
        asked = order(
            fake,
            tmp_path / "s.d",
            *("check-listeners", "compose.yml", "--format", "json", "--output", "out.json", "--format", "concise"),
            files={str(tmp_path / "s.d" / "compose.yml"): CLEAN.encode()},
            results=(str(tmp_path / "s.d" / "out.json"),),
        )
        status, said = done(fake, asked)
    assert status == 0, said
    assert b'"version": 1' in said[Kind.FILE]
    assert Kind.ERRORS not in said
