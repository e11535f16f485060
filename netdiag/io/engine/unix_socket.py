"""Asking an engine through its unix socket, with the standard library alone.

The same questions as `docker_sdk`, which serves every other way to an engine; loading its libraries takes longer
than reading the kernel and the engine together, and the standard library's HTTP half as long. So each question is one
connection in HTTP/1.0 (RFC 1945), whose answer is a status line, headers, and all that follows until its end.
Every failure is an EngineError of one line; no request changes anything, no answer is larger than a bound, and
each ends by a deadline.
"""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from netdiag.digits import number_of
from netdiag.engine.about import EngineHost, parse_host, release_of
from netdiag.engine.container import (
    Container,
    EngineNetwork,
    Mount,
    in_sight,
    parse_container,
    parse_mounts,
    parse_network,
    sequence,
    text,
)
from netdiag.engine.events import LARGEST as LARGEST_EVENTS
from netdiag.engine.events import ContainerEvent, parse_events, query
from netdiag.engine.podman import GONE, NETWORKS_PATH, is_podman, parse_podman_network
from netdiag.engine.testcontainers import MOST_OF_SCRIPT, with_script
from netdiag.errors import EngineError, NotThere
from netdiag.io.engine.address import EngineAddress

if TYPE_CHECKING:
    from netdiag.engine.swarm import SwarmView

LARGEST_ANSWER = 64 * 1024 * 1024
_CHUNK = 256 * 1024
# Engines answer with their newest version to a request without one; older documents hold all that is read here.
_NEWEST_KNOWN = (1, 51)
_OK, _BAD_REQUEST, _NOT_FOUND = 200, 400, 404
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")


