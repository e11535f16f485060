"""Namespaces under the names people know them by."""

from collections.abc import Iterable, Iterator, Mapping

from netdiag.engine.container import Container
from netdiag.topology.graph import Place, PlaceKind, Unmatched
from netdiag.topology.inventory import NamespaceFacts
from netdiag.topology.known import Known, owner_of
from netdiag.topology.naming import Naming

HOST = "host"
MACHINE = "this machine"


def places(known: Known) -> tuple[Place, ...]:
    """A place for every namespace: the host, containers by name, then those of `ip netns`, processes, and the rest."""
    inside = _by_namespace(known)
    made = [_place(known, facts, inside.get(inode, ())) for inode, facts in known.inventory.namespaces.items()]
    order = list(PlaceKind)
    made.sort(key=lambda place: (order.index(place.kind), place.name, place.netns))
    return _unique(made)


def unseen(known: Known, naming: Naming) -> Iterator[Unmatched]:
    """The containers that run in a namespace which is not in the inventory."""
    if known.host is None:
        return
    for container in known.containers.values():
        if container.state.has_process and container.id not in known.netns_of:
            process = f"its process {container.state.pid}"
            # Whoever sees all would see that one, if it were there.
            gone = known.inventory.complete
            because = f"{process} has ended meanwhile" if gone else f"the network namespace of {process} cannot be seen"
            yield Unmatched(subject=naming.container(container), because=because)


def _by_namespace(known: Known) -> Mapping[int, tuple[Container, ...]]:
    """The containers in each namespace, the one that it was made for first."""
    found: dict[int, list[Container]] = {}
    for identifier, inode in known.netns_of.items():
        found.setdefault(inode, []).append(known.containers[identifier])

    def order(container: Container) -> tuple[bool, str]:
        return (owner_of(container, known.containers) is not None, container.name)

    return {inode: tuple(sorted(containers, key=order)) for inode, containers in found.items()}


def _place(known: Known, facts: NamespaceFacts, containers: tuple[Container, ...]) -> Place:
    kind, name, label = _called(known, facts, containers)
    return Place(
        netns=facts.netns.inode,
        kind=kind,
        name=name,
        label=label,
        containers=tuple(c.id for c in containers),
        services=tuple(dict.fromkeys(c.service for c in containers if c.service)),
    )


def _called(known: Known, facts: NamespaceFacts, containers: tuple[Container, ...]) -> tuple[PlaceKind, str, str]:
    inode = facts.netns.inode
    if inode == _host(known):
        return PlaceKind.HOST, HOST, "docker host" if known.host is not None else known.inventory.hostname or HOST
    if containers:
        first = containers[0]
        return PlaceKind.CONTAINER, first.name or first.short_id, first.service or first.name or first.short_id
    if inode == _machine(known):
        return PlaceKind.MACHINE, MACHINE, known.inventory.hostname or MACHINE
    if facts.netns.names:
        name = min(facts.netns.names)
        return PlaceKind.NAMED, name, name
    pid = min(facts.netns.pids, default=None)
    if pid is not None:
        process = known.inventory.processes.get(pid)
        comm = process.comm if process is not None else ""
        return PlaceKind.PROCESS, f"pid {pid} ({comm})" if comm else f"pid {pid}", comm or f"pid {pid}"
    return PlaceKind.UNOWNED, f"net:[{inode}]", "unowned"


def _host(known: Known) -> int:
    """The docker host; on a machine without an engine what people call the host: where its first process lives."""
    return _machine(known) if known.host is None else known.host


def _machine(known: Known) -> int:
    root = known.inventory.root
    return known.inventory.own if root is None else root


def _unique(made: Iterable[Place]) -> tuple[Place, ...]:
    """No name twice: of two that have it the later kind says what it is, which is the same in the next topology."""
    taken: set[str] = set()
    found = []
    for place in made:
        candidates = (place.name, f"{place.kind.value}:{place.name}", f"{place.name} net:[{place.netns}]")
        name = next((candidate for candidate in candidates if candidate not in taken), f"net:[{place.netns}]")
        taken.add(name)
        found.append(
            Place(
                netns=place.netns,
                kind=place.kind,
                name=name,
                label=place.label,
                containers=place.containers,
                services=place.services,
            )
        )
    return tuple(found)
