"""What becomes of requests between the services beside the brokers: the groups they form, and who reaches whom.

The same two hops as for brokers: a worker asks the broker which URL the leader has registered, then connects to it.
Contract: services stand in one group only where both the group id and the Kafka cluster are known to be the same.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from netdiag.deployment.clients import accepting_listener
from netdiag.deployment.model.deployment import Broker, Deployment, RestNeighbour, Surroundings
from netdiag.deployment.model.vantage import container_vantage
from netdiag.deployment.model.verdict import Failed
from netdiag.deployment.prediction.client_namespace import resolve, why_nameless
from netdiag.deployment.prediction.cluster import cluster_of
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.deployment.sources.client_settings import parse_bootstrap_list
from netdiag.kafka.broker_config import BrokerConfig
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import Setting
from netdiag.kafka.listeners import is_loopback
from netdiag.kafka.rest_services import BOOTSTRAP_PROPERTY, AdvertisedUrl, RestService
from netdiag.values import dataclass

# More services than anybody runs on one machine, since every two of a group are tried; addresses of one of them.
_MOST = 50
_MOST_ADDRESSES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """A request that `source` forwards to the URL of `target`, and why it does not arrive there."""

    source: RestNeighbour
    target: RestNeighbour
    url: AdvertisedUrl
    because: str


class Neighbourhood:
    """The services beside the brokers of a deployment; what is looked up often is found once."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.asked = frozenset(one.name for one in deployment.neighbours)
        self._clusters: dict[str, frozenset[str]] = {}

    @cached_property
    def members(self) -> tuple[RestNeighbour, ...]:
        """Those that run: first those that are asked about, then those of their surroundings."""
        found = (*self.deployment.neighbours, *self.deployment.surroundings.neighbours)
        return tuple(one for one in found if self.deployment.is_running(one.member))[:_MOST]

    @cached_property
    def view(self) -> Deployment:
        """The deployment in which these services stand as brokers do, so that connections lead to their listeners."""
        around = self.deployment.surroundings
        brokers = tuple(map(_as_broker, self.deployment.neighbours))
        others = tuple(map(_as_broker, around.neighbours))
        standing = {broker.name for broker in (*brokers, *others)}
        return replace(
            self.deployment,
            brokers=(*self.deployment.brokers, *brokers),
            others=tuple(member for member in self.deployment.others if member.name not in standing),
            surroundings=Surroundings(
                brokers=(*around.brokers, *others),
                others=tuple(member for member in around.others if member.name not in standing),
            ),
        )

    def group_of(self, neighbour: RestNeighbour) -> tuple[RestNeighbour, ...]:
        """The others of its group."""
        config = neighbour.config
        return tuple(
            other
            for other in self.members
            if other.name != neighbour.name
            and other.config.service is config.service
            and config.group is not None
            and other.config.group == config.group
            and self.share_cluster(neighbour, other)
        )

    def failing_forwards(self, target: RestNeighbour) -> tuple[Forward, ...]:
        """Every request of another member of its group that does not arrive at `target`."""
        url = target.config.advertised
        if url is None:
            return ()
        found = (self.why_not_arriving(other, target, url) for other in self.group_of(target))
        return tuple(one for one in found if one is not None)

    def earlier_workers(self, worker: RestNeighbour) -> Iterator[RestNeighbour]:
        """The Connect workers of its Kafka cluster that stand before it, or that are not asked about."""
        found = False
        for other in self.members:
            found = found or other.name == worker.name
            if other.name == worker.name or other.config.service is not RestService.CONNECT:
                continue
            if (not found or other.name not in self.asked) and self.share_cluster(worker, other):
                yield other

    def share_cluster(self, one: RestNeighbour, other: RestNeighbour) -> bool:
        """Whether two services provably use one Kafka cluster."""
        return bool(self._cluster(one) & self._cluster(other))

    def why_not_arriving(self, source: RestNeighbour, target: RestNeighbour, url: AdvertisedUrl) -> Forward | None:
        """The request of `source` to a URL that does not arrive at `target`; None where it does, or nobody can tell."""
        vantage = container_vantage(source.member)
        resolution = resolve(self.view, vantage, url.host)
        if not isinstance(resolution, tuple):
            because = why_nameless(self.view, vantage, url.host)
            return Forward(source=source, target=target, url=url, because=because) if because else None
        end = connect(self.view, vantage, resolution[0], url.port)
        if isinstance(end, Failed):
            return Forward(source=source, target=target, url=url, because=end.because)
        if not isinstance(end, Accepted) or end.broker.name == target.name:
            return None
        name = end.broker.name
        because = f"in {name}, that is {name} itself" if name == source.name else f"{name} answers there"
        return Forward(source=source, target=target, url=url, because=because)

    def _cluster(self, neighbour: RestNeighbour) -> frozenset[str]:
        known = self._clusters.get(neighbour.name)
        if known is None:
            known = self._clusters[neighbour.name] = _cluster_of(self.deployment, neighbour)
        return known


def _as_broker(neighbour: RestNeighbour) -> Broker:
    bound = neighbour.config.listeners if neighbour.config.entries else None
    listeners = Setting(name="listeners", value=bound, variable=None)
    config = BrokerConfig(family=ImageFamily.OTHER, version=None, settings={"listeners": listeners})
    return Broker(member=neighbour.member, config=config, declared={})


def _cluster_of(deployment: Deployment, neighbour: RestNeighbour) -> frozenset[str]:
    """What tells the Kafka cluster that a service uses: the brokers that its addresses lead to, else the addresses."""
    text = neighbour.config.value(BOOTSTRAP_PROPERTY[neighbour.config.service]) or ""
    vantage = container_vantage(neighbour.member)
    found: set[str] = set()
    for address in parse_bootstrap_list(text)[:_MOST_ADDRESSES]:
        landed = accepting_listener(deployment, vantage, address.host, address.port)
        if landed is not None:
            found |= {f"broker {broker.name}" for broker in cluster_of(deployment, landed.broker)}
        elif not is_loopback(address.host):
            found.add(f"{address.host.lower()}:{address.port}")
    return frozenset(found)
