"""What a host name means at a vantage: Docker's embedded DNS, hosts files and literal addresses, as a model.

The answer is symbolic: "this member's address on that network" is known long before the engine hands out a
number. A container asks its own hosts file first (own hostname, `extra_hosts`), then the embedded DNS, which
knows the members of the container's user-defined networks and stops at the first network that has the name.
The docker host and the LAN know none of these names.
"""

import ipaddress
from dataclasses import dataclass

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.member import Deployment, Member, Network, NetworkKind, NetworkMode, State
from netdiag.deployment.vantage import DOCKER_HOST, Vantage, VantageKind
from netdiag.kafka.listeners import is_loopback, is_wildcard

HOST_ALIASES = ("host.docker.internal", "gateway.docker.internal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loopback:
    """The client's own loopback interface."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAddress:
    """The address of a member on a network."""

    member: str
    network: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAddress:
    """An address of the docker host other than loopback; `gateway` where it is a bridge's own."""

    text: str
    gateway: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """Nobody answers for the name, and why."""

    because: str
    mechanism: Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmodelled:
    """The model cannot say what the name or address leads to."""

    because: str


Target = Loopback | MemberAddress | HostAddress
Resolution = tuple[Target, ...] | Unresolved | Unmodelled


def resolve(deployment: Deployment, vantage: Vantage, host: str, down: frozenset[str]) -> Resolution:
    """What `host` means at `vantage`; several targets stand in the order a client tries them."""
    if is_loopback(host) or is_wildcard(host):
        # Linux connects 0.0.0.0 and :: to the machine itself.
        return (Loopback(),)
    if host == DOCKER_HOST:
        return (HostAddress(text=host),)
    literal = _literal(host)
    if literal is not None:
        return _resolve_literal(deployment, literal)
    if vantage.kind is VantageKind.DOCKER_HOST or _in_host_network(deployment, vantage):
        inside = member_at(deployment, vantage)
        extra = network_owner(deployment, inside).extra_hosts.get(host) if inside else None
        if extra is not None:
            # The engine writes them into the container's own hosts file in host mode, too.
            return _resolve_extra_host(deployment, extra)
        because = f'the docker host does not know the name "{host}"'
        return Unresolved(because=because, mechanism=Mechanism.NO_EMBEDDED_DNS)
    if vantage.kind is VantageKind.LAN:
        because = f'a machine on the LAN does not know the name "{host}"'
        return Unresolved(because=because, mechanism=Mechanism.NO_EMBEDDED_DNS)
    return _resolve_in_container(deployment, vantage, host, down)


def member_at(deployment: Deployment, vantage: Vantage) -> Member | None:
    """The member whose namespace the vantage stands in."""
    return deployment.by_name.get(vantage.member) if vantage.member is not None else None


def network_owner(deployment: Deployment, member: Member) -> Member:
    """The member whose network namespace this one uses: itself, unless it shares another's."""
    owner = deployment.owner_names.get(member.name)
    return member if owner is None else deployment.by_name[owner]


def running(member: Member, down: frozenset[str]) -> bool:
    """Whether a member is up, or is taken to come up."""
    return member.name not in down and member.state is not State.STOPPED


def _in_host_network(deployment: Deployment, vantage: Vantage) -> bool:
    member = member_at(deployment, vantage)
    return member is not None and network_owner(deployment, member).mode is NetworkMode.HOST


def _literal(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def _resolve_literal(deployment: Deployment, literal: str) -> Resolution:
    if literal in deployment.host_addresses:
        return (HostAddress(text=literal),)
    if any(literal in network.gateways for network in deployment.networks.values()):
        return (HostAddress(text=literal, gateway=True),)
    for member, attachment in deployment.addressed.get(literal, ()):
        return (MemberAddress(member=member.name, network=attachment.network),)
    return Unmodelled(because=f"whose address {literal} is cannot be told from here")


def _resolve_in_container(deployment: Deployment, vantage: Vantage, host: str, down: frozenset[str]) -> Resolution:
    inside = member_at(deployment, vantage)
    if inside is not None:
        inside = network_owner(deployment, inside)
        extra = inside.extra_hosts.get(host)
        if extra is not None:
            return _resolve_extra_host(deployment, extra)
        if host in inside.hostnames and inside.attachments:
            return tuple(MemberAddress(member=inside.name, network=a.network) for a in inside.attachments)
        if host in inside.links:
            linked = inside.links[host]
            if linked is None:
                return Unmodelled(because=f'"{host}" is a link to a container that is not shown')
            host = linked
    networks = tuple(a.network for a in inside.attachments) if inside else vantage.networks
    for network in networks:
        if network in deployment.networks and deployment.networks[network].kind is NetworkKind.DEFAULT_BRIDGE:
            continue
        found = tuple(
            MemberAddress(member=member.name, network=network)
            for member in deployment.called.get((network, host), ())
            if running(member, down)
        )
        if found:
            return found
    return _not_found(deployment, vantage, networks, host, down)


def _resolve_extra_host(deployment: Deployment, address: str) -> Resolution:
    if address == "host-gateway":
        return (HostAddress(text="host-gateway", gateway=True),)
    if is_loopback(address):
        return (Loopback(),)
    return _resolve_literal(deployment, address)


def _not_found(
    deployment: Deployment, vantage: Vantage, networks: tuple[str, ...], host: str, down: frozenset[str]
) -> Resolution:
    if any(n in deployment.networks and _may_hold(deployment.networks[n], host) for n in networks):
        return Unmodelled(because=f'an external network may hold a container called "{host}"')
    if host in HOST_ALIASES and deployment.facts.docker_desktop:
        return Unmodelled(because=f'"{host}" is the machine that Docker Desktop runs on')
    if host in HOST_ALIASES:
        because = f'"{host}" needs an extra_hosts entry on Linux'
        return Unresolved(because=because, mechanism=Mechanism.HOST_ALIAS_MISSING)
    owners = deployment.known_as.get(host, ())
    if not owners:
        return Unresolved(because=f'no container is called "{host}"', mechanism=Mechanism.NO_SUCH_NAME)
    if all(not running(member, down) for member in owners):
        because = f'the container called "{host}" is not running'
        return Unresolved(because=because, mechanism=Mechanism.NAME_OF_STOPPED)
    if networks and not any(_has_embedded_dns(deployment, network) for network in networks):
        because = f'the default bridge has no embedded DNS, which alone would know "{host}"'
        return Unresolved(because=because, mechanism=Mechanism.NO_EMBEDDED_DNS)
    if not any(host in attachment.names for member in owners for attachment in member.attachments):
        because = f'the container called "{host}" is on no user-defined network, so nobody serves its name'
        return Unresolved(because=because, mechanism=Mechanism.NO_EMBEDDED_DNS)
    because = f'"{host}" is on no network of this container'
    return Unresolved(because=because, mechanism=Mechanism.NAME_ON_OTHER_NETWORK)


def _has_embedded_dns(deployment: Deployment, network: str) -> bool:
    found = deployment.networks.get(network)
    return found is None or found.kind is not NetworkKind.DEFAULT_BRIDGE


def _may_hold(network: Network, host: str) -> bool:
    """Whether a container that is not shown here may have a name."""
    return network.external and (network.known is None or host in network.known)
