"""Look up names as the hosts file and the embedded DNS of a container would answer.

The embedded DNS (127.0.0.11) knows the containers on the user-defined networks of the container that asks, and forwards
every other name; the answer to those is not known here. The default bridge has no embedded DNS.
Source: moby, libnetwork/resolver.go and libnetwork/sandbox.go.
"""

import ipaddress
from collections.abc import Callable, Iterator, Mapping

from netdiag.engine.container import Container, EndpointSettings
from netdiag.linux.resolver import parse_hosts
from netdiag.topology.graph import NetworkView, Topology
from netdiag.values import dataclass

_LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameAnswer:
    """The addresses of a name in the order in which clients try them, and where they come from in a few words."""

    addresses: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownName:
    """A name without an answer that is known here, and who would be asked."""

    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The addresses of a name that a client can use, in order; `because` says where they come from, or why none do.

    `unknown` is a name that only a name server outside could resolve.
    """

    addresses: tuple[str, ...]
    because: str
    unknown: bool = False


# The namespace's inode and the name.
Resolver = Callable[[int, str], Resolution]


def topology_resolver(topology: Topology, hosts: Mapping[int, str] | None = None) -> Resolver:
    """A resolver for a topology. `hosts` are hosts files by namespace; for others, `hosts_file` is used.

    No name server is asked: those outside know no name without a dot, and what they say about others is unknown.
    """
    texts = hosts or {}

    def resolve(netns: int, name: str) -> Resolution:
        text = texts[netns] if netns in texts else hosts_file(topology, netns)
        found = look_up_name(topology, netns, name, text)
        if isinstance(found, NameAnswer):
            return _usable(topology, netns, found)
        return Resolution(addresses=(), because=found.because, unknown="." in name.strip("."))

    return resolve


def hosts_file(topology: Topology, netns: int) -> str:
    """The hosts file that the engine writes for the containers of a namespace."""
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback"]
    place = topology.place(netns)
    for identifier in place.containers if place is not None else ():
        container = topology.containers.get(identifier)
        if container is None:
            continue
        lines += [f"{address} {name}" for name, address in container.extra_hosts if address != "host-gateway"]
        own = (address for endpoint in container.networks for address in endpoint.addresses)
        lines += [f"{address} {container.hostname}" for address in own if container.hostname]
    return "\n".join(lines) + "\n"


def look_up_name(topology: Topology, netns: int, name: str, hosts_file: str) -> NameAnswer | UnknownName:
    """The addresses of a name in a namespace whose programs read this hosts file.

    An address stands for itself. Networks are asked in the engine's order: internal ones last, then by name.
    """
    asked = name.strip().removesuffix(".").lower()
    literal = _literal(asked)
    if literal is not None:
        return NameAnswer(addresses=(literal,), by="an address")
    if not asked:
        return UnknownName(because="the name is empty")
    written = parse_hosts(hosts_file).lookup(asked)
    if written:
        return NameAnswer(addresses=written, by="the hosts file")
    if asked == "localhost" or asked.endswith(".localhost"):
        return NameAnswer(addresses=_LOOPBACK, by="the loopback name (RFC 6761)")
    return _ask_networks(topology, netns, name, asked)


def dns_networks(topology: Topology, netns: int) -> tuple[NetworkView, ...]:
    """The networks whose names the embedded DNS of a namespace answers, in the order in which it looks them up."""
    found = {
        view.network.id: view
        for container in _owners(topology, netns)
        for view in topology.networks
        if any(_is_on(endpoint, view) for endpoint in container.networks)
        if not view.network.default_bridge and view.network.driver not in ("host", "null")
    }
    return tuple(sorted(found.values(), key=lambda view: (view.network.internal, view.network.name)))


def network_names(topology: Topology, view: NetworkView) -> Mapping[str, tuple[str, ...]]:
    """Every name that the embedded DNS answers to on a network, in lower case, with its addresses.

    Only containers that run have any; the default bridge has no names.
    """
    found: dict[str, dict[str, None]] = {}
    if view.network.default_bridge:
        return {}
    for container, endpoint in _endpoints(topology, view):
        for name in _names(container, endpoint, _domain(topology, view)):
            found.setdefault(name.lower(), {}).update(dict.fromkeys(endpoint.addresses))
    return {name: tuple(addresses) for name, addresses in found.items()}


def name_owners(topology: Topology, view: NetworkView) -> Mapping[str, tuple[Container, ...]]:
    """The containers behind each name of a network that several answer to; the network's name is not appended."""
    found: dict[str, dict[str, Container]] = {}
    for container, endpoint in () if view.network.default_bridge else _endpoints(topology, view):
        for name in _own_names(container, endpoint):
            found.setdefault(name.lower(), {})[container.id] = container
    return {name: tuple(owners.values()) for name, owners in found.items() if len(owners) > 1}


