"""Whom a walk asks what a name means: hosts files first, then what is known of the engine's name service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from netdiag.topology.graph import Topology
from netdiag.topology.names import Answers, resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a name is in a namespace, in the order in which a client tries it; `because` says by whom, or why not.

    `unknown` is a name that only a question to a server could tell.
    """

    addresses: tuple[str, ...]
    because: str
    unknown: bool = False


# The namespace's inode and the name.
Names = Callable[[int, str], Resolved]


def names_of(topology: Topology, hosts: Mapping[int, str] | None = None) -> Names:
    """The names of a topology. `hosts` are the hosts files by namespace; one that is not given is made up.

    Name servers of the world outside are not asked: they know no name without a dot, and of others nothing is known.
    """
    texts = hosts or {}

    def ask(netns: int, name: str) -> Resolved:
        text = texts[netns] if netns in texts else hosts_file(topology, netns)
        found = resolve(topology, netns, name, text)
        if isinstance(found, Answers):
            return _usable(topology, netns, found)
        return Resolved(addresses=(), because=found.because, unknown="." in name.strip("."))

    return ask


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


def _usable(topology: Topology, netns: int, found: Answers) -> Resolved:
    """IPv4 first, as the JVM tries them, and IPv6 only where the namespace has an address to use it with."""
    facts = topology.inventory.namespaces.get(netns)
    own = [a.address for a in facts.addresses if ":" in a.address] if facts is not None else []
    loopback, other = "::1" in own, any(address != "::1" for address in own)
    ordered = sorted(dict.fromkeys(found.addresses), key=lambda address: ":" in address)
    usable = tuple(a for a in ordered if ":" not in a or (loopback if a == "::1" else other))
    if not usable:
        return Resolved(addresses=(), because=f"only {', '.join(ordered)} is known, and there is no IPv6 here")
    return Resolved(addresses=usable, because=found.by)
