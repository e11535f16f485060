"""What becomes of the declared clients: each address of a bootstrap list, tried from the client's container.

Contract: an `Attempt` is an address whose client stands where the model can say something. The rules about clients
divide the attempts among themselves, so that each is reported by one of them. Behind the bootstrap address, the first
hop, are the endpoints that the listener advertises, the second.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from netdiag.deployment.model.deployment import (
    BootstrapAddress,
    Broker,
    Deployment,
    KafkaClient,
    Member,
    NetworkMode,
    State,
)
from netdiag.deployment.model.vantage import Vantage, container_vantage
from netdiag.deployment.model.verdict import Address, Failed, Unknown
from netdiag.deployment.prediction.client_namespace import (
    HOST_ALIASES,
    MemberAddress,
    Undeclared,
    network_owner,
    resolve,
    why_nameless,
)
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.listener_access import advertised_of, other_brokers
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.findings import Location, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.families import runs_broker
from netdiag.kafka.listeners import SECURITY_PROTOCOLS, ListenerEntry
from netdiag.patterns import regex
from netdiag.values import dataclass

# Images that hold a broker, whatever command is given to them.
_HOLDS_BROKER = regex(r"(?:^|/)(?:[a-z-]*kafka(?:-native)?|cp-server|confluent-local|fast-data-dev|redpanda)(?:[:@]|$)")
_SAYS_KAFKA = regex(r"KAFKA|BOOTSTRAP|REDPANDA")
_REGISTRY = "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS"
_REGISTRY_PROTOCOL = "SCHEMA_REGISTRY_KAFKASTORE_SECURITY_PROTOCOL"
# Programs that speak PLAINTEXT unless their command line or a file named there says otherwise.
_PLAIN_TOOLS = regex(r"kafka-[a-z-]+|ksql-datagen")
# Services that are configured by their variables alone, and speak PLAINTEXT unless one of them says otherwise.
_PLAIN_SERVICES = {
    "CONNECT_BOOTSTRAP_SERVERS": re.compile(r"(?:^|/)cp-(?:kafka|server)-connect(?:-base)?(?:[:@]|$)"),
    "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS": re.compile(r"(?:^|/)cp-schema-registry(?:[:@]|$)"),
    "KSQL_BOOTSTRAP_SERVERS": re.compile(r"(?:^|/)(?:cp-)?ksqldb?-server(?:[:@]|$)"),
}
_SAYS_SECURITY = regex(r"SECURITY|SASL|SSL|TLS|JAAS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One address of a client's bootstrap list, tried from where the client stands."""

    client: KafkaClient
    vantage: Vantage
    entry: BootstrapAddress

    @property
    def address(self) -> Address:
        """What the client connects to."""
        return Address(host=self.entry.host, port=self.entry.port)

    @property
    def member(self) -> Member:
        """The container that connects."""
        return self.client.member

    @property
    def where(self) -> Location:
        """The address in the file."""
        return self.client.declared.at(self.entry.start, self.entry.end)


class UnresolvedName(Enum):
    """Why a name that stands in a bootstrap list means nothing in the client's container."""

    HOST_MODE = "one of the two uses the docker host's network"
    DEFAULT_BRIDGE = "one of the two is on the default bridge"
    NOT_SHARED = "they share no network"
    NOBODY = "no container has the name"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondHop:
    """An endpoint that a client is told: `because` is why it fails there, empty where it works.

    `known` is false where nobody can tell.
    """

    broker: Broker
    entry: ListenerEntry
    because: str = ""
    known: bool = True

    @property
    def works(self) -> bool:
        """Whether the client gets to the right broker."""
        return self.known and not self.because


def attempts(deployment: Deployment) -> Iterator[Attempt]:
    """Every bootstrap address that is for Kafka, of every client whose network can be told."""
    for attempt in _attempts(deployment, deployment.clients):
        if _is_for_kafka(deployment, attempt) and not is_overlooked_by_registry(attempt):
            yield attempt


def client_vantages(deployment: Deployment) -> Mapping[Vantage, str]:
    """Where the declared clients stand that run no broker, each with the security protocol that it speaks."""
    found: dict[Vantage, str] = {}
    for attempt in _active_attempts(deployment):
        found.setdefault(attempt.vantage, client_protocol(attempt) or "PLAINTEXT")
    return found


