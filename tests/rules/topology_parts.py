"""Single things of recorded topologies: routes, sockets, NAT rules."""

import ipaddress
from collections.abc import Mapping
from typing import Any

from netdiag.linux.rtnetlink import NextHop, Route
from netdiag.linux.ruleset import Chain, FilterRule, Origin, Ruleset, Table
from netdiag.linux.sockets import Listener, Protocol


def route(
    destination: str, gateway: str, ifindex: int | None, *, protocol: int, scope: int = 0, source: str = ""
) -> Route:
    return Route(
        family=6 if ":" in destination else 4,
        destination=destination,
        table=254,
        type="unicast",
        scope=scope,
        protocol=protocol,
        source=source,
        hops=(NextHop(gateway=gateway, ifindex=ifindex),),
    )


def listening(told: Mapping[str, Any]) -> Listener:
    address = told.get("address", "0.0.0.0")
    return Listener(
        protocol=Protocol(told.get("protocol", "tcp")),
        family=6 if ":" in address else 4,
        address=address,
        port=told["port"],
        inode=1,
        pids=(told["by"],) if "by" in told else (),
    )


def ruleset(texts: Any) -> Ruleset:
    """The nat table as `iptables-save` prints it; only the text counts."""
    if not texts:
        return Ruleset()
    chains: dict[str, list[FilterRule]] = {}
    for text in texts:
        rules = chains.setdefault(str(text).split(" ")[1], [])
        rules.append(FilterRule(number=len(rules) + 1, handle=None, expressions=(), text=str(text)))
    made = tuple(Chain(name=name, rules=tuple(rules), type="nat") for name, rules in chains.items())
    return Ruleset(tables=(Table(family="ip", name="nat", origin=Origin.IPTABLES_NFT, chains=made),))


def within(address: str, prefix: str) -> bool:
    return ipaddress.ip_address(address) in ipaddress.ip_network(prefix, strict=False)
