"""What names mean inside a container, as its hosts file and the engine's embedded DNS would answer.

The embedded DNS (127.0.0.11) knows who is on the user-defined networks of the container that asks, and forwards every
other name: what becomes of those cannot be known from here. The default bridge has no embedded DNS.
Source: moby, libnetwork/resolver.go and libnetwork/sandbox.go.
"""

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from netdiag.engine.container import Container, EndpointSettings
from netdiag.linux.hosts import parse_hosts
from netdiag.topology.graph import NetworkView, Topology

_LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The addresses of a name in the order in which clients try them, and who said so in a few words."""

    addresses: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownName:
    """A name that nobody who is known here answers for, and who would be asked."""

    because: str


def resolve(topology: Topology, netns: int, name: str, hosts_file: str) -> Answers | UnknownName:
    """What a name means in a namespace whose programs read this hosts file.

    An address stands for itself. Networks are asked in the engine's order: internal ones last, then by name.
    """
    asked = name.strip().removesuffix(".").lower()
    literal = _literal(asked)
    if literal is not None:
        return Answers(addresses=(literal,), by="an address")
    if not asked:
        return UnknownName(because="the name is empty")
    written = parse_hosts(hosts_file).lookup(asked)
    if written:
        return Answers(addresses=written, by="the hosts file")
    if asked == "localhost" or asked.endswith(".localhost"):
        return Answers(addresses=_LOOPBACK, by="the loopback name (RFC 6761)")
    return _ask_networks(topology, netns, name, asked)


def networks_of(topology: Topology, netns: int) -> tuple[NetworkView, ...]:
    """The networks whose names the embedded DNS of a namespace knows, in the order in which it looks."""
    found = {
        view.network.id: view
        for container in _owners(topology, netns)
        for view in topology.networks
        if any(_is_of(endpoint, view) for endpoint in container.networks)
        if not view.network.default_bridge and view.network.driver not in ("host", "null")
    }
    return tuple(sorted(found.values(), key=lambda view: (view.network.internal, view.network.name)))


def names_on(topology: Topology, view: NetworkView) -> Mapping[str, tuple[str, ...]]:
    """Every name that the embedded DNS answers to on a network, in lower case, with its addresses.

    Only containers that run have any; the default bridge has no names.
    """
    found: dict[str, dict[str, None]] = {}
    if view.network.default_bridge:
        return {}
    for container, endpoint in _endpoints(topology, view):
        for name in _names(container, endpoint, view.network.name):
            found.setdefault(name.lower(), {}).update(dict.fromkeys(endpoint.addresses))
    return {name: tuple(addresses) for name, addresses in found.items()}


def _ask_networks(topology: Topology, netns: int, name: str, asked: str) -> Answers | UnknownName:
    owners = _owners(topology, netns)
    if not owners:
        return UnknownName(because=f'"{name}" is not in the hosts file; its name servers would be asked')
    views = networks_of(topology, netns)
    for view in views:
        addresses = names_on(topology, view).get(asked, ())
        if addresses:
            ordered = tuple(sorted(addresses, key=lambda address: ":" in address))
            return Answers(addresses=ordered, by=f"the embedded DNS, on network {view.network.name}")
    if not views:
        because = "it is on no user-defined network and has no embedded DNS: its name servers would be asked"
        return UnknownName(because=f'"{name}" is not in the hosts file, and {because}')
    where = ", ".join(view.network.name for view in views)
    return UnknownName(because=f'nobody on {where} is called "{name}": forwarded upstream, the answer is unknown')


def _owners(topology: Topology, netns: int) -> tuple[Container, ...]:
    """The containers of a namespace that have networks of their own; containers in host mode use the host's names."""
    place = topology.place(netns)
    if place is None or place.name == topology.host:
        return ()
    return tuple(topology.containers[identifier] for identifier in place.containers)


def _endpoints(topology: Topology, view: NetworkView) -> Iterator[tuple[Container, EndpointSettings]]:
    for member in view.members:
        container = topology.containers[member.container]
        for endpoint in container.networks:
            if _is_of(endpoint, view) and endpoint.addresses:
                yield container, endpoint


def _is_of(endpoint: EndpointSettings, view: NetworkView) -> bool:
    if endpoint.network_id:
        return endpoint.network_id == view.network.id
    return endpoint.network == view.network.name


def _names(container: Container, endpoint: EndpointSettings, network: str) -> Iterator[str]:
    """Each of them also with the name of the network behind it."""
    for name in dict.fromkeys((container.name, *endpoint.aliases, container.short_id)):
        if name:
            yield name
            yield f"{name}.{network}"


def _literal(name: str) -> str | None:
    try:
        return str(ipaddress.ip_address(name.strip("[]").partition("%")[0]))
    except ValueError:
        return None
