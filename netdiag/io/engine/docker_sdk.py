"""Asking a Docker Engine about its containers and networks, and nothing else: no request here changes anything."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import docker
import requests
from docker.tls import TLSConfig

from netdiag.deployment.sources.engine import runs_kafka
from netdiag.engine.about import EngineHost, parse_host, release_of
from netdiag.engine.container import (
    Container,
    EngineNetwork,
    Mount,
    in_sight,
    log_lines,
    parse_container,
    parse_mounts,
    parse_network,
    sequence,
    text,
)
from netdiag.engine.events import LARGEST as LARGEST_EVENTS
from netdiag.engine.events import ContainerEvent, parse_events, query
from netdiag.engine.podman import GONE, NETWORKS_PATH, is_podman, parse_podman_network
from netdiag.engine.swarm import SwarmView, parse_swarm
from netdiag.engine.testcontainers import MOST_OF_SCRIPT, with_script
from netdiag.errors import EngineError, InputError, NotThere
from netdiag.io.engine.address import EngineAddress, TlsFiles, find_engine
from netdiag.io.engine.archives import first_file
from netdiag.patterns import regex
from netdiag.values import dataclass

_LOG_LINES = 400
_CHUNK = 64 * 1024
_LOG_BYTES = 512 * 1024
# What the engine accepts when it creates one.
_VOLUME_NAME = regex(r"[a-zA-Z0-9][a-zA-Z0-9_.-]*")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineVersion:
    """The engine's release and the version of the API that both sides speak."""

    release: str
    api_version: str
    operating_system: str