def _ask_networks(topology: Topology, netns: int, name: str, asked: str) -> NameAnswer | UnknownName:
    owners = _owners(topology, netns)
    if not owners:
        return UnknownName(because=f'"{name}" is not in the hosts file; its DNS servers would be asked')
    views = dns_networks(topology, netns)
    for view in views:
        addresses = network_names(topology, view).get(asked, ())
        if addresses:
            ordered = tuple(sorted(addresses, key=lambda address: ":" in address))
            by = f"the embedded DNS, on network {view.network.name}"
            return NameAnswer(addresses=ordered, by=f"{by}{_shared_with(topology, view, asked)}")
    if not views:
        because = "it is on no user-defined network and has no embedded DNS: its DNS servers would be asked"
        return UnknownName(because=f'"{name}" is not in the hosts file, and {because}')
    where = ", ".join(view.network.name for view in views)
    return UnknownName(
        because=f'no container on {where} has the name "{name}"; the query goes upstream, and the answer is unknown'
    )


def _shared_with(topology: Topology, view: NetworkView, name: str) -> str:
    """That a name leads to several containers, if it does."""
    owners = name_owners(topology, view).get(name.removesuffix(f".{_domain(topology, view).lower()}"), ())
    named = " and ".join(container.name for container in owners)
    return f", which gives the addresses of {named} in a new order each time" if owners else ""


def _owners(topology: Topology, netns: int) -> tuple[Container, ...]:
    """The containers of a namespace that have networks of their own; containers in host mode use the host's names."""
    place = topology.place(netns)
    if place is None or place.name == topology.host:
        return ()
    return tuple(topology.containers[identifier] for identifier in place.containers)


def _endpoints(topology: Topology, view: NetworkView) -> Iterator[tuple[Container, EndpointSettings]]:
    for member in view.members:
        container = topology.containers.get(member.container)
        if container is None:
            continue
        for endpoint in container.networks:
            if _is_on(endpoint, view) and endpoint.addresses:
                yield container, endpoint


def _is_on(endpoint: EndpointSettings, view: NetworkView) -> bool:
    if endpoint.network_id:
        return endpoint.network_id == view.network.id
    return endpoint.network == view.network.name


def _names(container: Container, endpoint: EndpointSettings, domain: str) -> Iterator[str]:
    """Each name, alone and in the domain of the network."""
    for name in _own_names(container, endpoint):
        yield name
        yield f"{name}.{domain}"


def _domain(topology: Topology, view: NetworkView) -> str:
    """What may follow the names of the containers of a network."""
    own = "" if topology.deployment is None else topology.deployment.platform.domain
    return own or view.network.name


def _own_names(container: Container, endpoint: EndpointSettings) -> Iterator[str]:
    return filter(None, dict.fromkeys((container.name, *endpoint.aliases, container.short_id)))


def _literal(name: str) -> str | None:
    try:
        return str(ipaddress.ip_address(name.strip("[]").partition("%")[0]))
    except ValueError:
        return None


def _usable(topology: Topology, netns: int, found: NameAnswer) -> Resolution:
    """IPv4 first, as the JVM tries them, and IPv6 only where the namespace has an address to use it with."""
    facts = topology.inventory.namespaces.get(netns)
    own = [a.address for a in facts.addresses if ":" in a.address] if facts is not None else []
    loopback, other = "::1" in own, any(address != "::1" for address in own)
    ordered = sorted(dict.fromkeys(found.addresses), key=lambda address: ":" in address)
    usable = tuple(a for a in ordered if ":" not in a or (loopback if a == "::1" else other))
    if not usable:
        return Resolution(addresses=(), because=f"it resolves only to {', '.join(ordered)}, and there is no IPv6 here")
    return Resolution(addresses=usable, because=found.by)
