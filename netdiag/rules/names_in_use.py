"""The host names that brokers and clients use, with those who answer to them on networks of several projects."""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment, Member, Network
from netdiag.findings import Location
from netdiag.values import dataclass

_QUORUM = ("zookeeper.connect", "controller.quorum.voters", "controller.quorum.bootstrap.servers")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameInUse:
    """A name that `member` uses on a network: `own` are asked about and answer to it, `others` surround them."""

    member: Member
    name: str
    where: Location
    network: Network
    own: tuple[Member, ...]
    others: tuple[Member, ...]


def names_of_several_projects(deployment: Deployment) -> Iterator[NameInUse]:
    """Every name that is in use on a network where containers of other projects are, or may be; each once, in order."""
    shared = {network.key for network in deployment.networks.values() if network.external}
    shared |= {a.network for member in deployment.all_members[len(deployment.members) :] for a in member.attachments}
    told: set[tuple[str, str]] = set()
    for member, name, where in _uses(deployment) if shared else ():
        for attachment in member.attachments:
            key = (attachment.network, name)
            network = deployment.networks.get(attachment.network)
            if network is None or attachment.network not in shared or key in told:
                continue
            called = deployment.members_by_network_name.get(key, ())
            own = tuple(one for one in called if one in deployment.members)
            if own:
                told.add(key)
                others = tuple(one for one in called if one not in own)
                yield NameInUse(member=member, name=name, where=where, network=network, own=own, others=others)


def _uses(deployment: Deployment) -> Iterator[tuple[Member, str, Location]]:
    for broker in deployment.serving:
        for entry in broker.config.advertised_listeners:
            where = broker.place("advertised.listeners", entry.host_start, entry.host_end)
            yield broker.member, entry.endpoint.host, where
        for setting in _QUORUM:
            for host in _hosts(broker.config.value(setting) or ""):
                yield broker.member, host, broker.place(setting)
    for client in deployment.clients:
        for address in client.bootstraps if client.active and client.certain else ():
            yield client.member, address.host, client.declared.at(address.start, address.end)


def _hosts(value: str) -> Iterator[str]:
    """The hosts of a list of `host:port`, each perhaps behind an id."""
    for item in value.partition("/")[0].split(","):
        host = item.strip().rpartition("@")[2].rpartition(":")[0]
        if host:
            yield host
