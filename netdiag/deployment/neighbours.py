"""What becomes of requests between the services beside the brokers: the groups they form, and who reaches whom.

The same two hops as for brokers: a worker asks the broker which URL the leader has registered, then connects to it.
Contract: services stand in one group only where both the group id and the Kafka cluster are known to be the same.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

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

# More services of one kind than anybody runs on one machine; every pair of a group is tried.
_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """A request that `source` forwards to the URL of `target`, and why it does not arrive there.

    `arrives_at` is the neighbour that answers instead, where one does.
    """

    source: RestNeighbour
    target: RestNeighbour
    url: AdvertisedUrl
    because: str
    arrives_at: str = ""


def neighbours_in_reach(deployment: Deployment) -> tuple[RestNeighbour, ...]:
    """Those that are asked about, then those of their surroundings."""
    found = (*deployment.neighbours, *deployment.surroundings.neighbours)
    return tuple(one for one in found if deployment.is_running(one.member))[:_MOST]


def failing_forwards(deployment: Deployment, target: RestNeighbour) -> tuple[Forward, ...]:
    """Every request of another member of its group that does not arrive at `target`."""
    url = target.config.advertised
    if url is None:
        return ()
    others = group_of(deployment, target)
    view = with_rest_listeners(deployment) if others else deployment
    found = (_forward(view, other, target, url) for other in others)
    return tuple(one for one in found if one is not None)


def group_of(deployment: Deployment, neighbour: RestNeighbour) -> tuple[RestNeighbour, ...]:
    """The others of its group."""
    config = neighbour.config
    return tuple(
        other
        for other in neighbours_in_reach(deployment)
        if other.name != neighbour.name
        and other.config.service is config.service
        and config.group is not None
        and other.config.group == config.group
        and share_cluster(deployment, neighbour, other)
    )


def pairs_of_connect(deployment: Deployment) -> Iterator[tuple[RestNeighbour, RestNeighbour]]:
    """Workers of one Kafka cluster by two, the first of which is asked about."""
    workers = [one for one in neighbours_in_reach(deployment) if one.config.service is RestService.CONNECT]
    asked = {one.name for one in deployment.neighbours}
    for one, other in permutations(workers, 2):
        if one.name in asked and share_cluster(deployment, one, other):
            yield one, other


def share_cluster(deployment: Deployment, one: RestNeighbour, other: RestNeighbour) -> bool:
    """Whether two services provably use one Kafka cluster."""
    mine, others = _clusters(deployment, one), _clusters(deployment, other)
    return bool(mine & others)


def with_rest_listeners(deployment: Deployment) -> Deployment:
    """The deployment in which these services stand as brokers do, so that what leads to a listener leads to them."""
    asked = tuple(_as_broker(one) for one in deployment.neighbours)
    around = tuple(_as_broker(one) for one in deployment.surroundings.neighbours)
    standing = {broker.name for broker in (*asked, *around)}
    return replace(
        deployment,
        brokers=(*deployment.brokers, *asked),
        others=tuple(member for member in deployment.others if member.name not in standing),
        surroundings=Surroundings(
            brokers=(*deployment.surroundings.brokers, *around),
            others=tuple(member for member in deployment.surroundings.others if member.name not in standing),
        ),
    )


def why_not_arriving(view: Deployment, source: RestNeighbour, target: RestNeighbour, url: AdvertisedUrl) -> str | None:
    """Why a request to a URL does not arrive at `target`; None where it does, or nobody can tell."""
    forward = _forward(view, source, target, url)
    return forward.because if forward else None


def _as_broker(neighbour: RestNeighbour) -> Broker:
    listeners = Setting(
        name="listeners", value=neighbour.config.listeners if neighbour.config.entries else None, variable=None
    )
    config = BrokerConfig(family=ImageFamily.OTHER, version=None, settings={"listeners": listeners})
    return Broker(member=neighbour.member, config=config, declared={})


def _forward(view: Deployment, source: RestNeighbour, target: RestNeighbour, url: AdvertisedUrl) -> Forward | None:
    vantage = container_vantage(source.member)
    resolution = resolve(view, vantage, url.host)
    if not isinstance(resolution, tuple):
        because = why_nameless(view, vantage, url.host)
        return Forward(source=source, target=target, url=url, because=because) if because else None
    end = connect(view, vantage, resolution[0], url.port)
    if isinstance(end, Failed):
        return Forward(source=source, target=target, url=url, because=end.because)
    if not isinstance(end, Accepted) or end.broker.name == target.name:
        return None
    name = end.broker.name
    because = f"in {name}, that is {name} itself" if name == source.name else f"{name} answers there"
    return Forward(source=source, target=target, url=url, because=because, arrives_at=name)


def _clusters(deployment: Deployment, neighbour: RestNeighbour) -> frozenset[str]:
    """What tells the Kafka cluster that a service uses: the brokers that its addresses lead to, else the addresses."""
    text = neighbour.config.value(BOOTSTRAP_PROPERTY[neighbour.config.service]) or ""
    vantage = container_vantage(neighbour.member)
    found: set[str] = set()
    for address in parse_bootstrap_list(text):
        landed = accepting_listener(deployment, vantage, address.host, address.port)
        if landed is not None:
            found |= {f"broker {broker.name}" for broker in cluster_of(deployment, landed.broker)}
        elif not is_loopback(address.host):
            found.add(f"{address.host.lower()}:{address.port}")
    return frozenset(found)
