"""What would help against a failing connection, in the imperative, each with the change that tries it out."""

from collections.abc import Iterator

from netdiag.engine.container import Container
from netdiag.linux.socket import Protocol
from netdiag.topology import changes
from netdiag.topology.changes import Change
from netdiag.topology.failing import EVERYWHERE, Failing, Remedy
from netdiag.topology.graph import PlaceKind, Published
from netdiag.topology.terrain import Place


def attach(failing: Failing, *, without: str = "") -> Iterator[Remedy]:
    """Put the client on a network of the target, and dial the target's address there."""
    owner = failing.owner(failing.path.address)
    if owner is None:
        return
    target = owner[0].inode
    own = {view.network.id for view in failing.views(failing.path.source)}
    who, whom = failing.called(failing.path.source), failing.called(target)
    if failing.container(failing.path.source) is None:
        return
    container = failing.container(target)
    for view in failing.views(target):
        if view.network.name == without or not view.network.icc or view.bridge is None:
            continue
        endpoint = next((e for e in container.networks if e.network == view.network.name), None) if container else None
        if endpoint is None or not endpoint.addresses:
            continue
        dial = endpoint.addresses[0]
        if view.network.id in own:
            text = f"dial {whom} by its address or name on network {view.network.name}, on which {who} is, too"
            yield Remedy(text=text, destination=dial, port=failing.path.port)
        else:
            text = f"attach {who} to network {view.network.name}, on which {whom} is"
            change = changes.attached(failing.path.source, view)
            yield Remedy(text=text, change=change, destination=dial, port=failing.path.port)


def beside_published(failing: Failing) -> Iterator[Remedy]:
    """Instead of a published port: the container's own port, on a network of its own."""
    port = failing.entered or next(iter(failing.published), None)
    container = failing.topology.containers.get(port.container) if port is not None else None
    if port is None or container is None:
        return
    who = failing.called(failing.path.source)
    own = {view.network.id for view in failing.views(failing.path.source)}
    same = failing.container(failing.path.source) is container
    for view in failing.views_of(container):
        endpoint = next((e for e in container.networks if e.network == view.network.name), None)
        if endpoint is None or not endpoint.addresses or view.bridge is None:
            continue
        dial = "127.0.0.1" if same else endpoint.addresses[0]
        name = "localhost" if same else container.name
        if same or (view.network.id in own and view.network.icc):
            yield Remedy(text=f"dial {name}:{port.target} instead", destination=dial, port=port.target)
        elif view.network.icc:
            text = f"attach {who} to network {view.network.name} and dial {container.name}:{port.target}"
            change = changes.attached(failing.path.source, view)
            yield Remedy(text=text, change=change, destination=dial, port=port.target)
    yield Remedy(text="turn the userland proxy on, or dial by a network that both are on")


def out_of_internal(failing: Failing) -> Iterator[Remedy]:
    """A network that leads out, or the one on which the target is."""
    yield from attach(failing)
    yield from beside_published(failing) if failing.published else ()
    for view in failing.topology.networks:
        if view.bridge is None or view.network.internal or not view.network.subnets:
            continue
        text = f"attach {failing.called(failing.path.source)} to a network that is not internal, {view.network.name}"
        yield Remedy(text=text, change=changes.attached(failing.path.source, view, default=True))
        return


def publish(failing: Failing) -> Iterator[Remedy]:
    """For whoever is outside: a port of the docker host."""
    owner = failing.owner(failing.path.address)
    container = failing.container(owner[0].inode) if owner is not None else None
    port = failing.path.port
    if container is None:
        return
    there = next(
        (p for p in failing.topology.published if p.in_force and (p.container, p.target) == (container.id, port)), None
    )
    host = host_address(failing)
    if there is not None and host:
        text = f"dial {host}:{there.published}, where {container.name} publishes the port"
        yield Remedy(text=text, destination=host, port=there.published)
        return
    yield publish_for(failing, container, port)


def publish_for(failing: Failing, container: Container, port: int) -> Remedy:
    """Publish a port of a container under its own number."""
    made = Published(
        key="",
        host_ip="0.0.0.0",
        published=port,
        protocol="tcp",
        container=container.id,
        target=port,
        asked=True,
        in_force=True,
    )
    to_host = failing.of_host(failing.path.address) or failing.path.address.startswith("127.")
    dial = failing.path.address if to_host else host_address(failing)
    text = f"publish {port}:{port} of {container.name}"
    text += "" if to_host else f" and dial {dial}:{port}"
    return Remedy(text=text, change=published_everywhere(failing, made), destination=dial, port=port)


