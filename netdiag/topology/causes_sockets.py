"""Why nobody accepts, or accepts and does not answer: sockets, published ports, docker-proxy, frozen containers."""

from netdiag.deployment.mechanism import Mechanism
from netdiag.engine.container import Container, Status
from netdiag.linux.socket import Listener
from netdiag.topology import changes, remedies
from netdiag.topology.docker_proxies import parse_proxy
from netdiag.topology.failing import EVERYWHERE, Failing, Remedy, Suspect
from netdiag.topology.graph import PlaceKind, Published
from netdiag.topology.hops import End
from netdiag.topology.terrain import Place, family_of

_FROZEN = frozenset({"T", "t"})


def suspect_of_refusal(failing: Failing) -> Suspect | None:
    """Who refuses, and why: the docker host's own port, or a container's."""
    path = failing.path
    place = failing.terrain.place(path.target) if path.target is not None else None
    if place is None:
        return None
    inside = failing.entered
    if inside is not None and place.inode != failing.host:
        return _at_socket(failing, place, inside.target, path.address, behind=True)
    if failing.host is not None and place.inode == failing.host:
        return _on_host(failing, place)
    loopback = path.address.startswith("127.") or path.address == "::1"
    known = failing.topology.place(place.inode)
    if loopback and (known is None or known.kind not in (PlaceKind.HOST, PlaceKind.MACHINE)):
        return _own_loopback(failing, place)
    return _at_socket(failing, place, path.port, path.address)


def suspect_behind_proxy(failing: Failing) -> Suspect | None:
    """Why a docker-proxy accepts and closes."""
    process = failing.proxy
    parsed = parse_proxy(process) if process is not None else None
    if process is None or parsed is None:
        return None
    said = f"docker-proxy (pid {process.pid}) accepts on port {parsed.host_port}"
    owner = failing.owner(parsed.container_ip)
    if owner is not None and owner[0].inode != failing.host:
        found = _at_socket(failing, owner[0], parsed.container_port, parsed.container_ip, behind=True)
        if found is not None:
            evidence = (
                f"{said}, connects to {parsed.container_ip}:{parsed.container_port} and closes",
                *found.evidence,
            )
            return Suspect(mechanism=found.mechanism, because=found.because, evidence=evidence, remedies=found.remedies)
    because = f"{said}, but gets no connection to {parsed.container_ip}:{parsed.container_port}"
    remedy = Remedy(text="start the container again, and the engine makes its port anew")
    container = failing.topology.containers.get(failing.published[0].container) if failing.published else None
    address = next((a for e in container.networks for a in e.addresses), "") if container is not None else ""
    if container is not None and address and failing.host is not None:
        change = changes.proxied(failing.host, failing.path.port, address, parsed.container_port)
        remedy = Remedy(text=f"restart {container.name}, and the engine makes its port anew", change=change)
    return Suspect(
        mechanism=Mechanism.DIED_BEHIND_PROXY,
        because=because,
        evidence=(failing.path.because,),
        remedies=(remedy,),
    )


def suspect_of_silence(failing: Failing) -> Suspect | None:
    """Why a connection is accepted and nothing is said on it."""
    frozen = [p for p in failing.proxies() if p.state in _FROZEN]
    if frozen and failing.path.end in (End.CONNECTED, End.CLOSED) and failing.proxy is not None:
        return _proxy_stopped(failing, f"docker-proxy (pid {frozen[0].pid}) is stopped by a signal", frozen[0].pid)
    container = failing.container(failing.path.target)
    if container is None and failing.entered is not None:
        container = failing.topology.containers.get(failing.entered.container)
    if container is not None and container.state.status is Status.PAUSED:
        return Suspect(
            mechanism=Mechanism.PAUSED,
            because=f"container {container.name} is paused: the kernel accepts, the process is frozen",
            evidence=(f"the engine says that {container.name} is paused",),
            remedies=(Remedy(text=f"docker unpause {container.name}", change=changes.unpaused(container)),),
        )
    stopped = [
        process
        for pid in failing.path.pids
        if (process := failing.topology.inventory.processes.get(pid)) is not None and process.state in _FROZEN
    ]
    if stopped:
        one = stopped[0]
        because = f"{one.comm} (pid {one.pid}) holds the socket and is stopped by a signal"
        text = f"let it go on: kill -CONT {one.pid}"
        return Suspect(
            mechanism=Mechanism.HUNG,
            because=because,
            evidence=(f"state {one.state} in /proc/{one.pid}/stat",),
            remedies=(Remedy(text=text, change=changes.continued(one.pid)),),
        )
    return None


