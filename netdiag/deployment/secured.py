"""Which client meets which certificate: every listener with TLS, under every host that it is connected to by.

Clients connect to a bootstrap address first, and to the advertised endpoint of each broker then. Brokers are clients
of the inter-broker listener. Who stands in no file may come, too, and is expected to check names.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, accepting_listener, attempts
from netdiag.deployment.model.deployment import Broker, DeclaredStore, Deployment, ListenerIdentity, ListenerLogin
from netdiag.deployment.prediction.listener_access import advertised_of, other_brokers
from netdiag.findings import Location
from netdiag.kafka.client_properties import ClientProperties
from netdiag.kafka.listeners import ListenerEntry, Voter
from netdiag.kafka.security import OpenedStore, TrustAnchor
from netdiag.values import dataclass

TLS = ("SSL", "SASL_SSL")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvertisedIdentity:
    """A listener whose certificate is known, and the endpoint at which clients meet it."""

    broker: Broker
    identity: ListenerIdentity
    entry: ListenerEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsAttempt:
    """A declared client that uses TLS, and the listener that its bootstrap address leads to."""

    attempt: Attempt
    broker: Broker
    identity: ListenerIdentity

    @property
    def checks_names(self) -> bool:
        """Whether the client compares hosts with the names in certificates."""
        security = self.attempt.client.security
        return security is None or security.properties.checks_names


def advertised_identities(deployment: Deployment) -> Iterator[AdvertisedIdentity]:
    """Every listener of a broker whose key store could be opened, where it is advertised."""
    for broker in deployment.configured:
        for identity in broker.identities:
            entry = advertised_of(broker, identity.listener)
            if entry is not None and has_certificate(identity):
                yield AdvertisedIdentity(broker=broker, identity=identity, entry=entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerIdentity:
    """A controller whose certificate is known, and the voter that it is to all other nodes."""

    broker: Broker
    identity: ListenerIdentity
    voter: Voter


def controller_identities(deployment: Deployment) -> Iterator[ControllerIdentity]:
    """Every controller with TLS that names itself among the voters."""
    for broker in deployment.configured:
        config = broker.config
        voter = next((one for one in config.well_formed_voters if one.node_id == config.node_id), None)
        identity = identity_of(broker, config.controller_names[0]) if config.controller_names else None
        if voter is not None and identity is not None and has_certificate(identity):
            yield ControllerIdentity(broker=broker, identity=identity, voter=voter)


def has_certificate(identity: ListenerIdentity) -> bool:
    """Whether the certificate that a listener shows is known."""
    opened = identity.keystore.opened if identity.keystore else None
    return opened is not None and bool(opened.chain)


def tls_attempts(deployment: Deployment) -> Iterator[TlsAttempt]:
    """Every declared client that uses TLS, at each of its bootstrap addresses that leads to such a listener."""
    for attempt in attempts(deployment):
        if attempt.client.protocol not in (None, *TLS):
            continue
        landed = accepting_listener(deployment, attempt.vantage, attempt.address.host, attempt.address.port)
        if landed is None:
            continue
        listener = landed.entry.endpoint.listener
        identity = identity_of(landed.broker, listener)
        if identity is not None:
            yield TlsAttempt(attempt=attempt, broker=landed.broker, identity=identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginAttempt:
    """A declared client that logs in, and the listener that its bootstrap address leads to."""

    attempt: Attempt
    broker: Broker
    login: ListenerLogin
    properties: ClientProperties


def login_attempts(deployment: Deployment) -> Iterator[LoginAttempt]:
    """Every declared client whose login is known, at each of its bootstrap addresses that leads to such a listener."""
    for attempt in attempts(deployment):
        security = attempt.client.security
        if security is None or not security.properties.mechanism:
            continue
        landed = accepting_listener(deployment, attempt.vantage, attempt.address.host, attempt.address.port)
        if landed is None or attempt.client.protocol != landed.broker.config.protocol_map.get(
            landed.entry.endpoint.listener
        ):
            continue
        listener = landed.entry.endpoint.listener
        login = login_of(landed.broker, listener)
        if login is not None:
            yield LoginAttempt(attempt=attempt, broker=landed.broker, login=login, properties=security.properties)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """A client, declared or a broker itself, and the certificate that it is shown; `attempt` is None for a broker."""

    client: str
    where: Location
    truststore: DeclaredStore | None
    broker: Broker
    identity: ListenerIdentity
    attempt: Attempt | None = None

    @property
    def shown(self) -> OpenedStore | None:
        """The key store whose certificate is shown, where it could be opened."""
        return self.identity.keystore.opened if self.identity.keystore else None

    def anchored(self, deployment: Deployment) -> TrustAnchor:
        """Where the chain leads to in the client's trust store."""
        trusted = self.truststore.opened if self.truststore else None
        if self.shown is None or trusted is None:
            return TrustAnchor.NOT_ASKED
        return deployment.trust.anchors.get((self.shown, trusted), TrustAnchor.NOT_ASKED)


def meetings(deployment: Deployment) -> Iterator[Meeting]:
    """Every declared client at every broker that its listener leads to, and brokers at one another and themselves."""
    for one in tls_attempts(deployment):
        security = one.attempt.client.security
        for broker in (one.broker, *other_brokers(deployment, one.broker)):
            identity = identity_of(broker, one.identity.listener)
            if identity is not None:
                yield Meeting(
                    client=one.attempt.member.name,
                    where=one.attempt.where,
                    truststore=security.truststore if security else None,
                    broker=broker,
                    identity=identity,
                    attempt=one.attempt,
                )
    for broker in deployment.configured:
        own = identity_of(broker, broker.config.inter_broker_listener)
        for other in (broker, *other_brokers(deployment, broker)) if own is not None else ():
            identity = identity_of(other, other.config.inter_broker_listener)
            if own is not None and own.truststore is not None and identity is not None:
                yield Meeting(
                    client=broker.name,
                    where=own.truststore.where,
                    truststore=own.truststore,
                    broker=other,
                    identity=identity,
                )


def login_of(broker: Broker, listener: str) -> ListenerLogin | None:
    """What a listener of a broker asks of clients, where it uses SASL."""
    return next((one for one in broker.logins if one.listener == listener), None)


def identity_of(broker: Broker, listener: str) -> ListenerIdentity | None:
    """What a listener of a broker shows, where it uses TLS."""
    return next((one for one in broker.identities if one.listener == listener), None)


def is_between_brokers(deployment: Deployment, broker: Broker, listener: str) -> bool:
    """Whether other brokers of the cluster connect to this listener."""
    return broker.config.inter_broker_listener == listener and bool(other_brokers(deployment, broker))