def published_everywhere(failing: Failing, port: Published) -> Change | None:
    """A published port in force on all addresses, as a docker-proxy serves it; None without a running container."""
    container = failing.topology.containers.get(port.container)
    netns = failing.place_of(container) if container is not None else None
    place = failing.terrain.place(netns) if netns is not None else None
    host = failing.host
    if container is None or place is None or host is None:
        return None
    address = next((a for e in container.networks for a in e.addresses), "")
    if not address:
        return None
    return changes.proxied(host, port.published, address, port.target)


def listen(failing: Failing, place: Place, port: int, own: list[int], *, behind: bool) -> Iterator[Remedy]:
    """Somebody on a port where nobody listens, or the port where somebody does."""
    who = failing.called(place.inode)
    yield Remedy(text=f"let {who} listen on 0.0.0.0:{port}", change=changes.bound_everywhere(place.inode, port))
    if behind and failing.host is not None and (process := next(failing.proxies(), None)) is not None and own:
        published = failing.path.port
        address = next((a for a in place.own if ":" not in a and not a.startswith("127.")), "")
        if process is not None and address:
            text = f"publish {published}:{own[0]} instead, where {who} listens"
            yield Remedy(text=text, change=changes.proxied(failing.host, published, address, own[0]))
    elif not behind and failing.container(place.inode) is not None:
        for one in own[:2]:
            text = f"dial port {one}, where {who} listens"
            yield Remedy(text=text, destination=failing.path.address, port=one)


def listening_beside(failing: Failing, port: int) -> Iterator[Remedy]:
    """Who listens on a port that a client sought on its own loopback."""
    own = {view.network.id for view in failing.views(failing.path.source)}
    for container in containers_listening(failing, port):
        for view in failing.views_of(container):
            endpoint = next((e for e in container.networks if e.network == view.network.name), None)
            if endpoint is not None and endpoint.addresses and view.network.id in own:
                text = f"dial {container.name}:{port} (advertise {container.name}, not localhost)"
                yield Remedy(text=text, destination=endpoint.addresses[0], port=port)
                return
    if any(p.in_force for p in failing.published):
        yield from beside_published(failing)
    if failing.source is not None:
        change = changes.bound_everywhere(failing.path.source, port)
        yield Remedy(text=f"let {failing.called(failing.path.source)} itself listen on port {port}", change=change)


def start(failing: Failing, container: Container, port: int, *, published: int = 0) -> Remedy:
    """A container that does not run: as it is configured, it would listen on the port that is published or dialled."""
    text = f"start {container.name}"
    for view in failing.views_of(container):
        if view.bridge is None or not view.network.subnets:
            continue
        address = changes.free_address(failing.topology, view)
        first = changes.started(container, view, address, (port,))
        if not published or failing.host is None:
            return Remedy(text=text, change=first, destination=address, port=port)
        second = changes.proxied(failing.host, published, address, port)
        return Remedy(text=text, change=changes.both(first, second))
    return Remedy(text=text)


def connect_again(failing: Failing, container: Container, asked: Published) -> Remedy:
    """A container back on a network of its port."""
    netns = failing.place_of(container)
    view = next((v for v in failing.topology.networks if v.bridge is not None and not v.network.internal), None)
    if netns is None or view is None or failing.host is None or not view.network.subnets:
        return Remedy(text=f"attach {container.name} to a network again")
    address = changes.free_address(failing.topology, view)
    first = changes.attached(netns, view, default=True, address=address)
    second = changes.proxied(failing.host, asked.published, address, asked.target)
    text = f"attach {container.name} to network {view.network.name} again: docker network connect"
    return Remedy(text=text, change=changes.both(first, second))


def containers_listening(failing: Failing, port: int) -> Iterator[Container]:
    """Containers in which somebody listens on a port for others."""
    for place in failing.topology.places:
        if place.kind is not PlaceKind.CONTAINER or not place.containers:
            continue
        facts = failing.topology.inventory.namespaces.get(place.netns)
        container = failing.topology.containers.get(place.containers[0])
        for one in facts.listeners if facts is not None else ():
            if one.port == port and one.protocol is Protocol.TCP and one.address in EVERYWHERE:
                if container is not None:
                    yield container
                break


def host_address(failing: Failing) -> str:
    """The address by which others dial the docker host."""
    place = failing.terrain.place(failing.host) if failing.host is not None else None
    if place is None:
        return ""
    bridges = {view.bridge.ifindex for view in failing.topology.networks if view.bridge is not None}
    return next(
        (
            a.address
            for a in place.facts.addresses
            if ":" not in a.address and a.scope == 0 and a.ifindex not in bridges and not a.address.startswith("127.")
        ),
        "",
    )