def hung(failing: Failing) -> Suspect:
    """What is left where something accepts and says nothing."""
    who = failing.called(failing.path.target)
    return Suspect(
        mechanism=Mechanism.HUNG,
        because=f"{who} accepts and never answers, though it runs",
        remedies=(Remedy(text=f"look at the log and the threads of {who}, then restart it"),),
    )


def suspect_of_backlog(failing: Failing) -> Suspect | None:
    """A queue of connections that is full."""
    place = failing.terrain.place(failing.path.target) if failing.path.target is not None else None
    port = failing.entered.target if failing.entered is not None else failing.path.port
    for one in failing.listeners(place, port) if place is not None else ():
        if one.backlog and one.queue > one.backlog:
            who = failing.called(failing.path.target)
            because = f"{who} has {one.queue} connections waiting on port {port} and takes {one.backlog}"
            text = f"restart what listens on port {port} of {who}, or give it a longer backlog"
            change = changes.relieved(failing.path.target or 0, one)
            return Suspect(
                mechanism=Mechanism.BACKLOG_FULL,
                because=because,
                evidence=(f"queue {one.queue} of {one.backlog}, as ss shows it",),
                remedies=(Remedy(text=text, change=change),),
            )
    return None


def _own_loopback(failing: Failing, place: Place) -> Suspect:
    port, who = failing.path.port, failing.called(place.inode)
    others = failing.listeners(place, port)
    if others and all(":" not in one.address for one in others) and family_of(failing.path.address) == 6:
        return _without_ipv6(failing, place, port)
    because = f"{failing.path.destination} is {who} itself, where nobody listens on port {port}"
    return Suspect(
        mechanism=Mechanism.OWN_LOOPBACK,
        because=because,
        evidence=(f"no socket of {who} listens on port {port}",),
        remedies=tuple(remedies.listening_beside(failing, port)),
    )


def _at_socket(failing: Failing, place: Place, port: int, address: str, *, behind: bool = False) -> Suspect | None:
    """Who listens on a port of a namespace, and where instead."""
    who = failing.called(place.inode)
    others = failing.listeners(place, port)
    there = ", ".join(dict.fromkeys(f"{_bracketed(one.address)}:{port}" for one in others))
    if not others:
        mechanism = Mechanism.PUBLISHED_TO_DEAD_PORT if behind else Mechanism.NOBODY_LISTENS
        because = f"nobody listens on port {port} of {who}"
        if behind:
            because = f"published port {failing.path.port} leads to port {port} of {who}, where nobody listens"
        own = sorted({one.port for one in place.facts.listeners if not _loopback(one)} - {0})
        evidence = (f"{who} listens on {', '.join(map(str, own[:8])) or 'no port at all'}",)
        found = tuple(remedies.listen(failing, place, port, own, behind=behind))
        return Suspect(mechanism=mechanism, because=because, evidence=evidence, remedies=found)
    bind = Remedy(text=f"bind 0.0.0.0:{port} in {who}", change=changes.bound_everywhere(place.inode, port))
    evidence = (f"{who} listens on {there} only",)
    if family_of(address) == 6 and all(":" not in one.address for one in others):
        return _without_ipv6(failing, place, port)
    if all(_loopback(one) for one in others):
        because = f"{who} listens on {there} only, which nobody else reaches"
        return Suspect(mechanism=Mechanism.BOUND_TO_LOOPBACK, because=because, evidence=evidence, remedies=(bind,))
    if all(one.address not in EVERYWHERE for one in others):
        because = f"{who} listens on {there}, and is dialled as {address}"
        first = next(one.address for one in others if not _loopback(one))
        dial = Remedy(text=f"dial {_bracketed(first)}:{port}", destination=first, port=port)
        return Suspect(
            mechanism=Mechanism.BOUND_TO_OTHER_ADDRESS, because=because, evidence=evidence, remedies=(bind, dial)
        )
    return None


