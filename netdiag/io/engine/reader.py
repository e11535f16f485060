"""What most commands ask an engine, in the quickest way that leads to it.

Through a unix socket the standard library asks. Every other way needs Docker's library, which takes longer to load
than the engine of most machines to answer everything.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from netdiag.engine.about import EngineHost
from netdiag.engine.container import Container, EngineNetwork, Mount
from netdiag.engine.events import ContainerEvent
from netdiag.errors import MissingExtra
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.unix_socket import SocketEngine

if TYPE_CHECKING:
    from netdiag.engine.swarm import SwarmView


class EngineReader(Protocol):
    """An engine that is only read; every failure is an EngineError of one line."""

    def release(self) -> str:
        """The engine's release."""

    def host(self) -> EngineHost:
        """What the engine says about its machine; nothing where it does not answer."""

    def containers(self) -> tuple[Container, ...]:
        """Every container, running or not, by name; not one that goes away meanwhile, nor a helper of netdiag's."""

    def networks(self) -> tuple[EngineNetwork, ...]:
        """Every network, by name."""

    def events(self, since: datetime, until: datetime) -> tuple[ContainerEvent, ...]:
        """The starts and ends of containers between two times of the engine's clock, as far as it remembers."""

    def swarm(self, host: EngineHost) -> "SwarmView | None":
        """What a manager tells of its swarm; None where the engine is none, or does not answer."""

    def mounts(self, container: Container) -> tuple[Mount, ...]:
        """What is mounted into a container; NotThere for one that is gone."""


@contextmanager
def engine_reader(address: EngineAddress, *, timeout: float = 10.0) -> Iterator[EngineReader]:
    """The engine, for the block; `timeout` is seconds for each answer. MissingExtra where a library is needed."""
    if address.unix_socket is not None:
        yield SocketEngine(address, timeout=timeout)
        return
    try:
        from netdiag.io.engine.docker_sdk import connect
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "an engine that is reached by no unix socket needs docker", where=address.url, extra="live"
        ) from error
    with connect(address, timeout=timeout) as engine:
        yield engine
