"""Where NAT rules send connections: the targets of DNAT, and the device that they lead to."""

from collections.abc import Iterator
from dataclasses import dataclass

from netdiag.rules.topology_words import MAIN_TABLE, Address, parsed, parsed_prefix
from netdiag.topology.dnat import dnat_rules
from netdiag.topology.inventory import LinkId, NamespaceFacts


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
            text=rule.text,
        )


def device_towards(facts: NamespaceFacts, address: Address) -> LinkId | None:
    """The device on whose own segment an address is, by the longest route; None where a gateway stands between."""
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