def _without_ipv6(failing: Failing, place: Place, port: int) -> Suspect:
    who = failing.called(place.inode)
    four = (
        "127.0.0.1"
        if failing.path.address == "::1"
        else next(iter(a for a in place.own if ":" not in a and not a.startswith("127.")), "")
    )
    found = [Remedy(text=f"dial {four}:{port} over IPv4", destination=four, port=port)] if four else []
    bind = Remedy(text=f"bind [::]:{port} in {who}", change=changes.bound_everywhere(place.inode, port, six=True))
    return Suspect(
        mechanism=Mechanism.NO_IPV6_BINDING,
        because=f"{failing.path.address} is IPv6, and port {port} of {who} is served on IPv4 only",
        evidence=(f"no IPv6 socket listens on port {port} of {who}",),
        remedies=(*found, bind),
    )


def _on_host(failing: Failing, place: Place) -> Suspect | None:
    """The docker host refuses: who was to serve the port there."""
    port, address = failing.path.port, failing.path.address
    in_force = [p for p in failing.published if p.in_force]
    asked = [p for p in failing.published if not p.in_force]
    fitting = [p for p in in_force if p.host_ip in (*EVERYWHERE, address)]
    if in_force and family_of(address) == 6 and all(family_of(p.host_ip) == 4 for p in fitting or in_force):
        four = "127.0.0.1" if address == "::1" else remedies.host_address(failing)
        return Suspect(
            mechanism=Mechanism.NO_IPV6_BINDING,
            because=f"{address} is IPv6, and port {port} is published on IPv4 only",
            evidence=(f"published: {', '.join(p.key for p in in_force)}",),
            remedies=(Remedy(text=f"dial {four}:{port} over IPv4", destination=four, port=port),),
        )
    if fitting:
        said = f"port {port} is published by {_owner(failing, fitting[0])}, and no docker-proxy listens for it"
        return _proxy_stopped(failing, said, None)
    if in_force:
        return _on_other_address(failing, in_force)
    if asked:
        return _not_in_force(failing, asked[0])
    others = failing.listeners(place, port)
    if others:
        return _at_socket(failing, place, port, address)
    return _not_published(failing, place, port)


def _on_other_address(failing: Failing, in_force: list[Published]) -> Suspect:
    port = failing.path.port
    where = ", ".join(dict.fromkeys(_bracketed(p.host_ip) for p in in_force))
    who = _owner(failing, in_force[0])
    wide = Remedy(
        text=f"publish {port}:{in_force[0].target} of {who} on all addresses",
        change=remedies.published_everywhere(failing, in_force[0]),
    )
    return Suspect(
        mechanism=Mechanism.PUBLISHED_ON_OTHER_ADDRESS,
        because=f"port {port} is published on {where} only, and {failing.path.address} is dialled",
        evidence=(f"published by {who}: {', '.join(p.key for p in in_force)}",),
        remedies=(wide,),
    )


