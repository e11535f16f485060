"""What rules about topologies share: names of places and devices, addresses, DNAT rules and where they lead."""

import ipaddress
import shlex
from collections.abc import Iterable, Iterator

from netdiag.engine.container import Container
from netdiag.findings import Finding, Related, Severity, TopologyLocation
from netdiag.linux.rtnetlink import InterfaceAddress
from netdiag.topology.graph import Place, PlaceKind, Topology
from netdiag.topology.inventory import LinkId, NamespaceFacts
from netdiag.topology.published_ports import dnat_rules
from netdiag.values import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Prefix = ipaddress.IPv4Network | ipaddress.IPv6Network
MAIN_TABLE = 254
_SHOWN = 3


def finding(
    rule: str,
    severity: Severity,
    location: TopologyLocation,
    message: str,
    *,
    why: str = "",
    hint: str = "",
    related: Iterable[Related] = (),
    service: str | None = None,
    listener: str | None = None,
) -> Finding:
    """A finding about a place in a machine's network."""
    return Finding(
        rule=rule,
        severity=severity,
        message=message,
        location=location,
        why=why,
        hint=hint,
        related=tuple(related),
        service=service,
        listener=listener,
    )


def place_name(topology: Topology, netns: int) -> str:
    """The name of a namespace's place."""
    place = topology.place(netns)
    return f"net:[{netns}]" if place is None else place.name


def at_device(topology: Topology, at: LinkId, part: str = "") -> TopologyLocation:
    """The place of a device."""
    return TopologyLocation(place=place_name(topology, at.netns), device=device_name(topology, at), part=part)


def at_place(topology: Topology, netns: int, part: str = "") -> TopologyLocation:
    """A namespace as a whole."""
    return TopologyLocation(place=place_name(topology, netns), part=part)


def device_name(topology: Topology, at: LinkId) -> str:
    """The name of a device in its namespace."""
    link = topology.inventory.link(at)
    return f"device {at.ifindex}" if link is None else link.ifname


def device_of(topology: Topology, at: LinkId) -> str:
    """A device in a message: "eth0 of kafka"."""
    return f"{device_name(topology, at)} of {place_name(topology, at.netns)}"


def quoted(name: str) -> str:
    """A name quoted for a shell command that users may copy: device names may contain almost any character."""
    return shlex.quote(name)


def several(names: Iterable[str]) -> str:
    """The first few names."""
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def host_of(topology: Topology) -> tuple[Place, NamespaceFacts] | None:
    """The docker host and what is in its namespace; None if there is none that netdiag can enter."""
    place = topology.named(topology.host) if topology.host else None
    facts = None if place is None else topology.inventory.namespaces.get(place.netns)
    return None if place is None or facts is None or not facts.entered else (place, facts)


def running_places(topology: Topology) -> Iterator[tuple[Place, NamespaceFacts, Container]]:
    """Every inspected namespace of a container, with the container that owns it."""
    for place in topology.places:
        facts = topology.inventory.namespaces.get(place.netns)
        owner = topology.containers.get(place.containers[0]) if place.containers else None
        if place.kind is PlaceKind.CONTAINER and facts is not None and facts.entered and owner is not None:
            yield place, facts, owner


def is_broker(topology: Topology, container: str) -> bool:
    """Whether Kafka runs in that container."""
    return any(listener.container == container for listener in topology.listeners)


def addresses_at(topology: Topology, at: LinkId) -> tuple[InterfaceAddress, ...]:
    """The addresses of a device."""
    facts = topology.inventory.namespaces.get(at.netns)
    return () if facts is None else tuple(each for each in facts.addresses if each.ifindex == at.ifindex)


def parsed(text: str) -> Address | None:
    """An address; None if the text is not one."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def parsed_prefix(text: str) -> Prefix | None:
    """A subnet; None if the text is not one. Host bits are allowed."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def overlap(one: Prefix, other: Prefix) -> bool:
    """Whether two subnets have addresses in common."""
    if isinstance(one, ipaddress.IPv4Network):
        return isinstance(other, ipaddress.IPv4Network) and one.overlaps(other)
    return isinstance(other, ipaddress.IPv6Network) and one.overlaps(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A rule that sends what comes for `protocol` and a port of `published` to an address and a port.

    `port` is None for a rule that keeps one of several ports.
    """

    address: Address
    port: int | None
    published: range
    protocol: str
    text: str


def translations(facts: NamespaceFacts) -> Iterator[Translation]:
    """Every rule with one target that is not of the namespace itself."""
    for rule in dnat_rules(facts.ruleset):
        address = parsed(rule.to_address)
        if address is None or address.is_loopback:
            continue
        kept = rule.ports[0] if len(rule.ports) == 1 else None
        yield Translation(
            address=address,
            port=kept if rule.to_port is None else rule.to_port,
            published=rule.ports,
            protocol=rule.protocol,
            text=rule.address.text,
        )


def device_towards(facts: NamespaceFacts, address: Address) -> LinkId | None:
    """The device whose segment has an address, by the longest matching route; None if a gateway is in between."""
    best: tuple[int, LinkId | None] = (-1, None)
    for route in facts.routes:
        prefix = parsed_prefix(route.destination)
        if route.table != MAIN_TABLE or route.type != "unicast" or prefix is None or address not in prefix:
            continue
        hop = route.hops[0] if len(route.hops) == 1 else None
        near = hop is not None and not hop.gateway and hop.ifindex is not None
        at = LinkId(netns=facts.netns.inode, ifindex=hop.ifindex) if near and hop and hop.ifindex else None
        best = max(best, (prefix.prefixlen, at), key=lambda each: each[0])
    return best[1]