def client_addresses(deployment: Deployment) -> tuple[Address, ...]:
    """The addresses that these clients are given."""
    return tuple(dict.fromkeys(attempt.address for attempt in _active_attempts(deployment)))


def url_attempts(deployment: Deployment) -> Iterator[Attempt]:
    """Every URL of a service beside the brokers, of every client whose network can be told."""
    return _attempts(deployment, deployment.url_clients)


def _active_attempts(deployment: Deployment) -> Iterator[Attempt]:
    brokers = {broker.name for broker in deployment.brokers}
    return (a for a in attempts(deployment) if a.client.active and a.member.name not in brokers)


def overlooked_by_registry(deployment: Deployment) -> Iterator[Attempt]:
    """Every address that a schema registry leaves out of its list."""
    return (attempt for attempt in _attempts(deployment, deployment.clients) if is_overlooked_by_registry(attempt))


def is_overlooked_by_registry(attempt: Attempt) -> bool:
    """Whether a schema registry leaves the address out, because another protocol than its own stands before it."""
    protocol = registry_protocol(attempt)
    return protocol is not None and attempt.entry.scheme not in ("", protocol)


def registry_protocol(attempt: Attempt) -> str | None:
    """The security protocol of a schema registry that is configured by its variables alone."""
    if attempt.client.setting != _REGISTRY or attempt.member.mounts:
        return None
    protocol = attempt.member.variables.get(_REGISTRY_PROTOCOL, "").strip() or "PLAINTEXT"
    return protocol if protocol in SECURITY_PROTOCOLS else None


def waiting_attempts(deployment: Deployment) -> Iterator[Attempt]:
    """Every address with a broker's name that some container only waits for."""
    for attempt in _attempts(deployment, deployment.waiting):
        if names_broker(deployment, attempt.address.host):
            yield attempt


def health_check_attempts(deployment: Deployment) -> Iterator[Attempt]:
    """Every address that a broker's health check asks."""
    return _attempts(deployment, deployment.health_checks)


def severity_of(deployment: Deployment, attempt: Attempt) -> Severity:
    """An error; a warning where the client may be inactive, or has another address that a broker answers at."""
    if not attempt.client.active:
        return Severity.WARNING
    others = (a for a in attempt.client.bootstraps if (a.host, a.port) != (attempt.address.host, attempt.address.port))
    spare = any(accepting_listener(deployment, attempt.vantage, a.host, a.port) for a in others)
    return Severity.WARNING if spare else Severity.ERROR


def accepting_listener(deployment: Deployment, vantage: Vantage, host: str, port: int) -> Accepted | None:
    """The listener that a connection ends at; None where it fails or nobody can tell."""
    resolution = resolve(deployment, vantage, host)
    if isinstance(resolution, Failed | Unknown) or len(resolution) > 1:
        return None
    delivery = connect(deployment, vantage, resolution[0], port)
    return delivery if isinstance(delivery, Accepted) else None


def why_failing(deployment: Deployment, vantage: Vantage, host: str, port: int) -> str | None:
    """Why a connection provably fails; None where it does not, or nobody can tell."""
    resolution = resolve(deployment, vantage, host)
    if not isinstance(resolution, tuple):
        return None if _may_be_known_elsewhere(deployment, host) else why_nameless(deployment, vantage, host)
    ends = [connect(deployment, vantage, target, port) for target in resolution]
    failed = [end.because for end in ends if isinstance(end, Failed)]
    return failed[0] if len(failed) == len(ends) else None


def target_member(deployment: Deployment, attempt: Attempt) -> Member | None:
    """The one member that the host of an attempt leads to."""
    resolution = resolve(deployment, attempt.vantage, attempt.address.host)
    if isinstance(resolution, Failed | Unknown):
        return None
    match resolution:
        case (MemberAddress() as only,):
            return deployment.by_name[only.member]
        case _:
            return None