class Engine:
    """A connection to one engine; every failure is an EngineError of one line."""

    def __init__(self, client: docker.APIClient, address: EngineAddress) -> None:
        self._client = client
        self.address = address

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def version(self) -> EngineVersion:
        """What the engine says about itself."""
        document = self._ask(lambda: self._client.version(api_version=False))
        return EngineVersion(
            release=release_of(document),
            api_version=str(self._client.api_version),
            operating_system=text(document, "Os"),
        )

    def release(self) -> str:
        """The engine's release."""
        return self.version().release

    def host(self) -> EngineHost:
        """What the engine says about its machine; nothing where it does not answer."""
        document: object = None
        with suppress(EngineError):
            document = self._ask(self._client.info)
        return parse_host(document)

    def containers(self) -> tuple[Container, ...]:
        """Every container, running or not, by name; not one that goes away meanwhile, nor a helper of netdiag's."""
        listed = self._ask(lambda: self._client.containers(all=True))
        found = [self._inspect(text(entry, "Id")) for entry in listed]
        return in_sight(c for c in found if c is not None)

    def networks(self) -> tuple[EngineNetwork, ...]:
        """Every network, by name."""
        said = self._ask(lambda: self._client.version(api_version=False))
        listed, parse = self._ask(self._podman_networks) if is_podman(said) else None, parse_podman_network
        if listed is None:
            listed, parse = self._ask(self._client.networks), parse_network
        return tuple(sorted((parse(document) for document in listed), key=lambda n: n.name))

    def _podman_networks(self) -> Sequence[Any] | None:
        """By Podman's own API; None where it does not know this version of it."""
        answer = self._client.get(f"{self._client.base_url}{NETWORKS_PATH}", timeout=self._client.timeout)
        return sequence({"": answer.json()}, "") if answer.ok else None

    def events(self, since: datetime, until: datetime) -> tuple[ContainerEvent, ...]:
        """The starts and ends of containers between two times of the engine's clock, as far as it remembers."""
        # The library's own question waits without end.
        url = f"{self._client.base_url}/v{self._client.api_version}/events"
        answer = bytearray()
        deadline = time.monotonic() + self._client.timeout

        def asked() -> requests.Response:
            found = self._client.get(url, params=query(since, until), stream=True, timeout=self._client.timeout)
            found.raise_for_status()
            return found

        with closing(self._ask(asked)) as response:
            try:
                for chunk in response.iter_content(_CHUNK):
                    answer += chunk[: LARGEST_EVENTS - len(answer)]
                    if len(answer) == LARGEST_EVENTS or time.monotonic() > deadline:
                        break
            except (requests.RequestException, OSError) as error:
                if not answer:
                    raise self._translated(error) from error
        return parse_events(bytes(answer))

    def swarm(self, host: EngineHost) -> SwarmView | None:
        """What a manager tells of its swarm; None where the engine is none, or does not answer."""
        with suppress(EngineError):
            if host.is_manager:
                services, nodes = self._ask(self._client.services), self._ask(self._client.nodes)
                tasks = self._ask(partial(self._client.tasks, filters={"desired-state": "running"}))
                return parse_swarm(services, tasks, nodes, host.node)
        return None

    def log(self, container: Container) -> tuple[str, ...]:
        """The last lines of a container's log, oldest first; none where its log driver keeps nothing readable."""
        kept = bytearray()
        with suppress(EngineError):
            stream = self._ask(
                lambda: self._client.logs(
                    container.id, stdout=True, stderr=True, stream=True, follow=False, tail=_LOG_LINES
                )
            )
            try:
                for chunk in stream:
                    kept += chunk
                    del kept[:-_LOG_BYTES]
            except (requests.RequestException, docker.errors.DockerException, OSError) as error:
                raise self._translated(error) from error
        return log_lines(bytes(kept))

    def mounts(self, container: Container) -> tuple[Mount, ...]:
        """What is mounted into a container."""
        return parse_mounts(self._ask(lambda: self._client.inspect_container(container.id)))

    def mountpoint(self, volume: str) -> str | None:
        """Where the engine keeps a volume; NotThere where it has none of that name."""
        # The name becomes a part of the URL: "../events" would be another question, whose answer does not end.
        if _VOLUME_NAME.fullmatch(volume) is None:
            raise NotThere("no volume can have this name", where=self.address.url)
        return text(self._ask(lambda: self._client.inspect_volume(volume)), "Mountpoint") or None

    def archive(self, container: Container, path: str) -> Iterator[bytes]:
        """A path inside a container as a tar archive, in chunks; NotThere where there is none."""
        chunks, _ = self._ask(lambda: self._client.get_archive(container.id, path))
        try:
            yield from chunks
        except (requests.RequestException, docker.errors.DockerException, OSError) as error:
            raise self._translated(error) from error

    def _inspect(self, identifier: str) -> Container | None:
        try:
            found = parse_container(self._ask(lambda: self._client.inspect_container(identifier)))
            return with_script(found, lambda path: self._file(found, path))
        except NotThere:
            return None

    def _file(self, container: Container, path: str) -> bytes | None:
        """A small file of a container; None where it has none of that name, it is large, or the engine has it not."""
        with suppress(EngineError):
            return first_file(self.archive(container, path), limit=MOST_OF_SCRIPT)
        return None

    def _ask(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except (requests.RequestException, docker.errors.DockerException, OSError, ValueError) as error:
            raise self._translated(error) from error
        except (LookupError, TypeError, AttributeError) as error:
            # The library trusts the shape of documents.
            message = f"the engine does not answer as its API promises: {error!r}"
            raise EngineError(message, where=self.address.url) from error

    def _translated(self, error: Exception) -> EngineError:
        gone = isinstance(error, docker.errors.APIError) and GONE in str(error).encode()
        if gone or isinstance(error, docker.errors.NotFound):
            return NotThere(_one_line(error), where=self.address.url)
        return failure(error, self.address)


def connect(address: EngineAddress, *, timeout: float = 10.0) -> Engine:
    """Connect and agree on the version of the API; `timeout` is seconds for each answer."""
    return Engine(open_client(address, timeout=timeout), address)


def open_client(address: EngineAddress, *, timeout: float) -> docker.APIClient:
    """The library's client; `timeout` is seconds for each answer."""
    arguments: dict[str, Any] = {"base_url": address.url, "version": "auto", "timeout": timeout}
    if address.tls is not None and address.unix_socket is None:
        arguments["tls"] = _tls_config(address.tls, address)
    if address.url.startswith("ssh://"):
        arguments["use_ssh_client"] = True
    try:
        return docker.APIClient(**arguments)
    except (requests.RequestException, docker.errors.DockerException, OSError, ValueError) as error:
        raise failure(error, address) from error


def _innermost(error: BaseException) -> BaseException:
    """The first of the chain of causes: the libraries above it only repeat it."""
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__ or error
    return error


def _one_line(error: BaseException) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(said.split())[:300] or type(error).__name__


def _tls_config(tls: TlsFiles, address: EngineAddress) -> TLSConfig:
    pair = (tls.certificate, tls.key) if tls.certificate and tls.key else None
    try:
        return TLSConfig(client_cert=pair, ca_cert=tls.ca, verify=tls.verify)
    except docker.errors.TLSParameterError as error:
        raise failure(error, address) from error


def failure(error: Exception, address: EngineAddress) -> EngineError:
    """What the library raised, in one line."""
    cause = _innermost(error)
    reason, where = _one_line(cause), address.url
    hint = address.hint
    if isinstance(error, docker.errors.APIError):
        return EngineError(f"the engine answers {_one_line(error)}", where=where, hint=hint)
    if isinstance(cause, requests.HTTPError):
        return EngineError(f"the engine answers {reason}", where=where, hint=hint)
    if isinstance(cause, PermissionError):
        return EngineError("permission denied", where=where, hint="run it as root or as a member of group docker")
    if isinstance(cause, TimeoutError) or isinstance(error, requests.Timeout):
        return EngineError("the engine does not answer in time", where=where, hint=hint)
    return EngineError(f"no engine answers there: {reason}", where=where, hint=f"start it, or {hint}")


def read_logs(host: str | None, *, container: str | None = None) -> Mapping[str, tuple[str, ...]]:
    """Lines by container, oldest first; InputError where nothing has that name."""
    with connect(find_engine(host, os.environ, Path.home())) as engine:
        everything = engine.containers()
        chosen = [one for one in everything if container in (None, one.name)]
        if container and not chosen:
            raise InputError("no container has that name", where=container, hint="list them with docker ps")
        return {one.name: engine.log(one) for one in chosen if container or runs_kafka(one)}