def _not_in_force(failing: Failing, asked: Published) -> Suspect:
    """A container asks for the port and does not have it."""
    container = failing.topology.containers[asked.container]
    name, port = container.name, asked.published
    wanted = f"{name} asks for port {port}"
    views = failing.views_of(container)
    publish = remedies.published_everywhere(failing, asked)
    if container.network_mode == "host":
        own = sorted({one.port for one in _listeners_of(failing, container)})
        because = f"{name} is in network mode host, where its ports are discarded: it listens on {own or 'no port'}"
        found = [
            Remedy(text=f"dial port {one}, on which {name} listens", destination=failing.path.address, port=one)
            for one in own[:3]
        ]
        return _suspect(Mechanism.PUBLISHED_IN_HOST_MODE, because, wanted, found)
    if not container.state.has_process:
        because = f"{wanted}, and does not run (exit code {container.state.exit_code})"
        return _suspect(
            Mechanism.NOT_RUNNING, because, wanted, [remedies.start(failing, container, asked.target, published=port)]
        )
    if not container.networks:
        because = f"{wanted}, and is on no network any more"
        return _suspect(
            Mechanism.PUBLISHED_BY_DISCONNECTED, because, wanted, [remedies.connect_again(failing, container, asked)]
        )
    if any(view.network.gateway_mode == "routed" for view in views):
        because = f"{wanted}, but on network {views[0].network.name} ports are routed to the container, not published"
        found = [
            Remedy(text=f"dial {a}:{asked.target}", destination=a, port=asked.target)
            for endpoint in container.networks
            for a in endpoint.addresses
        ]
        return _suspect(Mechanism.NOT_PUBLISHED_ROUTED, because, wanted, found)
    if views and all(view.network.internal for view in views):
        because = f"{wanted}, and is on internal networks only, from which nothing is published"
        text = f"attach {name} to a network that is not internal"
        return _suspect(Mechanism.PUBLISHED_BY_INTERNAL, because, wanted, [Remedy(text=text, change=publish)])
    because = f"{wanted}, and the engine has not given it"
    return _suspect(Mechanism.PORT_TAKEN, because, wanted, [Remedy(text=f"recreate {name}", change=publish)])


def _not_published(failing: Failing, place: Place, port: int) -> Suspect:
    inside = list(remedies.containers_listening(failing, port))
    if inside:
        because = f"nothing is published on port {port} of the docker host"
        evidence = (f"{', '.join(c.name for c in inside)} listens on port {port} inside",)
        found = tuple(remedies.publish_for(failing, one, port) for one in inside[:2])
        return Suspect(mechanism=Mechanism.NOT_PUBLISHED, because=because, evidence=evidence, remedies=found)
    who = failing.called(place.inode)
    mechanism = Mechanism.NOT_PUBLISHED if failing.topology.containers else Mechanism.NOBODY_LISTENS
    because = f"nobody listens on port {port} of {who}, and nothing is published there"
    return Suspect(
        mechanism=mechanism,
        because=because,
        evidence=(f"no socket on port {port}",),
        remedies=(Remedy(text=f"listen on port {port}", change=changes.bound_everywhere(place.inode, port)),),
    )


def _proxy_stopped(failing: Failing, because: str, pid: int | None) -> Suspect:
    found: list[Remedy] = []
    if pid is not None:
        found.append(Remedy(text=f"let it go on: kill -CONT {pid}", change=changes.continued(pid)))
    elif failing.published:
        one = failing.published[0]
        name = _owner(failing, one)
        change = remedies.published_everywhere(failing, one)
        found.append(Remedy(text=f"restart container {name}, and the engine starts its proxy", change=change))
    return Suspect(mechanism=Mechanism.PROXY_STOPPED, because=because, evidence=(because,), remedies=tuple(found))


def _suspect(mechanism: Mechanism, because: str, evidence: str, found: list[Remedy]) -> Suspect:
    return Suspect(mechanism=mechanism, because=because, evidence=(evidence,), remedies=tuple(found))


def _listeners_of(failing: Failing, container: Container) -> list[Listener]:
    host = failing.terrain.place(failing.host) if failing.host is not None else None
    pids = {
        pid
        for pid, one in failing.topology.inventory.processes.items()
        if one.container_id == container.id or pid == container.state.pid
    }
    return [one for one in host.facts.listeners if pids & set(one.pids)] if host is not None else []


def _owner(failing: Failing, port: Published) -> str:
    container = failing.topology.containers.get(port.container)
    return container.name if container is not None else port.container[:12]


def _loopback(listener: Listener) -> bool:
    return listener.address.startswith("127.") or listener.address == "::1"


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
