"""Why a connection is refused, or accepted and not answered: sockets, published ports, docker-proxy, pauses."""

from netdiag.deployment.model.causes import published_by_stopped
from netdiag.deployment.model.verdict import Mechanism
from netdiag.engine.container import Container, Status
from netdiag.linux.sockets import Listener
from netdiag.topology.causes import remedies
from netdiag.topology.causes.failed_connection import FailedConnection, Remedy, Suspect
from netdiag.topology.graph import PathEnd, PlaceKind, Published
from netdiag.topology.inventory import IndexedNamespace, family_of
from netdiag.topology.published_ports import ANY_ADDRESS, parse_proxy

_STOPPED_STATES = frozenset({"T", "t"})


def suspect_of_refusal(connection: FailedConnection) -> Suspect | None:
    """The suspect for a refusal: at the docker host's port, or at a container's."""
    path = connection.path
    namespace = connection.index.namespace(path.target) if path.target is not None else None
    if namespace is None:
        return None
    inside = connection.entered_by
    if inside is not None and namespace.inode != connection.host:
        return _at_socket(connection, namespace, inside.target, path.address, behind=True)
    if connection.host is not None and namespace.inode == connection.host:
        return _on_host(connection, namespace)
    loopback = path.address.startswith("127.") or path.address == "::1"
    known = connection.topology.place(namespace.inode)
    if loopback and (known is None or known.kind not in (PlaceKind.HOST, PlaceKind.MACHINE)):
        return _own_loopback(connection, namespace)
    return _at_socket(connection, namespace, path.port, path.address)


def suspect_behind_proxy(connection: FailedConnection) -> Suspect | None:
    """The suspect for a docker-proxy that accepts and closes."""
    process = connection.proxy
    parsed = parse_proxy(process) if process is not None else None
    if process is None or parsed is None:
        return None
    said = f"docker-proxy (pid {process.pid}) accepts on port {parsed.host_port}"
    owner = connection.owner(parsed.container_ip)
    if owner is not None and owner[0].inode != connection.host:
        found = _at_socket(connection, owner[0], parsed.container_port, parsed.container_ip, behind=True)
        if found is not None:
            evidence = (
                f"{said}, connects to {parsed.container_ip}:{parsed.container_port} and closes the connection",
                *found.evidence,
            )
            return Suspect(mechanism=found.mechanism, because=found.because, evidence=evidence, remedies=found.remedies)
    because = f"{said}, but cannot connect to {parsed.container_ip}:{parsed.container_port}"
    remedy = Remedy(text="restart the container, so that the engine publishes its port again")
    container = connection.topology.containers.get(connection.published[0].container) if connection.published else None
    address = next((a for e in container.networks for a in e.addresses), "") if container is not None else ""
    if container is not None and address and connection.host is not None:
        change = remedies.with_docker_proxy(connection.host, connection.path.port, address, parsed.container_port)
        remedy = Remedy(text=f"restart {container.name}, so that the engine publishes its port again", change=change)
    return Suspect(
        mechanism=Mechanism.DIED_BEHIND_PROXY,
        because=because,
        evidence=(connection.path.because,),
        remedies=(remedy,),
    )


def suspect_of_silence(connection: FailedConnection) -> Suspect | None:
    """The suspect for a connection that is accepted and not answered."""
    frozen = [p for p in connection.proxies() if p.state in _STOPPED_STATES]
    if frozen and connection.path.end in (PathEnd.CONNECTED, PathEnd.CLOSED) and connection.proxy is not None:
        return _proxy_stopped(connection, f"docker-proxy (pid {frozen[0].pid}) is stopped by a signal", frozen[0].pid)
    container = connection.container(connection.path.target)
    if container is None and connection.entered_by is not None:
        container = connection.topology.containers.get(connection.entered_by.container)
    if container is not None and container.state.status is Status.PAUSED:
        return Suspect(
            mechanism=Mechanism.PAUSED,
            because=f"container {container.name} is paused: the kernel accepts connections, but the process is frozen",
            evidence=(f"the engine reports {container.name} as paused",),
            remedies=(Remedy(text=f"docker unpause {container.name}", change=remedies.with_unpaused(container)),),
        )
    stopped = [
        process
        for pid in connection.path.pids
        if (process := connection.topology.inventory.processes.get(pid)) is not None
        and process.state in _STOPPED_STATES
    ]
    if stopped:
        one = stopped[0]
        because = f"{one.comm} (pid {one.pid}) holds the socket and is stopped by a signal"
        text = f"resume it: kill -CONT {one.pid}"
        return Suspect(
            mechanism=Mechanism.HUNG,
            because=because,
            evidence=(f"state {one.state} in /proc/{one.pid}/stat",),
            remedies=(Remedy(text=text, change=remedies.with_resumed(one.pid)),),
        )
    return None


