"""What becomes of the clients that the files show: each address of a bootstrap list, tried from its container.

Contract: an `Attempt` is an address whose client stands where the model can say something. The rules about
dependents divide the attempts among themselves, so that each is reported by one of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from netdiag.deployment.delivery import Landed, deliver
from netdiag.deployment.entrants import advertised_of
from netdiag.deployment.member import BootstrapAddress, Broker, Dependent, Deployment, Member, NetworkMode, State
from netdiag.deployment.naming import (
    HOST_ALIASES,
    MemberAddress,
    Unmodelled,
    Unresolved,
    network_owner,
    resolve,
)
from netdiag.deployment.observations import Address, Failed
from netdiag.deployment.vantage import Vantage, container_vantage
from netdiag.findings import Location, Severity
from netdiag.kafka.images.reference import runs_broker
from netdiag.kafka.listeners import SECURITY_PROTOCOLS

NOBODY: frozenset[str] = frozenset()

# Images that hold a broker, whatever command is given to them.
_HOLDS_BROKER = re.compile(
    r"(?:^|/)(?:[a-z-]*kafka(?:-native)?|cp-server|confluent-local|fast-data-dev|redpanda)(?:[:@]|$)"
)
_SAYS_KAFKA = re.compile(r"KAFKA|BOOTSTRAP|REDPANDA")

_REGISTRY = "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS"
_REGISTRY_PROTOCOL = "SCHEMA_REGISTRY_KAFKASTORE_SECURITY_PROTOCOL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One address of a client's bootstrap list, tried from where the client stands."""

    dependent: Dependent
    vantage: Vantage
    address: Address
    told: BootstrapAddress

    @property
    def client(self) -> Member:
        """The container that connects."""
        return self.dependent.member

    @property
    def where(self) -> Location:
        """The address in the file."""
        return self.dependent.declared.at(self.told.start, self.told.end)


class Nameless(Enum):
    """Why a name that stands in a bootstrap list means nothing in the client's container."""

    HOST_MODE = "one of the two uses the network of the docker host"
    DEFAULT_BRIDGE = "one of the two is on the default bridge"
    NOT_SHARED = "the two share no network"
    NOBODY = "no container has the name"


def attempts(deployment: Deployment) -> Iterator[Attempt]:
    """Every bootstrap address that is for Kafka, of every client whose network can be told."""
    for attempt in _attempts(deployment, deployment.dependents):
        if _is_for_kafka(deployment, attempt) and not is_overlooked(attempt):
            yield attempt


def overlooked(deployment: Deployment) -> Iterator[Attempt]:
    """Every address that a schema registry leaves out of its list."""
    return (attempt for attempt in _attempts(deployment, deployment.dependents) if is_overlooked(attempt))


def is_overlooked(attempt: Attempt) -> bool:
    """Whether a schema registry leaves the address out, because another protocol than its own stands before it."""
    protocol = registry_protocol(attempt)
    return protocol is not None and attempt.told.scheme not in ("", protocol)


def registry_protocol(attempt: Attempt) -> str | None:
    """The security protocol of a schema registry that is configured by its variables alone."""
    if attempt.dependent.setting != _REGISTRY or attempt.client.mounts:
        return None
    protocol = attempt.client.variables.get(_REGISTRY_PROTOCOL, "").strip() or "PLAINTEXT"
    return protocol if protocol in SECURITY_PROTOCOLS else None


def waits(deployment: Deployment) -> Iterator[Attempt]:
    """Every address with a broker's name that some container only waits for."""
    for attempt in _attempts(deployment, deployment.waiting):
        if names_broker(deployment, attempt.address.host):
            yield attempt


def health_checks(deployment: Deployment) -> Iterator[Attempt]:
    """Every address that a broker's health check asks."""
    return _attempts(deployment, deployment.health_checks)


def _attempts(deployment: Deployment, dependents: Iterable[Dependent]) -> Iterator[Attempt]:
    for dependent in dependents:
        mode = network_owner(deployment, dependent.member).mode
        if mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE, NetworkMode.HOST):
            continue
        vantage = container_vantage(dependent.member)
        for told in dependent.bootstraps:
            address = Address(host=told.host, port=told.port)
            yield Attempt(dependent=dependent, vantage=vantage, address=address, told=told)


def severity(deployment: Deployment, attempt: Attempt) -> Severity:
    """An error; a warning where the client may be inactive, or has another address that a broker answers at."""
    if not attempt.dependent.active:
        return Severity.WARNING
    others = (
        a for a in attempt.dependent.bootstraps if (a.host, a.port) != (attempt.address.host, attempt.address.port)
    )
    spare = any(landing(deployment, attempt.vantage, a.host, a.port) for a in others)
    return Severity.WARNING if spare else Severity.ERROR


def landing(deployment: Deployment, vantage: Vantage, host: str, port: int) -> Landed | None:
    """The listener that a connection ends at; None where it fails or nobody can tell."""
    resolution = resolve(deployment, vantage, host, NOBODY)
    if isinstance(resolution, Unresolved | Unmodelled) or len(resolution) > 1:
        return None
    delivery = deliver(deployment, vantage, resolution[0], port, NOBODY)
    return delivery if isinstance(delivery, Landed) else None


def failure(deployment: Deployment, vantage: Vantage, host: str, port: int) -> str | None:
    """Why a connection provably fails; None where it does not, or nobody can tell."""
    resolution = resolve(deployment, vantage, host, NOBODY)
    if isinstance(resolution, Unmodelled):
        return None
    if isinstance(resolution, Unresolved):
        return None if _may_be_known_elsewhere(deployment, host) else resolution.because
    ends = [deliver(deployment, vantage, target, port, NOBODY) for target in resolution]
    failed = [end.because for end in ends if isinstance(end, Failed)]
    return failed[0] if len(failed) == len(ends) else None