def why_unresolved(deployment: Deployment, attempt: Attempt) -> UnresolvedName | None:
    """Why the host of an attempt does not resolve; None where it does, or nobody can tell."""
    host = attempt.address.host
    if not isinstance(resolve(deployment, attempt.vantage, host), Failed | Undeclared) or host in HOST_ALIASES:
        return None
    if host in attempt.member.links or host in deployment.missing_services or is_inactive(deployment, host):
        return None
    if not attempt.client.active and host in attempt.member.extra_hosts:
        return None
    mode = network_owner(deployment, attempt.member).mode
    called = members_called(deployment, host)
    modes = {network_owner(deployment, member).mode for member in called}
    if not called:
        # Not every container of a running client's networks need be shown.
        elsewhere = "." in host or mode is NetworkMode.HOST or attempt.member.state is not State.DECLARED
        return None if elsewhere else UnresolvedName.NOBODY
    if mode is NetworkMode.HOST or modes == {NetworkMode.HOST}:
        return UnresolvedName.HOST_MODE
    if mode is NetworkMode.DEFAULT_BRIDGE or modes == {NetworkMode.DEFAULT_BRIDGE}:
        return UnresolvedName.DEFAULT_BRIDGE
    shared = any(member.on(a.network) for member in called for a in attempt.member.attachments)
    own = {member.mode for member in called}
    # A name of a shared network that does not resolve is that of a container that has stopped.
    return UnresolvedName.NOT_SHARED if own == {NetworkMode.NETWORKS} and not shared else None


def members_called(deployment: Deployment, host: str) -> tuple[Member, ...]:
    """The members that have a name anywhere, on a network or not."""
    return deployment.members_by_any_name.get(host, ())


def is_inactive(deployment: Deployment, host: str) -> bool:
    """Whether a name is that of a member whose profile is not switched on."""
    return any(host in member.all_names for member in deployment.inactive_members)


def names_broker(deployment: Deployment, host: str) -> bool:
    """Whether a name is that of a broker, on whatever network."""
    return any(deployment.broker(member.name) for member in members_called(deployment, host))


def holds_broker(member: Member) -> bool:
    """Whether a member may run a broker although nothing shows how: it has such an image, or is built from here."""
    if not member.image:
        return re.search(r"kafka|broker|redpanda", member.name) is not None
    return _HOLDS_BROKER.search(member.image) is not None


def runs_only_tools(attempt: Attempt) -> bool:
    """Whether a client uses a broker's image for Kafka's tools alone: its command is another, it has no listeners."""
    client = attempt.member
    listeners = any(name.upper().endswith("LISTENERS") for name in client.variables)
    return bool(attempt.client.tool) and runs_broker(client.image, "") and not listeners


def usable_address(deployment: Deployment, attempt: Attempt, brokers: tuple[Broker, ...] = ()) -> Address | None:
    """An address at which both hops end at one listener, of one of `brokers` or of any of the first few."""
    for broker in brokers or deployment.serving[:8]:
        host = broker.member.service or broker.name
        for entry in broker.config.broker_listeners:
            advertised = advertised_of(broker, entry.endpoint.listener)
            if advertised is None:
                continue
            first = accepting_listener(deployment, attempt.vantage, host, entry.endpoint.port)
            second = accepting_listener(deployment, attempt.vantage, advertised.endpoint.host, advertised.endpoint.port)
            if all(end and end.broker is broker and end.entry == entry for end in (first, second)):
                return Address(host=host, port=entry.endpoint.port)
    return None


def clients_entering(deployment: Deployment, broker: Broker, listener: str) -> tuple[KafkaClient, ...]:
    """The clients shown in the same files whose bootstrap lands on this listener of this broker."""
    return tuple(
        client
        for client in deployment.clients
        if any(
            _enters(deployment, client.member, address.host, address.port, broker, listener)
            for address in client.bootstraps
        )
    )


def client_protocol(attempt: Attempt) -> str | None:
    """The security protocol that a client declares, or is known to speak while nothing is declared."""
    client = attempt.client
    if client.protocol is not None:
        return client.protocol
    if client.tool:
        plain = _PLAIN_TOOLS.fullmatch(client.tool) is not None and not client.configured
        return "PLAINTEXT" if plain else None
    image = _PLAIN_SERVICES.get(client.setting)
    if image is None or not image.search(attempt.member.image) or attempt.member.mounts:
        return None
    says = any(_SAYS_SECURITY.search(name.upper()) for name in attempt.member.variables)
    return None if says else "PLAINTEXT"