def suspect_hung(connection: FailedConnection) -> Suspect:
    """The suspect that is left where a program accepts and does not answer."""
    who = connection.place_name(connection.path.target)
    return Suspect(
        mechanism=Mechanism.HUNG,
        because=f"{who} is running and accepts connections, but never answers",
        remedies=(Remedy(text=f"check the log and the threads of {who}, then restart it"),),
    )


def suspect_of_backlog(connection: FailedConnection) -> Suspect | None:
    """The suspect for a full backlog of connections."""
    namespace = connection.index.namespace(connection.path.target) if connection.path.target is not None else None
    port = connection.entered_by.target if connection.entered_by is not None else connection.path.port
    for one in connection.listeners(namespace, port) if namespace is not None else ():
        if one.backlog and one.queue > one.backlog:
            who = connection.place_name(connection.path.target)
            because = f"{who} has {one.queue} connections waiting on port {port}, but accepts only {one.backlog}"
            text = f"restart the process that listens on port {port} of {who}, or increase its backlog"
            change = remedies.with_empty_queue(connection.path.target or 0, one)
            return Suspect(
                mechanism=Mechanism.BACKLOG_FULL,
                because=because,
                evidence=(f"queue {one.queue} of {one.backlog} (see ss)",),
                remedies=(Remedy(text=text, change=change),),
            )
    return None


def _own_loopback(connection: FailedConnection, namespace: IndexedNamespace) -> Suspect:
    port, who = connection.path.port, connection.place_name(namespace.inode)
    others = connection.listeners(namespace, port)
    if others and all(":" not in one.address for one in others) and family_of(connection.path.address) == 6:
        return _without_ipv6(connection, namespace, port)
    because = f"{connection.path.destination} is {who} itself, where nothing listens on port {port}"
    return Suspect(
        mechanism=Mechanism.OWN_LOOPBACK,
        because=because,
        evidence=(f"no socket of {who} listens on port {port}",),
        remedies=tuple(remedies.dial_listening_container(connection, port)),
    )


def _at_socket(
    connection: FailedConnection, namespace: IndexedNamespace, port: int, address: str, *, behind: bool = False
) -> Suspect | None:
    """A port of a namespace on which nobody listens, or only at other addresses."""
    who = connection.place_name(namespace.inode)
    others = connection.listeners(namespace, port)
    there = ", ".join(dict.fromkeys(f"{_bracketed(one.address)}:{port}" for one in others))
    if not others:
        mechanism = Mechanism.PUBLISHED_TO_DEAD_PORT if behind else Mechanism.NOBODY_LISTENS
        because = f"nothing listens on port {port} of {who}"
        if behind:
            because = f"published port {connection.path.port} leads to port {port} of {who}, where nothing listens"
        own = sorted({one.port for one in namespace.facts.listeners if not _loopback(one)} - {0})
        evidence = (f"{who} listens on {', '.join(map(str, own[:8])) or 'no port'}",)
        found = tuple(remedies.listen(connection, namespace, port, own, behind=behind))
        return Suspect(mechanism=mechanism, because=because, evidence=evidence, remedies=found)
    bind = Remedy(text=f"bind 0.0.0.0:{port} in {who}", change=remedies.with_listener(namespace.inode, port))
    evidence = (f"{who} listens only on {there}",)
    if family_of(address) == 6 and all(":" not in one.address for one in others):
        return _without_ipv6(connection, namespace, port)
    if all(_loopback(one) for one in others):
        because = f"{who} listens only on {there}, which no one else reaches"
        return Suspect(mechanism=Mechanism.BOUND_TO_LOOPBACK, because=because, evidence=evidence, remedies=(bind,))
    if all(one.address not in ANY_ADDRESS for one in others):
        because = f"{who} listens on {there}, but the client connects to {address}"
        first = next(one.address for one in others if not _loopback(one))
        dial = Remedy(text=f"connect to {_bracketed(first)}:{port}", destination=first, port=port)
        return Suspect(
            mechanism=Mechanism.BOUND_TO_OTHER_ADDRESS, because=because, evidence=evidence, remedies=(bind, dial)
        )
    return None