def target(deployment: Deployment, attempt: Attempt) -> Member | None:
    """The one member that the host of an attempt leads to."""
    resolution = resolve(deployment, attempt.vantage, attempt.address.host, NOBODY)
    if isinstance(resolution, Unresolved | Unmodelled):
        return None
    match resolution:
        case (MemberAddress() as only,):
            return deployment.by_name[only.member]
        case _:
            return None


def nameless(deployment: Deployment, attempt: Attempt) -> Nameless | None:
    """Why the host of an attempt does not resolve; None where it does, or nobody can tell."""
    host = attempt.address.host
    if not isinstance(resolve(deployment, attempt.vantage, host, NOBODY), Unresolved) or host in HOST_ALIASES:
        return None
    if host in attempt.client.links or host in deployment.absent or is_asleep(deployment, host):
        return None
    if not attempt.dependent.active and host in attempt.client.extra_hosts:
        return None
    mode = network_owner(deployment, attempt.client).mode
    called = members_called(deployment, host)
    modes = {network_owner(deployment, member).mode for member in called}
    if not called:
        # Not every container of a running client's networks need be shown.
        elsewhere = "." in host or mode is NetworkMode.HOST or attempt.client.state is not State.DECLARED
        return None if elsewhere else Nameless.NOBODY
    if mode is NetworkMode.HOST or modes == {NetworkMode.HOST}:
        return Nameless.HOST_MODE
    if mode is NetworkMode.DEFAULT_BRIDGE or modes == {NetworkMode.DEFAULT_BRIDGE}:
        return Nameless.DEFAULT_BRIDGE
    shared = any(member.on(a.network) for member in called for a in attempt.client.attachments)
    own = {member.mode for member in called}
    # A name of a shared network that does not resolve is that of a container that has stopped.
    return Nameless.NOT_SHARED if own == {NetworkMode.NETWORKS} and not shared else None


def members_called(deployment: Deployment, host: str) -> tuple[Member, ...]:
    """The members that have a name anywhere, on a network or not."""
    return deployment.known_as.get(host, ())


def is_asleep(deployment: Deployment, host: str) -> bool:
    """Whether a name is that of a member whose profile is not switched on."""
    return any(host in member.all_names for member in deployment.sleeping)


def names_broker(deployment: Deployment, host: str) -> bool:
    """Whether a name is that of a broker, on whatever network."""
    return any(deployment.broker(member.name) for member in members_called(deployment, host))


def holds_broker(member: Member) -> bool:
    """Whether a member may run a broker although nothing shows how: it has such an image, or is built from here."""
    if not member.image:
        return re.search(r"kafka|broker|redpanda", member.name) is not None
    return _HOLDS_BROKER.search(member.image) is not None


def runs_a_job(attempt: Attempt) -> bool:
    """Whether a client uses a broker's image for Kafka's tools alone: its command is another, it has no listeners."""
    client = attempt.client
    listeners = any(name.upper().endswith("LISTENERS") for name in client.variables)
    return bool(attempt.dependent.tool) and runs_broker(client.image, "") and not listeners


def usable_address(deployment: Deployment, attempt: Attempt, brokers: tuple[Broker, ...] = ()) -> Address | None:
    """An address at which both hops end at one listener, of one of `brokers` or of any of the first few."""
    for broker in brokers or deployment.serving[:8]:
        host = broker.member.service or broker.name
        for entry in broker.config.broker_listeners:
            told = advertised_of(broker, entry.endpoint.listener)
            if told is None:
                continue
            first = landing(deployment, attempt.vantage, host, entry.endpoint.port)
            second = landing(deployment, attempt.vantage, told.endpoint.host, told.endpoint.port)
            if all(end and end.broker is broker and end.entry == entry for end in (first, second)):
                return Address(host=host, port=entry.endpoint.port)
    return None


def _is_for_kafka(deployment: Deployment, attempt: Attempt) -> bool:
    """Whether a list means Kafka: by its setting, or because a broker has the host or the port."""
    address, dependent = attempt.address, attempt.dependent
    if not dependent.certain:
        landed = landing(deployment, attempt.vantage, address.host, address.port)
        return landed is not None and landed.entry.endpoint.listener not in landed.broker.config.controller_names
    if _SAYS_KAFKA.search(dependent.setting.upper()) or dependent.tool or names_broker(deployment, address.host):
        return True
    ports = {entry.endpoint.port for broker in deployment.brokers for entry in broker.config.broker_listeners}
    published = {port.published for broker in deployment.brokers for port in broker.member.published}
    return address.port in ports | published


def _may_be_known_elsewhere(deployment: Deployment, host: str) -> bool:
    """Whether a name that nobody here has may be one of a public or company name server, or of Docker Desktop."""
    if members_called(deployment, host):
        return False
    return "." in host or is_asleep(deployment, host)


def dependents_entering(deployment: Deployment, broker: Broker, listener: str) -> tuple[Dependent, ...]:
    """The clients shown in the same files whose bootstrap lands on this listener of this broker."""
    return tuple(
        dependent
        for dependent in deployment.dependents
        if any(
            _lands(deployment, dependent.member, address.host, address.port, broker, listener)
            for address in dependent.bootstraps
        )
    )


def _lands(deployment: Deployment, member: Member, host: str, port: int, broker: Broker, listener: str) -> bool:
    vantage = container_vantage(member)
    resolution = resolve(deployment, vantage, host, NOBODY)
    if isinstance(resolution, Unresolved | Unmodelled):
        return False
    delivery = deliver(deployment, vantage, resolution[0], port, NOBODY)
    return isinstance(delivery, Landed) and delivery.broker is broker and delivery.entry.endpoint.listener == listener