def listener_protocol(landed: Accepted) -> str | None:
    """The security protocol of the listener that a client has entered; None where that is unknown."""
    return landed.broker.config.protocol_map.get(landed.entry.endpoint.listener)


def advertised_endpoints(deployment: Deployment, landed: Accepted) -> tuple[tuple[Broker, ListenerEntry], ...]:
    """What the brokers of the cluster advertise on the listener that a client entered through."""
    name = landed.entry.endpoint.listener
    brokers = (landed.broker, *other_brokers(deployment, landed.broker))
    return tuple((broker, entry) for broker in brokers if (entry := advertised_of(broker, name)))


def second_hops(deployment: Deployment, vantage: Vantage, landed: Accepted) -> tuple[SecondHop, ...]:
    """What becomes of a client at each endpoint that it is told."""
    return tuple(
        _second_hop(deployment, vantage, broker, entry) for broker, entry in advertised_endpoints(deployment, landed)
    )


def advertises_nothing(deployment: Deployment, landed: Accepted) -> bool:
    """Whether a client is told no broker at all, because nobody advertises the listener that it entered through."""
    config = landed.broker.config
    if landed.broker.is_configured_by_file or not config.is_readable or config.is_unknown("advertised.listeners"):
        return False
    # What a Redpanda does not advertise is redpanda-listener-mismatch.
    if landed.entry.endpoint.listener in config.controller_names or config.mode is Mode.REDPANDA:
        return False
    return not advertised_endpoints(deployment, landed)


def _attempts(deployment: Deployment, clients: Iterable[KafkaClient]) -> Iterator[Attempt]:
    for client in clients:
        mode = network_owner(deployment, client.member).mode
        if mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE, NetworkMode.HOST):
            continue
        vantage = container_vantage(client.member)
        for entry in client.bootstraps:
            yield Attempt(client=client, vantage=vantage, entry=entry)


def _is_for_kafka(deployment: Deployment, attempt: Attempt) -> bool:
    """Whether a list means Kafka: by its setting, or because a broker has the host or the port."""
    address, client = attempt.address, attempt.client
    if not client.certain:
        landed = accepting_listener(deployment, attempt.vantage, address.host, address.port)
        return landed is not None and landed.entry.endpoint.listener not in landed.broker.config.controller_names
    if _SAYS_KAFKA.search(client.setting.upper()) or client.tool or names_broker(deployment, address.host):
        return True
    ports = {entry.endpoint.port for broker in deployment.brokers for entry in broker.config.broker_listeners}
    published = {port.published for broker in deployment.brokers for port in broker.member.published}
    return address.port in ports | published


def _may_be_known_elsewhere(deployment: Deployment, host: str) -> bool:
    """Whether a name that nobody here has may be one of a public or company name server, or of Docker Desktop."""
    if members_called(deployment, host):
        return False
    return "." in host or is_inactive(deployment, host)


def _enters(deployment: Deployment, member: Member, host: str, port: int, broker: Broker, listener: str) -> bool:
    vantage = container_vantage(member)
    resolution = resolve(deployment, vantage, host)
    if isinstance(resolution, Failed | Unknown):
        return False
    delivery = connect(deployment, vantage, resolution[0], port)
    return isinstance(delivery, Accepted) and delivery.broker is broker and delivery.entry.endpoint.listener == listener


def _second_hop(deployment: Deployment, vantage: Vantage, broker: Broker, entry: ListenerEntry) -> SecondHop:
    host, port = entry.endpoint.host, entry.endpoint.port
    if not host:
        return SecondHop(broker=broker, entry=entry, known=False)
    landed = accepting_listener(deployment, vantage, host, port)
    if landed is not None:
        because = "" if landed.broker is broker else f"{landed.broker.name} answers there"
        return SecondHop(broker=broker, entry=entry, because=because)
    because = why_failing(deployment, vantage, host, port) or ""
    return SecondHop(broker=broker, entry=entry, because=because, known=bool(because))
