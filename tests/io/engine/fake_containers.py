"""An engine's API on a unix socket whose containers are processes of this machine: made, attached to, started, removed.

Attached streams are as the engine's: what comes in goes to standard input, what comes out has a head of eight bytes;
the end of the connection is the end of standard input.
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

from tests.io.engine.fake_engine import VERSION

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