def _without_ipv6(connection: FailedConnection, namespace: IndexedNamespace, port: int) -> Suspect:
    who = connection.place_name(namespace.inode)
    four = (
        "127.0.0.1"
        if connection.path.address == "::1"
        else next(iter(a for a in namespace.own if ":" not in a and not a.startswith("127.")), "")
    )
    found = [Remedy(text=f"connect to {four}:{port} over IPv4", destination=four, port=port)] if four else []
    bind = Remedy(text=f"bind [::]:{port} in {who}", change=remedies.with_listener(namespace.inode, port, six=True))
    return Suspect(
        mechanism=Mechanism.NO_IPV6_BINDING,
        because=f"{connection.path.address} is IPv6, but port {port} of {who} is served only on IPv4",
        evidence=(f"no IPv6 socket listens on port {port} of {who}",),
        remedies=(*found, bind),
    )


def _on_host(connection: FailedConnection, namespace: IndexedNamespace) -> Suspect | None:
    """The docker host refuses a port that should be published there."""
    port, address = connection.path.port, connection.path.address
    in_force = [p for p in connection.published if p.in_force]
    asked = [p for p in connection.published if not p.in_force]
    fitting = [p for p in in_force if p.host_ip in (*ANY_ADDRESS, address)]
    if in_force and family_of(address) == 6 and all(family_of(p.host_ip) == 4 for p in fitting or in_force):
        four = "127.0.0.1" if address == "::1" else remedies.host_address(connection)
        return Suspect(
            mechanism=Mechanism.NO_IPV6_BINDING,
            because=f"{address} is IPv6, but port {port} is published only on IPv4",
            evidence=(f"published: {', '.join(p.key for p in in_force)}",),
            remedies=(Remedy(text=f"connect to {four}:{port} over IPv4", destination=four, port=port),),
        )
    if fitting:
        said = f"{_owner(connection, fitting[0])} publishes port {port}, but no docker-proxy listens on it"
        return _proxy_stopped(connection, said, None)
    if in_force:
        return _on_other_address(connection, in_force)
    if asked:
        return _not_in_force(connection, asked[0])
    others = connection.listeners(namespace, port)
    if others:
        return _at_socket(connection, namespace, port, address)
    return _not_published(connection, namespace, port)


def _on_other_address(connection: FailedConnection, in_force: list[Published]) -> Suspect:
    port = connection.path.port
    where = ", ".join(dict.fromkeys(_bracketed(p.host_ip) for p in in_force))
    who = _owner(connection, in_force[0])
    wide = Remedy(
        text=f"publish {port}:{in_force[0].target} of {who} on all addresses",
        change=remedies.with_published_port(connection, in_force[0]),
    )
    return Suspect(
        mechanism=Mechanism.PUBLISHED_ON_OTHER_ADDRESS,
        because=f"port {port} is published only on {where}, but the client connects to {connection.path.address}",
        evidence=(f"published by {who}: {', '.join(p.key for p in in_force)}",),
        remedies=(wide,),
    )


