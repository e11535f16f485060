"""Published ports from the request to the socket behind them: asked for, in force, DNAT, docker-proxy, container.

DNAT rules are read from the text of rules, which is what `iptables-save` and `nft list ruleset` print.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from netdiag.digits import number_of
from netdiag.engine.container import Container, EngineNetwork, PortBinding
from netdiag.linux.procfs import Process
from netdiag.linux.ruleset import Origin, RuleAddress, Ruleset, address_of
from netdiag.topology.graph import Published, Unmatched
from netdiag.topology.places import JoinIndex, canonical_address, container_name
from netdiag.values import dataclass

ANY_ADDRESS = ("0.0.0.0", "::")
PROXY_COMMAND = "docker-proxy"
# The gateway of a swarm's networks; the engine does not report its members.
GATEWAY_BRIDGE = "docker_gwbridge"

_ENDPOINT = r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<v4>[0-9.]+)|(?P<bare>[0-9a-fA-F:.]+))"
_IPTABLES_DESTINATION = re.compile(rf"{_ENDPOINT}(?::(?P<port>\d+))?")
_IPTABLES_COMMENT = re.compile(r' --comment (?:"(?:[^"\\]|\\.)*"|\S+)')
_NFT_COMMENT = re.compile(r' comment "(?:[^"\\]|\\.)*"')
_NFT_DNAT = re.compile(rf"\bdnat (?:ip6? )?to {_ENDPOINT}(?::(?P<port>\d+))?(?![\w.:-])")
_NFT_DPORT = re.compile(r"\b(?P<protocol>tcp|udp|sctp) dport (?P<first>\d+)(?:-(?P<last>\d+))?(?!\S)")
_NFT_DADDR = re.compile(r"\bip6? daddr (?P<address>[0-9a-fA-F.:]+)(?:/(?:32|128))?(?!\S)")


def published_ports(
    index: JoinIndex, networks: Iterable[EngineNetwork]
) -> tuple[tuple[Published, ...], tuple[Unmatched, ...]]:
    """The published ports of all containers, those in force first where two ask for the same; and what is unmatched."""
    rules = () if index.host_facts is None else tuple(dnat_rules(index.host_facts.ruleset))
    proxies = tuple(docker_proxies(index))
    forwarding = _Forwarding(rules, proxies)
    bindings = [port for container in index.containers.values() for port in _bindings(container)]
    bindings.sort(
        key=lambda port: (
            *(not port.in_force, port.published, port.protocol, ":" in port.host_ip, port.host_ip),
            index.containers[port.container].name,
        )
    )
    ports = tuple(_unique_keys(index, (_forwarded(index, forwarding, port) for port in bindings)))
    return ports, (*_not_forwarded(index, ports), *_without_container(index, rules, proxies, networks))


def _bindings(container: Container) -> Iterator[Published]:
    """What a container has and what it asks for, before anybody looks at what serves it."""
    in_force = [binding for binding in container.ports if binding.published is not None]
    for binding in in_force:
        asked = container.publish_all or any(_asks_for(one, binding) for one in container.requested_ports)
        yield _binding(container, binding, asked=asked, in_force=True)
    for binding in container.requested_ports:
        if not any(_asks_for(binding, one) for one in in_force):
            yield _binding(container, binding, asked=True, in_force=False)


def _binding(container: Container, binding: PortBinding, *, asked: bool, in_force: bool) -> Published:
    host_ip = canonical_address(binding.host_ip) or ANY_ADDRESS[0]
    published = binding.published or 0
    return Published(
        key=f"{f'[{host_ip}]' if ':' in host_ip else host_ip}:{published}/{binding.protocol}",
        host_ip=host_ip,
        published=published,
        protocol=binding.protocol,
        container=container.id,
        target=binding.target,
        asked=asked,
        in_force=in_force,
    )


def _asks_for(request: PortBinding, binding: PortBinding) -> bool:
    """Whether a request may have become this binding: an empty address is all, no port is any."""
    return (
        (request.target, request.protocol) == (binding.target, binding.protocol)
        and request.published in (None, binding.published)
        and (not request.host_ip or canonical_address(request.host_ip) == canonical_address(binding.host_ip))
    )


def _forwarded(index: JoinIndex, forwarding: "_Forwarding", port: Published) -> Published:
    """The port with the rules and proxies that forward it, and the processes that listen in the container."""
    own = _addresses(index.containers[port.container])
    rules = [rule for rule in forwarding.rules(port) if rule.to_address in own] if port.in_force else []
    proxies = [proxy for proxy in forwarding.proxies(port) if proxy.container_ip in own] if port.in_force else []
    to_address = (*(rule.to_address for rule in rules), *(proxy.container_ip for proxy in proxies), "")[0]
    return replace(
        port,
        dnat=tuple(rule.address.text for rule in rules),
        proxies=tuple(proxy.pid for proxy in proxies),
        to_address=to_address,
        pids=_listening_pids(index, port, {to_address} if to_address else own),
    )


def _addresses(container: Container) -> set[str]:
    return {canonical_address(address) for endpoint in container.networks for address in endpoint.addresses}


def _listening_pids(index: JoinIndex, port: Published, addresses: set[str]) -> tuple[int, ...] | None:
    """The processes whose socket accepts what arrives at the container; one on a loopback address does not."""
    facts = index.entered(index.netns_of.get(port.container))
    if facts is None or port.protocol not in ("tcp", "udp"):
        return None
    return tuple(
        dict.fromkeys(
            pid
            for listener in facts.listeners
            if listener.port == port.target and listener.protocol.value == port.protocol
            if listener.address in ANY_ADDRESS or canonical_address(listener.address) in addresses
            for pid in listener.pids
        )
    )


def _unique_keys(index: JoinIndex, ports: Iterable[Published]) -> Iterator[Published]:
    """Of two containers that ask for one port, the key of the one that does not have it names the container."""
    taken: set[str] = set()
    for port in ports:
        key = port.key if port.key not in taken else f"{port.key} ({index.containers[port.container].name})"
        while key in taken:
            key = f"{key}'"
        taken.add(key)
        yield replace(port, key=key)


def _not_forwarded(index: JoinIndex, ports: Iterable[Published]) -> Iterator[Unmatched]:
    """Ports that the engine reports and nothing serves."""
    if not index.shows_host_rules or not index.inventory.complete:
        return
    for port in ports:
        # A container that is in no namespace has ended meanwhile, and its ports with it.
        if port.in_force and not port.by and port.container in index.netns_of:
            subject = f"published port {port.key} of {container_name(index.containers[port.container])}"
            yield Unmatched(subject=subject, because="no DNAT rule and no docker-proxy leads to the container")


def _without_container(
    index: JoinIndex, rules: Iterable["DnatRule"], proxies: Iterable["DockerProxy"], networks: Iterable[EngineNetwork]
) -> Iterator[Unmatched]:
    """DNAT rules into a network of the engine, and docker-proxies, that lead to an address which no container has."""
    if index.docker_host is None:
        return
    taken = {address for container in index.containers.values() for address in _addresses(container)}
    subnets = [
        parsed
        for network in networks
        if network.name != GATEWAY_BRIDGE
        for subnet in network.subnets
        if (parsed := _subnet(subnet)) is not None
    ]
    for rule in rules:
        if rule.to_address not in taken and _is_in(rule.to_address, subnets):
            where = index.place_name(index.docker_host)
            because = f"it leads to {rule.to_address}, an address that no container has: {rule.address.text}"
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


class _Forwarding:
    """DNAT rules and proxies by the port that they serve; rules for a range of ports are tried for each port."""

    def __init__(self, rules: Iterable["DnatRule"], proxies: Iterable["DockerProxy"]) -> None:
        self._for_ranges: list[DnatRule] = []
        self._rules: dict[int, list[DnatRule]] = {}
        self._proxies: dict[int, list[DockerProxy]] = {}
        for rule in rules:
            kept = self._rules.setdefault(rule.ports.start, []) if len(rule.ports) == 1 else self._for_ranges
            kept.append(rule)
        for proxy in proxies:
            self._proxies.setdefault(proxy.host_port, []).append(proxy)

    def rules(self, port: Published) -> list["DnatRule"]:
        """The rules that rewrite what comes for the port."""
        return [rule for rule in (*self._rules.get(port.published, ()), *self._for_ranges) if rule.serves(port)]

    def proxies(self, port: Published) -> list["DockerProxy"]:
        """The proxies that listen for the port."""
        return [proxy for proxy in self._proxies.get(port.published, ()) if proxy.serves(port)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DnatRule:
    """What comes for `protocol` and a port of `ports` at `host_ip` ("" for any) goes to `to_address`.

    `to_port` None keeps the port that was dialled.
    """

    address: RuleAddress
    protocol: str
    host_ip: str
    ports: range
    to_address: str
    to_port: int | None

    def serves(self, port: Published) -> bool:
        """Whether it forwards a published port to its target."""
        host_ip = "" if port.host_ip in ANY_ADDRESS else port.host_ip
        to_port = port.published if self.to_port is None else self.to_port
        same_family = (":" in port.host_ip) == (":" in self.to_address)
        asked = (self.protocol, self.host_ip, to_port) == (port.protocol, host_ip, port.target)
        return asked and same_family and port.published in self.ports


def dnat_rules(ruleset: Ruleset) -> Iterator[DnatRule]:
    """Every rule that rewrites a destination to one address for ports that it names; others are passed over."""
    for table in ruleset.tables:
        parse = _parse_nft if table.origin is Origin.NFTABLES else _parse_iptables
        for chain in table.chains:
            for rule in chain.rules:
                if (parsed := parse(address_of(table, chain, rule))) is not None:
                    yield parsed


def _parse_iptables(address: RuleAddress) -> DnatRule | None:
    words = _IPTABLES_COMMENT.sub("", address.text).split()
    options = {word: index for index, word in enumerate(words) if word.startswith("-")}

    def value(name: str) -> tuple[str, bool]:
        """The value of an option, and whether it is negated."""
        index = options.get(name, len(words))
        return (words[index + 1], words[index - 1] == "!") if index + 1 < len(words) else ("", False)

    (target, _), (to_destination, _) = value("-j"), value("--to-destination")
    (host_ip, not_at), (port, not_port), (protocol, not_protocol) = value("-d"), value("--dport"), value("-p")
    ports, destination = _ports(port.replace(":", "-")), _IPTABLES_DESTINATION.fullmatch(to_destination)
    if target != "DNAT" or ports is None or destination is None or not_at or not_port or not_protocol:
        return None
    host, _, length = host_ip.partition("/")
    return DnatRule(
        address=address,
        protocol=protocol,
        host_ip="" if length == "0" else host,
        ports=ports,
        to_address=_endpoint_address(destination),
        to_port=int(destination["port"]) if destination["port"] else None,
    )


def _parse_nft(address: RuleAddress) -> DnatRule | None:
    text = _NFT_COMMENT.sub("", address.text)
    dnat, dport = _NFT_DNAT.search(text), _NFT_DPORT.search(text)
    if dnat is None or dport is None:
        return None
    daddr = _NFT_DADDR.search(text)
    return DnatRule(
        address=address,
        protocol=dport["protocol"],
        host_ip=daddr["address"] if daddr is not None else "",
        ports=range(int(dport["first"]), int(dport["last"] or dport["first"]) + 1),
        to_address=_endpoint_address(dnat),
        to_port=int(dnat["port"]) if dnat["port"] else None,
    )


def _endpoint_address(found: re.Match[str]) -> str:
    return found["v6"] or found["v4"] or found["bare"] or ""


def _ports(text: str) -> range | None:
    low, _, high = text.partition("-")
    first, last = number_of(low), number_of(high or low)
    return None if first is None or last is None else range(first, last + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerProxy:
    """A process that listens on `host_ip` and connects to `container_ip`. Source: moby, cmd/docker-proxy."""

    pid: int
    protocol: str
    host_ip: str
    host_port: int
    container_ip: str
    container_port: int

    def serves(self, port: Published) -> bool:
        """Whether it forwards a published port to its target."""
        mine = (self.host_ip, self.host_port, self.protocol, self.container_port)
        return mine == (port.host_ip, port.published, port.protocol, port.target)


def docker_proxies(index: JoinIndex) -> Iterator[DockerProxy]:
    """The proxies of the docker host, by pid; other engines of this machine have proxies of their own."""
    for _, process in sorted(index.inventory.processes.items()):
        if process.comm == PROXY_COMMAND and process.netns is not None and process.netns == index.docker_host:
            proxy = parse_proxy(process)
            if proxy is not None:
                yield proxy


def parse_proxy(process: Process) -> DockerProxy | None:
    """The proxy that a process is by its arguments; None where they name no ports."""
    options = _options(process.argv[1:])
    host_port, container_port = (number_of(options.get(name, "")) for name in ("host-port", "container-port"))
    if host_port is None or container_port is None:
        return None
    return DockerProxy(
        pid=process.pid,
        protocol=options.get("proto", "tcp"),
        host_ip=canonical_address(options.get("host-ip", "")),
        host_port=host_port,
        container_ip=canonical_address(options.get("container-ip", "")),
        container_port=container_port,
    )


def _options(words: tuple[str, ...]) -> dict[str, str]:
    """Flags as Go's package flag takes them: one dash or two, the value after a blank or an equals sign."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-") and len(word) > 1 and not word.lstrip("-").isdecimal():
            name, equals, value = word.lstrip("-").partition("=")
            found[name] = value
            if equals:
                name = ""
        elif name:
            found[name] = word
            name = ""
    return found
