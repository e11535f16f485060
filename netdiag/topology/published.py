"""Published ports from the request to the socket behind them: asked for, in force, DNAT, docker-proxy, container."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from netdiag.engine.container import Container, PortBinding
from netdiag.engine.network import EngineNetwork
from netdiag.topology.dnat import DnatRule, dnat_rules
from netdiag.topology.docker_proxies import DockerProxy, docker_proxies
from netdiag.topology.graph import Published, Unmatched
from netdiag.topology.known import Known, plain
from netdiag.topology.naming import Naming
from netdiag.topology.stray_rules import without_container

EVERYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPorts:
    """Every published port, and what of them has no counterpart."""

    published: tuple[Published, ...]
    unmatched: tuple[Unmatched, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Binding:
    """A port that is asked for, in force or both."""

    container: Container
    host_ip: str
    published: int
    protocol: str
    target: int
    asked: bool
    in_force: bool

    @property
    def key(self) -> str:
        host = f"[{self.host_ip}]" if ":" in self.host_ip else self.host_ip
        return f"{host}:{self.published}/{self.protocol}"


def published_ports(known: Known, naming: Naming, networks: Iterable[EngineNetwork]) -> PublishedPorts:
    """The published ports of all containers, those in force first where two ask for the same."""
    facts = known.host_facts
    rules = () if facts is None else dnat_rules(facts.ruleset)
    proxies = docker_proxies(known)
    ways = _Ways(rules, proxies)
    bindings = [b for container in known.containers.values() for b in _bindings(container)]
    bindings.sort(
        key=lambda b: (not b.in_force, b.published, b.protocol, ":" in b.host_ip, b.host_ip, b.container.name)
    )
    made = _distinct([(b, _published(known, ways, b)) for b in bindings])
    unmatched = (
        *(one for binding, port in made for one in _without_way(known, naming, binding, port)),
        *without_container(known, naming, rules, proxies, tuple(networks)),
    )
    return PublishedPorts(published=tuple(port for _, port in made), unmatched=unmatched)


def _bindings(container: Container) -> Iterator[_Binding]:
    in_force = [binding for binding in container.ports if binding.published is not None]
    for binding in in_force:
        asked = container.publish_all or any(_asks_for(one, binding) for one in container.requested_ports)
        yield _binding(container, binding, asked=asked, in_force=True)
    for binding in container.requested_ports:
        if not any(_asks_for(binding, one) for one in in_force):
            yield _binding(container, binding, asked=True, in_force=False)


def _binding(container: Container, binding: PortBinding, *, asked: bool, in_force: bool) -> _Binding:
    return _Binding(
        container=container,
        host_ip=plain(binding.host_ip) or EVERYWHERE[0],
        published=binding.published or 0,
        protocol=binding.protocol,
        target=binding.target,
        asked=asked,
        in_force=in_force,
    )


def _asks_for(request: PortBinding, binding: PortBinding) -> bool:
    """Whether a request may have become this binding: an empty address is all, no port is any."""
    return (
        (request.target, request.protocol) == (binding.target, binding.protocol)
        and request.published in (None, binding.published)
        and (not request.host_ip or plain(request.host_ip) == plain(binding.host_ip))
    )


class _Ways:
    """Rules and proxies by the port that they serve; those of many ports are tried for each."""

    def __init__(self, rules: Iterable[DnatRule], proxies: Iterable[DockerProxy]) -> None:
        self._wide: list[DnatRule] = []
        self._rules: dict[int, list[DnatRule]] = {}
        self._proxies: dict[int, list[DockerProxy]] = {}
        for rule in rules:
            kept = self._rules.setdefault(rule.ports.start, []) if len(rule.ports) == 1 else self._wide
            kept.append(rule)
        for proxy in proxies:
            self._proxies.setdefault(proxy.host_port, []).append(proxy)

    def rules(self, binding: _Binding) -> list[DnatRule]:
        """The rules that rewrite what comes for the port."""
        return [rule for rule in (*self._rules.get(binding.published, ()), *self._wide) if _serves(rule, binding)]

    def proxies(self, binding: _Binding) -> list[DockerProxy]:
        """The proxies that listen for the port."""
        return [proxy for proxy in self._proxies.get(binding.published, ()) if _listens_for(proxy, binding)]


def _published(known: Known, ways: _Ways, binding: _Binding) -> Published:
    own = {plain(a) for endpoint in binding.container.networks for a in endpoint.addresses}
    rewriting = [rule for rule in ways.rules(binding) if rule.to_address in own]
    serving = [proxy for proxy in ways.proxies(binding) if proxy.container_ip in own]
    leads = [*(rule.to_address for rule in rewriting), *(proxy.container_ip for proxy in serving)]
    to_address = leads[0] if leads and binding.in_force else ""
    return Published(
        key=binding.key,
        host_ip=binding.host_ip,
        published=binding.published,
        protocol=binding.protocol,
        container=binding.container.id,
        target=binding.target,
        asked=binding.asked,
        in_force=binding.in_force,
        dnat=tuple(rule.text for rule in rewriting) if binding.in_force else (),
        proxies=tuple(proxy.pid for proxy in serving) if binding.in_force else (),
        to_address=to_address,
        pids=_pids(known, binding, to_address),
    )


def _serves(rule: DnatRule, binding: _Binding) -> bool:
    to_port = binding.published if rule.to_port is None else rule.to_port
    host_ip = "" if binding.host_ip in EVERYWHERE else binding.host_ip
    family = "::" if ":" in binding.host_ip else "0.0.0.0"
    takes = rule.takes(protocol=binding.protocol, host_ip=host_ip or family, port=binding.published)
    return takes and to_port == binding.target and rule.host_ip == host_ip


def _listens_for(proxy: DockerProxy, binding: _Binding) -> bool:
    return (proxy.host_ip, proxy.host_port, proxy.protocol, proxy.container_port) == (
        binding.host_ip,
        binding.published,
        binding.protocol,
        binding.target,
    )


def _pids(known: Known, binding: _Binding, to_address: str) -> tuple[int, ...] | None:
    """Who holds a socket that what arrives at the container finds; a loopback address is not found from outside."""
    facts = known.entered(known.netns_of.get(binding.container.id))
    if facts is None or binding.protocol not in ("tcp", "udp"):
        return None
    own = {to_address} if to_address else {plain(a) for e in binding.container.networks for a in e.addresses}
    return tuple(
        dict.fromkeys(
            pid
            for listener in facts.listeners
            if listener.port == binding.target and listener.protocol.value == binding.protocol
            if listener.address in EVERYWHERE or plain(listener.address) in own
            for pid in listener.pids
        )
    )


def _distinct(made: Iterable[tuple[_Binding, Published]]) -> tuple[tuple[_Binding, Published], ...]:
    """No key twice: of two containers that ask for one port, the one that has it not is named in its key."""
    taken: set[str] = set()
    found = []
    for binding, port in made:
        key = port.key if port.key not in taken else f"{port.key} ({binding.container.name})"
        while key in taken:
            key = f"{key}'"
        taken.add(key)
        found.append((binding, replace(port, key=key)))
    return tuple(found)


def _without_way(known: Known, naming: Naming, binding: _Binding, port: Published) -> Iterator[Unmatched]:
    """A port that the engine reports and nothing serves, or whose two ways lead to different places."""
    if not port.in_force or not known.shows_host_rules or not known.inventory.complete:
        return
    if binding.container.id not in known.netns_of:
        # It has ended meanwhile, its ports with it.
        return
    subject = f"published port {port.key} of {naming.container(binding.container)}"
    if not port.by:
        yield Unmatched(subject=subject, because="no DNAT rule and no docker-proxy leads to the container")
