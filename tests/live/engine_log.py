"""A unix socket before the engine's, that writes down what is asked through it; closed, the engine is out of reach."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_REQUEST = re.compile(rb"(?:^|\r\n\r\n)([A-Z]+ /[^\r\n]*) HTTP/1\.[01]\r\n")


@dataclass(slots=True)
class EngineLog:
    """`asked` are the request lines, as `GET /v1.41/containers/json`."""

    path: Path
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """What DOCKER_HOST must be to ask through it."""
        return f"unix://{self.path}"

    @property
    def changing(self) -> list[str]:
        """What was asked that is no mere question."""
        return [line for line in self.asked if line.split()[0] not in ("GET", "HEAD")]


@contextlib.contextmanager
def between(engine: Path, log: EngineLog) -> Iterator[EngineLog]:
    """Pass everything on for the block."""
    log.path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(log.path))
    listener.listen(64)
    open_now: set[socket.socket] = {listener}

    def copy(source: socket.socket, sink: socket.socket, *, heard: bool) -> None:
        said = b""
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if heard:
                    said += data
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
        log.asked += [line.decode("ascii", "replace") for line in _REQUEST.findall(said)]

    def serve(near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far:
            open_now.update((near, far))
            with contextlib.suppress(OSError):
                far.connect(str(engine))
                back = threading.Thread(target=copy, args=(far, near), kwargs={"heard": False}, daemon=True)
                back.start()
                copy(near, far, heard=True)
                back.join()
            open_now.difference_update((near, far))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                threading.Thread(target=serve, args=(near,), daemon=True).start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield log
    finally:
        log.path.unlink(missing_ok=True)
        for channel in tuple(open_now):
            with contextlib.suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join(10)
