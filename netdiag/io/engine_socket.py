"""Asking an engine through its unix socket, with the standard library alone.

The same questions as `docker_engine`, which serves every other way to an engine; loading its libraries takes longer
than reading the kernel and the engine together. Every failure is an EngineError of one line; no request changes
anything, no answer is larger than a bound, and everything ends by a deadline.
"""

import http.client
import json
import socket
import time
from types import TracebackType
from typing import Any, Self

from netdiag.engine.container import Container, parse_container
from netdiag.engine.document import sequence, text
from netdiag.engine.network import EngineNetwork, parse_network
from netdiag.errors import EngineError
from netdiag.io.engine_address import EngineAddress

LARGEST_ANSWER = 64 * 1024 * 1024
_CHUNK = 256 * 1024
# Engines answer with their newest version to a request without one; older documents hold all that is read here.
_NEWEST_KNOWN = (1, 51)


class SocketEngine:
    """A connection to an engine on this machine; it is made with the first question."""

    def __init__(self, address: EngineAddress, *, timeout: float = 10.0) -> None:
        self.address = address
        self._deadline = time.monotonic() + timeout
        self._connection = _UnixConnection(address.unix_socket or "")
        self._prefix = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def release(self) -> str:
        """The engine's release; agrees on the version of the API on the way."""
        document = self._ask("/version")
        self._prefix = _prefix(text(document, "ApiVersion"))
        return text(document, "Version")

    def containers(self) -> tuple[Container, ...]:
        """Every container, running or not, by name; one that goes away meanwhile is left out."""
        listed = self._ask(f"{self._prefix}/containers/json?all=1")
        identifiers = [text(entry, "Id") for entry in sequence({"": listed}, "")]
        found = [
            self._ask(f"{self._prefix}/containers/{one}/json", may_be_gone=True) for one in identifiers if _is_id(one)
        ]
        return tuple(sorted((parse_container(d) for d in found if d is not None), key=lambda c: c.name))

    def networks(self) -> tuple[EngineNetwork, ...]:
        """Every network, by name."""
        listed = self._ask(f"{self._prefix}/networks")
        return tuple(sorted((parse_network(one) for one in sequence({"": listed}, "")), key=lambda n: n.name))

    def _ask(self, path: str, *, may_be_gone: bool = False) -> Any:
        """The document at a path; None for one that is not there, if that may be."""
        try:
            status, body = self._exchange(path)
            if status == http.client.NOT_FOUND and may_be_gone:
                return None
            document: Any = json.loads(body)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            raise self._translated(error) from error
        if status != http.client.OK:
            said = " ".join(text(document, "message").split())[:300]
            raise EngineError(f"the engine answers {status} {said}".rstrip(), where=self.address.url, hint=self._hint)
        return document

    def _exchange(self, path: str) -> tuple[int, bytes]:
        self._connection.until(self._deadline)
        self._connection.request("GET", path, headers={"Host": "docker"})
        with self._connection.getresponse() as answer:
            body = bytearray()
            while chunk := answer.read1(_CHUNK):
                body += chunk
                self._connection.until(self._deadline)
                if len(body) > LARGEST_ANSWER:
                    raise ValueError(f"its answer is larger than {LARGEST_ANSWER // 1024**2} MiB")
            return answer.status, bytes(body)

    @property
    def _hint(self) -> str:
        return f"the engine was named by {self.address.said_by}"

    def _translated(self, error: Exception) -> EngineError:
        where = self.address.url
        if isinstance(error, PermissionError):
            return EngineError("permission denied", where=where, hint="be root or a member of the group docker")
        if isinstance(error, TimeoutError):
            return EngineError("the engine does not answer in time", where=where, hint=self._hint)
        if isinstance(error, OSError) and not isinstance(error, http.client.HTTPException):
            said = " ".join((error.strerror or str(error)).split())[:300] or type(error).__name__
            return EngineError(f"no engine answers there: {said}", where=where, hint=self._hint)
        said = " ".join(str(error).split())[:300] or type(error).__name__
        return EngineError(f"the engine does not answer as its API promises: {said}", where=where, hint=self._hint)


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket, every step of it by a deadline."""

    def __init__(self, path: str) -> None:
        super().__init__("docker")
        self._path = path
        self._deadline = 0.0

    def until(self, deadline: float) -> None:
        """Give what follows the time that is left."""
        self._deadline = deadline
        if self.sock is not None:
            self.sock.settimeout(self._left())

    def connect(self) -> None:
        """To the socket instead of a host."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._left())
        self.sock.connect(self._path)

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _prefix(offered: str) -> str:
    """The version to ask for: the engine's own, but none newer than the one whose documents are known."""
    major, _, minor = offered.partition(".")
    if not major.isdecimal() or not minor.isdecimal():
        return ""
    version = min((int(major), int(minor)), _NEWEST_KNOWN)
    return f"/v{version[0]}.{version[1]}"


def _is_id(text_: str) -> bool:
    """Whether it can be put into a path."""
    return text_.isalnum() and text_.isascii()
