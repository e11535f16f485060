"""Vantages that can really be taken: running containers, the docker host, namespaces given by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from netdiag.deployment.from_engine import member_names
from netdiag.deployment.member import Deployment, Member
from netdiag.deployment.vantage import Vantage, VantageKind, client_networks
from netdiag.engine.container import Container
from netdiag.linux.netns import Entrance, NamedNamespace, OwnNamespace, ProcessNamespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """A vantage and the network namespace to enter for it."""

    vantage: Vantage
    entrance: Entrance


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A vantage that could not be taken, and why; `rights` where it only takes more rights."""

    vantage: Vantage
    because: str
    rights: bool = False


def docker_host_stance(entrance: Entrance | None = None) -> Stance:
    """The docker host: the namespace of the engine, or our own."""
    vantage = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
    return Stance(vantage=vantage, entrance=entrance or OwnNamespace())


def named_stance(name: str) -> Stance:
    """A namespace that `ip netns` lists, as a machine beside the docker host."""
    vantage = Vantage(kind=VantageKind.LAN, label=f"netns:{name}")
    return Stance(vantage=vantage, entrance=NamedNamespace(name=name))


def container_stances(deployment: Deployment, containers: Sequence[Container]) -> tuple[Stance, ...]:
    """Inside each running container, brokers first; an isolated controller is none."""
    names = member_names(containers)
    members = {member.name: member for member in deployment.members}
    shared = frozenset(client_networks(deployment))
    alive = [c for c in containers if c.state.has_process and names[c.id] in members]
    brokers = frozenset(broker.name for broker in deployment.brokers if broker.config.is_broker)
    ordered = sorted(alive, key=lambda c: names[c.id] not in brokers)
    return tuple(
        Stance(
            vantage=_vantage(members[names[c.id]], shared, broker=names[c.id] in brokers),
            entrance=ProcessNamespace(pid=c.state.pid, container_id=c.id),
        )
        for c in ordered
    )


def elsewhere_stances(
    everything: Sequence[Container], chosen: Sequence[Container], *, limit: int = 4
) -> tuple[Stance, ...]:
    """Inside containers that share no network with the chosen ones: one for each set of networks, up to `limit`."""
    taken = {c.id for c in chosen}
    found: dict[tuple[str, ...], Stance] = {}
    for container in sorted(everything, key=lambda c: c.name):
        networks = tuple(sorted(endpoint.network for endpoint in container.networks))
        alone = not networks or set(networks) <= {"host", "none"}
        if container.id in taken or alone or not container.state.has_process:
            continue
        label = f"container {container.name}"
        vantage = Vantage(kind=VantageKind.OTHER_NETWORK, label=label, networks=networks)
        entrance = ProcessNamespace(pid=container.state.pid, container_id=container.id)
        found.setdefault(networks, Stance(vantage=vantage, entrance=entrance))
    return tuple(found.values())[:limit]


def _vantage(member: Member, shared: frozenset[str], *, broker: bool) -> Vantage:
    networks = tuple(attachment.network for attachment in member.attachments)
    if broker:
        label, kind = f"inside {member.name}", VantageKind.BROKER
    else:
        together = shared.intersection(networks)
        label, kind = f"container {member.name}", VantageKind.CONTAINER if together else VantageKind.OTHER_NETWORK
    return Vantage(kind=kind, label=label, member=member.name, networks=networks)
