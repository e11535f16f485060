"""DNAT rules and docker-proxies that lead to an address which no container has."""

import ipaddress
from collections.abc import Iterable, Iterator

from netdiag.engine.network import EngineNetwork
from netdiag.topology.dnat import DnatRule
from netdiag.topology.docker_proxies import DockerProxy
from netdiag.topology.graph import Unmatched
from netdiag.topology.known import Known, plain
from netdiag.topology.naming import Naming
from netdiag.topology.networks import GATEWAY_BRIDGE


def without_container(
    known: Known,
    naming: Naming,
    rules: Iterable[DnatRule],
    proxies: Iterable[DockerProxy],
    networks: tuple[EngineNetwork, ...],
) -> Iterator[Unmatched]:
    """The rules into a network of the engine, and the proxies, whose container is not there."""
    if known.host is None:
        return
    taken = {plain(a) for c in known.containers.values() for e in c.networks for a in e.addresses}
    own = [network for network in networks if network.name != GATEWAY_BRIDGE]
    subnets = [parsed for network in own for subnet in network.subnets if (parsed := _subnet(subnet)) is not None]
    for rule in rules:
        if rule.to_address not in taken and _is_in(rule.to_address, subnets):
            where = naming.place(known.host)
            because = f"it leads to {rule.to_address}, an address that no container has: {rule.text}"
            yield Unmatched(subject=f"DNAT rule {rule.address} of {where}", because=because)
    for proxy in proxies:
        if proxy.container_ip not in taken:
            serves = f"it serves port {proxy.host_port}/{proxy.protocol}"
            because = f"{serves} for {proxy.container_ip}, an address that no container has"
            yield Unmatched(subject=f"docker-proxy {proxy.pid}", because=because)


def _subnet(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _is_in(address: str, subnets: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in subnet for subnet in subnets)
