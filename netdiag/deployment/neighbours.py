"""What becomes of requests to the services beside the brokers: the groups they form, who reaches whom, at which URL.

Between them the same two hops as for brokers: a worker asks the broker which URL the leader has registered, then
connects to it. Clients take one hop, to a URL that they are told. Contract: services stand in one group only where both
the group id and the Kafka cluster are known to be the same.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice

from netdiag.deployment.clients import Attempt, accepting_listener, holds_broker, url_attempts, why_unresolved
from netdiag.deployment.model.deployment import Broker, Deployment, Member, RestNeighbour, Surroundings
from netdiag.deployment.model.vantage import Vantage, container_vantage
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Contact,
    Failed,
    Mechanism,
    Reason,
    Unknown,
    Word,
    unresolved,
)
from netdiag.deployment.prediction.client_namespace import HostAddress, MemberAddress, Target, resolve, why_nameless
from netdiag.deployment.prediction.cluster import cluster_of
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.deployment.sources.client_settings import parse_bootstrap_list
from netdiag.findings import Location
from netdiag.kafka.broker_config import BrokerConfig
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import Setting
from netdiag.kafka.listeners import is_loopback, is_wildcard
from netdiag.kafka.rest_services import BOOTSTRAP_PROPERTY, AdvertisedUrl, RestService, is_oauth_url
from netdiag.values import dataclass

# More services than anybody runs on one machine, since every two of a group are tried; addresses of one of them.
_MOST = 50
_MOST_ADDRESSES = 10
# More URLs than anybody reads.
_MOST_URLS = 500
# What hangs on the sockets of a container: unknown where nothing says all that listens there.
_OF_SOCKETS = frozenset(
    {
        Mechanism.NOBODY_LISTENS,
        Mechanism.OWN_LOOPBACK,
        Mechanism.BOUND_TO_LOOPBACK,
        Mechanism.BOUND_TO_OTHER_ADDRESS,
        Mechanism.NO_IPV6_BINDING,
        Mechanism.PUBLISHED_TO_DEAD_PORT,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlCell:
    """What a member gets at a URL: at one that its `setting` tells it, or (then "") that another one advertises.

    `target` is the member that advertises it, or that the URL leads to; "" where none is known to. `where` is the place
    of the URL.
    """

    source: str
    setting: str
    scheme: str
    address: Address
    target: str
    where: Location
    predicted: Contact
    observed: Contact | None = None

    @property
    def url(self) -> str:
        """The URL without user, password and path."""
        return f"{self.scheme}://{self.address}"

    @property
    def agrees(self) -> bool | None:
        """Whether prediction and observation are the same; None where there are not both."""
        if self.observed is None:
            return None
        words = {url_outcome(self, self.predicted), url_outcome(self, self.observed)}
        return None if Word.UNKNOWN.value in words else len(words) == 1


def url_outcome(cell: UrlCell, contact: Contact) -> str:
    """What a contact is worth for a cell, in one word: "ok", "wrong-service", "not-http", another reason, "unknown"."""
    match contact:
        case Answered():
            return Word.OK.value if contact.member in ("", cell.target) else "wrong-service"
        case Failed():
            return "not-http" if contact.reason is Reason.NOT_KAFKA else contact.reason.value
        case _:
            return Word.UNKNOWN.value


def url_cells(deployment: Deployment) -> tuple[UrlCell, ...]:
    """What every member that is asked about gets at the URLs that it is told, and at those of the others of its group.

    At most 500 of them.
    """
    if not deployment.url_clients and not deployment.neighbours:
        return ()
    return tuple(islice(Neighbourhood(deployment).url_cells(), _MOST_URLS))


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

    def url_cells(self) -> Iterator[UrlCell]:
        """Those of clients first, in the order of the files."""
        for attempt in url_attempts(self.deployment):
            contact, meant = self.at_url(attempt)
            answered = contact.member if isinstance(contact, Answered) else ""
            yield UrlCell(
                source=attempt.member.name,
                setting=attempt.client.setting,
                scheme=attempt.entry.scheme,
                address=attempt.address,
                target=answered or (meant.name if meant else ""),
                where=attempt.where,
                predicted=contact,
            )
        for target in self.members:
            url = target.config.advertised
            replicas = target.member.replicas
            others = (*self.group_of(target), *([target] if replicas > 1 else []))
            for source in others if url else ():
                if url is None or source.name not in self.asked:
                    continue
                any_of = Unknown(because=f"any of the {replicas} replicas may answer") if replicas > 1 else None
                yield UrlCell(
                    source=source.name,
                    setting="",
                    scheme=url.scheme,
                    address=Address(host=url.host, port=url.port),
                    target=target.name,
                    where=target.place(url.host_property, url.host_start, url.host_end),
                    predicted=any_of or self.at_advertised(source, url),
                )

    def at_url(self, attempt: Attempt) -> tuple[Contact, RestNeighbour | None]:
        """What a client gets at a URL that it is told, and the service that is meant, where one is known to be."""
        view, host, port = self.view, attempt.address.host, attempt.address.port
        resolution = resolve(view, attempt.vantage, host)
        if not isinstance(resolution, tuple):
            if isinstance(resolution, Unknown) and why_unresolved(view, attempt) is not None:
                return unresolved(Mechanism.NO_SUCH_NAME, f'no container has the name "{host}"'), None
            return resolution, None
        contact = self._at(attempt.vantage, resolution, port, attempt.entry.scheme)
        if isinstance(contact, Answered):
            return contact, self._bound.get(contact.member)
        if is_loopback(host) or is_wildcard(host):
            return self._at_own_loopback(attempt, contact)
        match resolution:
            case (MemberAddress(member=name),) if name in self._bound:
                return contact, self._bound[name]
            case (MemberAddress(member=name),):
                return self._if_sockets_are_known(self.view.by_name[name], port, contact), None
            case (HostAddress(),) if port not in view.publishers_by_port:
                because = f"netdiag does not know what else listens on port {port} of the docker host"
                return Unknown(because=because), None
            case _:
                return contact, None

    def _at_own_loopback(self, attempt: Attempt, contact: Contact) -> tuple[Contact, RestNeighbour | None]:
        """What fails at the client's own loopback: certain where a service has the port, and nothing here may."""
        port = attempt.address.port
        meant = next((one for one in self._bound.values() if _may_be_meant(one, attempt, port)), None)
        is_hidden = holds_broker(attempt.member) and self.deployment.broker(attempt.member.name) is None
        serves = is_hidden or any(p.target == port for p in attempt.member.published)
        if meant is None or meant.name == attempt.member.name or serves:
            known = attempt.member.sockets is not None and isinstance(contact, Failed)
            if known and not any(number == port for _, number in attempt.member.sockets or ()):
                return contact, None
            because = f"netdiag does not know what else listens on port {port} of {attempt.member.name}"
            return Unknown(because=because), None
        return contact, meant

    def _if_sockets_are_known(self, member: Member, port: int, contact: Contact) -> Contact:
        """A contact with a member of which no configuration says all that listens there."""
        if not isinstance(contact, Failed) or contact.mechanism not in _OF_SOCKETS:
            return contact
        if member.sockets is not None and not any(number == port for _, number in member.sockets):
            return contact
        return Unknown(because=f"netdiag does not know what listens on port {port} of {member.name}")

    @cached_property
    def _bound(self) -> dict[str, RestNeighbour]:
        """The services whose listeners are known, by name."""
        everyone = (*self.deployment.neighbours, *self.deployment.surroundings.neighbours)
        return {one.name: one for one in everyone if one.config.entries}

    def _at(self, vantage: Vantage, targets: tuple[Target, ...], port: int, scheme: str) -> Contact:
        """Where a connection ends, and whether what listens there speaks HTTP as the scheme says."""
        ends = [connect(self.view, vantage, target, port) for target in targets]
        accepted = [end for end in ends if isinstance(end, Accepted)]
        if not accepted:
            unknown = next((end for end in ends if isinstance(end, Unknown)), None)
            return unknown or next(end for end in ends if isinstance(end, Failed))
        if len({end.broker.name for end in accepted}) > 1:
            return Unknown(because=f"several containers answer: {', '.join(end.broker.name for end in accepted)}")
        name, listener = accepted[0].broker.name, accepted[0].entry.endpoint.listener
        if name not in self._bound:
            because = f"{name} speaks Kafka there, on listener {listener}, and closes on HTTP"
            return Failed(reason=Reason.CLOSED, because=because, mechanism=Mechanism.NOT_KAFKA)
        spoken = listener.lower()
        if spoken in ("http", "https") and spoken != scheme:
            mechanism = Mechanism.TLS_EXPECTED if spoken == "https" else Mechanism.TLS_UNEXPECTED
            return Failed(reason=Reason.TLS, because=f"{name} speaks {listener} there", mechanism=mechanism)
        return Answered(node_id=None, cluster_id=None, because=f"{name} answers there", member=name)

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
        contact = self.at_advertised(source, url)
        match contact:
            case Answered() if contact.member != target.name:
                itself = contact.member == source.name
                because = f"in {source.name}, that is {source.name} itself" if itself else contact.because
            case Failed():
                because = contact.because
            case _:
                return None
        return Forward(source=source, target=target, url=url, because=because)

    def sharing(self, neighbour: RestNeighbour) -> tuple[RestNeighbour, ...]:
        """The others of its group that advertise the same URL, with a host that is a name of each of them."""
        url = neighbour.config.advertised
        if url is None or url.host not in neighbour.member.all_names:
            return ()
        return tuple(
            other
            for other in self.group_of(neighbour)
            if str(other.config.advertised) == str(url) and url.host in other.member.all_names
        )

    def at_advertised(self, source: RestNeighbour, url: AdvertisedUrl) -> Contact:
        """What a member of a group gets at a URL that another one advertises, whoever answers there."""
        vantage = container_vantage(source.member)
        resolution = resolve(self.view, vantage, url.host)
        if isinstance(resolution, tuple):
            return self._at(vantage, resolution, url.port, url.scheme)
        because = why_nameless(self.view, vantage, url.host)
        nameless = isinstance(resolution, Unknown) and because is not None
        return unresolved(Mechanism.NO_SUCH_NAME, because or "") if nameless else resolution

    def _cluster(self, neighbour: RestNeighbour) -> frozenset[str]:
        known = self._clusters.get(neighbour.name)
        if known is None:
            known = self._clusters[neighbour.name] = _cluster_of(self.deployment, neighbour)
        return known


def _may_be_meant(neighbour: RestNeighbour, attempt: Attempt, port: int) -> bool:
    """Whether a service is of the kind that the setting is for, and has the port, be it on the docker host."""
    gives_tokens = neighbour.config.service is RestService.KEYCLOAK
    published = (one.published for one in neighbour.member.published)
    return gives_tokens is is_oauth_url(attempt.client.setting) and port in (*ports_of(neighbour), *published)


def ports_of(neighbour: RestNeighbour) -> tuple[int, ...]:
    """The ports that a service binds, as far as its listeners are known."""
    return tuple(entry.endpoint.port for entry in neighbour.config.entries)


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