class SocketEngine:
    """An engine on this machine; `timeout` is seconds for each answer."""

    def __init__(self, address: EngineAddress, *, timeout: float = 10.0) -> None:
        self.address = address
        self._timeout = timeout
        self._prefix = ""
        self._is_podman = False

    def release(self) -> str:
        """The engine's release; agrees on the version of the API on the way."""
        document = self._ask("/version")
        self._prefix = _prefix(text(document, "ApiVersion"))
        self._is_podman = is_podman(document)
        return release_of(document)

    def host(self) -> EngineHost:
        """What the engine says about its machine; nothing where it does not answer."""
        document: object = None
        with suppress(EngineError):
            document = self._ask(f"{self._prefix}/info")
        return parse_host(document)

    def containers(self) -> tuple[Container, ...]:
        """Every container, running or not, by name; not one that goes away meanwhile, nor a helper of netdiag's."""
        listed = self._ask(f"{self._prefix}/containers/json?all=1")
        identifiers = (text(entry, "Id") for entry in sequence({"": listed}, ""))
        asked = (
            self._ask(f"{self._prefix}/containers/{one}/json", may_be_gone=True) for one in identifiers if _is_id(one)
        )
        found = (parse_container(one) for one in asked if one is not None)
        return in_sight(with_script(one, partial(self._file, one)) for one in found)

    def knows(self, identifier: str) -> bool:
        """Whether the engine has this container."""
        path = f"{self._prefix}/containers/{identifier}/json"
        return _is_id(identifier) and self._ask(path, may_be_gone=True) is not None

    def mounts(self, container: Container) -> tuple[Mount, ...]:
        """What is mounted into a container; NotThere for one that is gone."""
        document = self._ask(f"{self._prefix}/containers/{container.id}/json", may_be_gone=True)
        if document is None:
            raise NotThere("the engine has no such container", where=self.address.url)
        return parse_mounts(document)

    def networks(self) -> tuple[EngineNetwork, ...]:
        """Every network, by name; Podman before 4.0 tells of them only what Docker's API has."""
        listed = self._ask(NETWORKS_PATH, may_be_refused=True) if self._is_podman else None
        parse = parse_network if listed is None else parse_podman_network
        if listed is None:
            listed = self._ask(f"{self._prefix}/networks")
        return tuple(sorted((parse(one) for one in sequence({"": listed}, "")), key=lambda n: n.name))

    def events(self, since: datetime, until: datetime) -> tuple[ContainerEvent, ...]:
        """The starts and ends of containers between two times of the engine's clock, as far as it remembers.

        One that does not end its answer has said all by the time that there is for it.
        """
        from urllib.parse import urlencode

        answer = bytearray()
        try:
            with suppress(TimeoutError):
                for chunk in self._chunks(f"{self._prefix}/events?{urlencode(query(since, until))}"):
                    answer += chunk[: LARGEST_EVENTS - len(answer)]
                    if len(answer) == LARGEST_EVENTS:
                        break
            status, body = _parse(bytes(answer))
        except OSError as error:
            raise self._unanswered(error) from error
        except ValueError as error:
            raise self._not_as_promised(error) from error
        if status != _OK:
            raise EngineError(f"the engine answers {status}", where=self.address.url, hint=self.address.hint)
        return parse_events(body)

    def swarm(self, host: EngineHost) -> "SwarmView | None":
        """What a manager tells of its swarm; None where the engine is none, or does not answer."""
        if not host.is_manager:
            return None
        from netdiag.engine.swarm import RUNNING, parse_swarm

        with suppress(EngineError):
            services, nodes = self._ask(f"{self._prefix}/services"), self._ask(f"{self._prefix}/nodes")
            tasks = self._ask(f"{self._prefix}/tasks?filters={RUNNING}")
            return parse_swarm(services, tasks, nodes, host.node)
        return None

    def _file(self, container: Container, path: str) -> bytes | None:
        """A small file of a container; None where it has none of that name, it is large, or the engine has it not.

        The path becomes a part of the URL: that of a script that is waited for holds nothing that has a meaning there.
        """
        from netdiag.io.engine.archives import first_file

        with suppress(OSError, ValueError):
            query = f"{self._prefix}/containers/{container.id}/archive?path={path}"
            status, body = _parse(self._exchange(query, limit=2 * MOST_OF_SCRIPT))
            return first_file(iter((body,)), limit=MOST_OF_SCRIPT) if status == _OK else None
        return None

    def _ask(self, path: str, *, may_be_gone: bool = False, may_be_refused: bool = False) -> Any:
        """The document at a path; None for one that is not there, or that the engine does not know, if that may be."""
        try:
            status, body = _parse(self._exchange(path))
            if may_be_gone and (status == _NOT_FOUND or (status != _OK and GONE in body)):
                return None
            if may_be_refused and status in (_BAD_REQUEST, _NOT_FOUND):
                return None
            document: Any = json.loads(body)
        except OSError as error:
            raise self._unanswered(error) from error
        except (ValueError, RecursionError) as error:
            raise self._not_as_promised(error) from error
        if status != _OK:
            said = " ".join(text(document, "message").split())[:300]
            message = f"the engine answers {status} {said}".rstrip()
            raise EngineError(message, where=self.address.url, hint=self.address.hint)
        return document

    def _exchange(self, path: str, *, limit: int | None = None) -> bytes:
        most = LARGEST_ANSWER if limit is None else limit
        answer = bytearray()
        for chunk in self._chunks(path):
            answer += chunk
            if len(answer) > most:
                raise ValueError(f"its answer is larger than {most // 1024**2} MiB")
        return bytes(answer)

    def _chunks(self, path: str) -> Iterator[bytes]:
        """An answer as it comes; TimeoutError where it has not ended in time."""
        deadline = time.monotonic() + self._timeout
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(self._timeout)
            connection.connect(self.address.unix_socket or "")
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
            while chunk := connection.recv(_CHUNK):
                yield chunk
                connection.settimeout(_left(deadline))

    def _not_as_promised(self, error: Exception) -> EngineError:
        said = " ".join(str(error).split())[:300]
        message = f"the engine does not answer as its API promises: {said}"
        return EngineError(message, where=self.address.url, hint=self.address.hint)

    def _unanswered(self, error: OSError) -> EngineError:
        where = self.address.url
        if isinstance(error, PermissionError):
            return EngineError("permission denied", where=where, hint="run it as root or as a member of group docker")
        if isinstance(error, TimeoutError):
            return EngineError("the engine does not answer in time", where=where, hint=self.address.hint)
        said = " ".join((error.strerror or str(error)).split())[:300] or type(error).__name__
        return EngineError(f"no engine answers there: {said}", where=where, hint=f"start it, or {self.address.hint}")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _parse(answer: bytes) -> tuple[int, bytes]:
    """Status and body of a whole answer; ValueError for what is none."""
    status = _STATUS_LINE.match(answer)
    end = _END_OF_HEADERS.search(answer)
    if status is None or end is None:
        raise ValueError("its answer is not HTTP" if answer else "it closes the connection without an answer")
    body = answer[end.end() :]
    length = _LENGTH.search(answer, 0, end.end())
    if length is not None and len(body) != int(length[1]):
        raise ValueError(f"{len(body)} of {int(length[1])} bytes arrived")
    return int(status[1]), body


def _prefix(offered: str) -> str:
    """The version to ask for: the engine's own, but none newer than the one whose documents are known."""
    major, minor = (number_of(part) for part in offered.partition(".")[::2])
    if major is None or minor is None:
        return ""
    version = min((major, minor), _NEWEST_KNOWN)
    return f"/v{version[0]}.{version[1]}"


def _is_id(identifier: str) -> bool:
    """Whether it can be put into a path."""
    return identifier.isalnum() and identifier.isascii()
