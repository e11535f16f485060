"""Kafka listeners from the configuration to the socket, and the published ports that lead there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdiag.engine.container import Container, Status
from netdiag.linux.socket import Listener, Protocol
from netdiag.topology.graph import KafkaListener, Published, Unmatched
from netdiag.topology.known import Known, owner_of
from netdiag.topology.naming import Naming

if TYPE_CHECKING:
    from netdiag.deployment.member import Broker, Deployment
    from netdiag.kafka.listeners import ListenerEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaListeners:
    """Every listener of every broker, and what of them has no counterpart."""

    listeners: tuple[KafkaListener, ...]
    unmatched: tuple[Unmatched, ...]


def kafka_listeners(
    known: Known, naming: Naming, deployment: "Deployment | None", published: tuple[Published, ...]
) -> KafkaListeners:
    """The listeners of all brokers whose configuration can be known, in the order of the deployment."""
    if deployment is None:
        return KafkaListeners(listeners=(), unmatched=())
    by_name = {container.name: container for container in known.containers.values()}
    found = []
    unmatched = []
    for broker in deployment.serving:
        container = by_name.get(broker.member.container or "")
        for entry in broker.config.listeners:
            if broker.config.listener_by_name[entry.endpoint.listener] is not entry:
                # A second one of that name, with which the broker does not start.
                continue
            made = _listener(known, by_name, broker, container, entry, published)
            found.append(made)
            if made.bound == () and container is not None and container.state.status is Status.RUNNING:
                because = f"no socket of {naming.container(container)} listens on port {made.bind[1]}"
                unmatched.append(Unmatched(subject=f"listener {made.key}", because=because))
    return KafkaListeners(listeners=tuple(found), unmatched=tuple(unmatched))


def _listener(
    known: Known,
    by_name: Mapping[str, Container],
    broker: "Broker",
    container: Container | None,
    entry: "ListenerEntry",
    published: tuple[Published, ...],
) -> KafkaListener:
    config, name = broker.config, entry.endpoint.listener
    told = config.advertised_by_name.get(name)
    sockets = _sockets(known, container, entry.endpoint.port)
    return KafkaListener(
        key=f"{broker.name}/{name}",
        broker=broker.name,
        container="" if container is None else container.id,
        node_id=config.node_id,
        listener=name,
        security_protocol=config.protocol_map.get(name, ""),
        bind=(entry.endpoint.host, entry.endpoint.port),
        advertised=None if told is None else (told.endpoint.host, told.endpoint.port),
        controller=name in config.controller_names,
        bound=None if sockets is None else tuple(dict.fromkeys(s.address for s in sockets)),
        pids=tuple(dict.fromkeys(pid for s in sockets or () for pid in s.pids)),
        published=tuple(_leading_to(known, container, entry.endpoint.port, published)),
    )


def _sockets(known: Known, container: Container | None, port: int) -> tuple[Listener, ...] | None:
    facts = None if container is None else known.entered(known.netns_of.get(container.id))
    if facts is None:
        return None
    return tuple(one for one in facts.listeners if one.port == port and one.protocol is Protocol.TCP)


def _leading_to(
    known: Known, container: Container | None, port: int, published: tuple[Published, ...]
) -> Iterator[str]:
    """The published ports of the container whose network the broker uses: its own, or another's that it shares."""
    if container is None:
        return
    owner = owner_of(container, known.containers) or container.id
    for one in published:
        if one.container in (container.id, owner) and one.target == port and one.protocol == "tcp":
            yield one.key
