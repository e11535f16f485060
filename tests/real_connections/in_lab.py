"""The running stacks of the lab: from every namespace to every address of a listener, predicted and tried."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import ip_address

from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.io.network.name_service import read_hosts_file, read_name_service
from netdiag.io.network.resolver import Resolved, Resolver
from netdiag.io.network.traced_connection import prove
from netdiag.io.topology import read_topology
from netdiag.linux.netns import NamedNamespace, ProcessNamespace
from netdiag.topology.graph import HopKind, Path, Topology
from netdiag.topology.path.attempts import Agreement, Proof
from netdiag.topology.path.name_lookup import topology_resolver
from netdiag.topology.path.prediction import PathPredictor
from tests.lab.engine import HOST_ADDRESS, Engine
from tests.real_connections.attempts import Attempt, Result, attempt_all
from tests.real_connections.comparing import UNRESOLVED, Cell

_PATIENCE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Try:
    source: str
    netns: int
    host: str
    port: int


def lab_cells(engine: Engine) -> list[Cell]:
    """Every cell; what differs at first is predicted anew and tried again, alone."""
    topology = read_topology(host=engine.docker_host)
    with ExitStack() as stack:
        spaces = dict(_spaces(topology, engine, stack))
        tries = [
            _Try(source=name, netns=netns, host=host, port=port)
            for name, (netns, _) in spaces.items()
            for host, port in addresses(topology)
        ]
        cells = _cells(topology, spaces, tries)
        differing = [index for index, cell in enumerate(cells) if cell.agreement is not Agreement.AGREES]
        again = _cells(read_topology(host=engine.docker_host), spaces, [tries[index] for index in differing])
        for index, cell in zip(differing, again, strict=True):
            cells[index] = cell
    return cells


def addresses(topology: Topology) -> list[tuple[str, int]]:
    """What clients are told, the containers' own addresses, published ports by every address of the docker host."""
    host = topology.named(topology.host)
    assert host is not None
    facts = topology.inventory.namespaces[host.netns]
    own = [a.address for a in facts.addresses if ip_address(a.address).version == 4]
    found: dict[tuple[str, int], None] = {}
    for listener in topology.listeners:
        if listener.advertised is not None:
            found[listener.advertised] = None
        container = topology.containers[listener.container]
        for endpoint in container.networks:
            found |= {(address, listener.bind[1]): None for address in endpoint.addresses}
    for published in topology.published:
        found |= {(address, published.published): None for address in own}
        found["::1", published.published] = None
    found[HOST_ADDRESS, 1] = None
    return list(found)


def _spaces(topology: Topology, engine: Engine, stack: ExitStack) -> Iterator[tuple[str, tuple[int, Namespace]]]:
    """The docker host, the machine on its LAN, every container, each open."""
    for place in topology.places:
        facts = topology.inventory.namespaces[place.netns]
        if place.name == topology.host or (place.containers and facts.netns.pids):
            opened = stack.enter_context(open_namespace(ProcessNamespace(pid=facts.netns.pids[0])))
            yield place.name, (place.netns, opened)
        elif engine.record.lan_netns in facts.netns.names:
            opened = stack.enter_context(open_namespace(NamedNamespace(name=engine.record.lan_netns)))
            yield "lan", (place.netns, opened)


def _cells(topology: Topology, spaces: Mapping[str, tuple[int, Namespace]], tries: Sequence[_Try]) -> list[Cell]:
    hosts = {netns: text for netns, _ in spaces.values() if (text := _hosts(topology, netns)) is not None}
    predictor = PathPredictor(topology, topology_resolver(topology, hosts))
    paths = [predictor.predict(one.netns, one.host, one.port) for one in tries]
    named = asyncio.run(_resolve_all(spaces, {(one.source, one.host) for one in tries}))
    results: dict[int, Result] = {}
    attempts: list[Attempt] = []
    under_way: list[int] = []
    for index, (one, path) in enumerate(zip(tries, paths, strict=True)):
        real = named[one.source, one.host]
        if not real:
            results[index] = Result(errno=UNRESOLVED, closed=False, seconds=0.0)
            continue
        chosen = path.address if path.address in real else real[0]
        attempts.append(Attempt(namespace=spaces[one.source][1], address=chosen, port=one.port))
        under_way.append(index)
    results |= dict(zip(under_way, attempt_all(attempts), strict=True))
    return [
        Cell(name=f"{one.source} to {one.host}:{one.port}", path=path, result=results[index])
        for index, (one, path) in enumerate(zip(tries, paths, strict=True))
    ]


def _hosts(topology: Topology, netns: int) -> str | None:
    return read_hosts_file(topology.inventory.namespaces[netns].netns)


async def _resolve_all(
    spaces: Mapping[str, tuple[int, Namespace]], asked: set[tuple[str, str]]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """What the name servers of each place really say."""
    resolvers = {name: Resolver(space, read_name_service(space)) for name, (_, space) in spaces.items()}
    loop = asyncio.get_running_loop()

    async def one(source: str, host: str) -> tuple[str, ...]:
        found = await resolvers[source].resolve(host, loop.time() + _PATIENCE)
        return found.addresses if isinstance(found, Resolved) else ()

    pairs = sorted(asked)
    return dict(zip(pairs, await asyncio.gather(*(one(*pair) for pair in pairs)), strict=True))


def proofs(engine: Engine) -> list[tuple[str, Proof]]:
    """A proof for each way to end, from each kind of place: one by one, as people ask for them."""
    topology = read_topology(host=engine.docker_host)
    predictor = PathPredictor(topology)
    chosen: dict[tuple[str, str, bool], Path] = {}
    for place in topology.places:
        if place.name != topology.host and not place.containers:
            continue
        kind = "host" if place.name == topology.host else "container"
        for host, port in addresses(topology):
            path = predictor.predict(place.netns, host, port)
            proxied = any(hop.kind is HopKind.PROXY for hop in path.hops)
            if path.address:
                chosen.setdefault((kind, path.end.value, proxied), path)
    return [(f"{kind} to {path.address}:{path.port}", prove(topology, path)) for (kind, _, _), path in chosen.items()]
