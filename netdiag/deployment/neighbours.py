"""Projects whose files are checked together and that share a network: each is among the surroundings of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from netdiag.deployment.model.deployment import Broker, Deployment, Member, Network, NetworkKind, Surroundings


def may_share_networks(deployment: Deployment) -> bool:
    """Whether members of other projects may be on one of its networks."""
    return any(_may_be_shared(deployment, network) for network in deployment.networks.values())


def with_neighbours(deployments: Sequence[Deployment]) -> tuple[Deployment, ...]:
    """Deployments from files, each surrounded by the members of other projects that stand on a network of its own.

    Networks are the same that have the same name, whichever key each file has for it.
    """
    return tuple(_surrounded(one, [other for other in deployments if other.name != one.name]) for one in deployments)


def _surrounded(deployment: Deployment, others: Sequence[Deployment]) -> Deployment:
    keys = {network.name: key for key, network in deployment.networks.items()}
    brokers: list[Broker] = []
    rest: list[Member] = []
    for other in others:
        shared = {
            key: keys[net.name]
            for key, net in other.networks.items()
            if net.name in keys and _may_be_shared(other, net)
        }
        for broker in other.brokers:
            neighbour = _neighbour(broker.member, shared)
            brokers += [replace(broker, member=neighbour)] if neighbour else []
        rest += [neighbour for member in other.others if (neighbour := _neighbour(member, shared))]
    if not brokers and not rest:
        return deployment
    return replace(deployment, surroundings=Surroundings(brokers=tuple(brokers), others=tuple(rest)))


def _may_be_shared(deployment: Deployment, network: Network) -> bool:
    """Whether others may be on it: it is external, or has a name that is not made of its project's."""
    if network.kind is not NetworkKind.USER_BRIDGE:
        return False
    return network.external or network.name != f"{deployment.name or ''}_{network.key}"


def _neighbour(member: Member, shared: Mapping[str, str]) -> Member | None:
    """A member as its neighbours see it; None for one that is not on their networks.

    The ports that it publishes are left out: files that are checked together need not run together.
    """
    attachments = tuple(replace(a, network=shared[a.network]) for a in member.attachments if a.network in shared)
    if not attachments:
        return None
    name = member.container or f"{member.project}-{member.name}-1"
    return replace(member, name=name, attachments=attachments, published=(), shares_with=None)