def _not_in_force(connection: FailedConnection, asked: Published) -> Suspect:
    """A container asks for the port, and the port is not in force."""
    container = connection.topology.containers[asked.container]
    name, port = container.name, asked.published
    wanted = f"{name} publishes port {port}"
    views = connection.container_networks(container)
    publish = remedies.with_published_port(connection, asked)
    if container.network_mode == "host":
        own = sorted({one.port for one in _listeners_of(connection, container)})
        because = f"{name} is in host network mode, which discards its ports: it listens on {own or 'no port'}"
        found = [
            Remedy(
                text=f"connect to port {one}, on which {name} listens", destination=connection.path.address, port=one
            )
            for one in own[:3]
        ]
        return _suspect(Mechanism.PUBLISHED_IN_HOST_MODE, because, wanted, found)
    if not container.state.has_process:
        because = published_by_stopped(name, port, container.state.exit_code)
        return _suspect(
            Mechanism.NOT_RUNNING,
            because,
            wanted,
            [remedies.start(connection, container, asked.target, published=port)],
        )
    if not container.networks:
        because = f"{wanted}, but is no longer on a network"
        return _suspect(
            Mechanism.PUBLISHED_BY_DISCONNECTED, because, wanted, [remedies.reconnect(connection, container, asked)]
        )
    if any(view.network.gateway_mode == "routed" for view in views):
        because = (
            f"{wanted}, but network {views[0].network.name} routes ports to the container instead of publishing them"
        )
        found = [
            Remedy(text=f"connect to {a}:{asked.target}", destination=a, port=asked.target)
            for endpoint in container.networks
            for a in endpoint.addresses
        ]
        return _suspect(Mechanism.NOT_PUBLISHED_ROUTED, because, wanted, found)
    if views and all(view.network.internal for view in views):
        because = f"{wanted}, but is only on internal networks, which publish no ports"
        text = f"attach {name} to a network that is not internal"
        return _suspect(Mechanism.PUBLISHED_BY_INTERNAL, because, wanted, [Remedy(text=text, change=publish)])
    because = f"{wanted}, but the engine has not published it"
    return _suspect(Mechanism.PORT_TAKEN, because, wanted, [Remedy(text=f"recreate {name}", change=publish)])


def _not_published(connection: FailedConnection, namespace: IndexedNamespace, port: int) -> Suspect:
    inside = list(remedies.containers_listening(connection, port))
    if inside:
        because = f"no container publishes port {port} of the docker host"
        evidence = (f"{', '.join(c.name for c in inside)} listens on port {port} inside",)
        found = tuple(remedies.publish_port(connection, one, port) for one in inside[:2])
        return Suspect(mechanism=Mechanism.NOT_PUBLISHED, because=because, evidence=evidence, remedies=found)
    who = connection.place_name(namespace.inode)
    mechanism = Mechanism.NOT_PUBLISHED if connection.topology.containers else Mechanism.NOBODY_LISTENS
    because = f"nothing listens on port {port} of {who}, and no container publishes it"
    return Suspect(
        mechanism=mechanism,
        because=because,
        evidence=(f"no socket on port {port}",),
        remedies=(Remedy(text=f"listen on port {port}", change=remedies.with_listener(namespace.inode, port)),),
    )


def _proxy_stopped(connection: FailedConnection, because: str, pid: int | None) -> Suspect:
    found: list[Remedy] = []
    if pid is not None:
        found.append(Remedy(text=f"resume it: kill -CONT {pid}", change=remedies.with_resumed(pid)))
    elif connection.published:
        one = connection.published[0]
        name = _owner(connection, one)
        change = remedies.with_published_port(connection, one)
        found.append(Remedy(text=f"restart container {name}, so that the engine starts its proxy", change=change))
    return Suspect(mechanism=Mechanism.PROXY_STOPPED, because=because, evidence=(because,), remedies=tuple(found))


def _suspect(mechanism: Mechanism, because: str, evidence: str, found: list[Remedy]) -> Suspect:
    return Suspect(mechanism=mechanism, because=because, evidence=(evidence,), remedies=tuple(found))


def _listeners_of(connection: FailedConnection, container: Container) -> list[Listener]:
    host = connection.host_namespace
    pids = {
        pid
        for pid, one in connection.topology.inventory.processes.items()
        if one.container_id == container.id or pid == container.state.pid
    }
    return [one for one in host.facts.listeners if pids & set(one.pids)] if host is not None else []


def _owner(connection: FailedConnection, port: Published) -> str:
    container = connection.topology.containers.get(port.container)
    return container.name if container is not None else port.container[:12]


def _loopback(listener: Listener) -> bool:
    return listener.address.startswith("127.") or listener.address == "::1"


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
