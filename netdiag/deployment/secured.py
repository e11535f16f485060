"""Which client meets which certificate: every listener with TLS, under every host that it is connected to by.

Clients connect to a bootstrap address first, and to the advertised endpoint of each broker then. Brokers are clients
of the inter-broker listener. Who stands in no file may come, too, and is expected to check names.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, accepting_listener, attempts
from netdiag.deployment.model.deployment import Broker, Deployment, ListenerIdentity
from netdiag.deployment.prediction.listener_access import advertised_of, other_brokers
from netdiag.kafka.listeners import ListenerEntry
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
        identity = next((one for one in landed.broker.identities if one.listener == listener), None)
        if identity is not None:
            yield TlsAttempt(attempt=attempt, broker=landed.broker, identity=identity)


def is_between_brokers(deployment: Deployment, broker: Broker, listener: str) -> bool:
    """Whether other brokers of the cluster connect to this listener."""
    return broker.config.inter_broker_listener == listener and bool(other_brokers(deployment, broker))
