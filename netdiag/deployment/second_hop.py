"""Where a client is sent after it has entered through a listener: the endpoints it is told, and what each is worth."""

from dataclasses import dataclass

from netdiag.deployment.clients import failure, landing
from netdiag.deployment.delivery import Landed
from netdiag.deployment.entrants import advertised_of, other_brokers
from netdiag.deployment.member import Broker, Deployment
from netdiag.deployment.vantage import Vantage
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import ListenerEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
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


def told_endpoints(deployment: Deployment, landed: Landed) -> tuple[tuple[Broker, ListenerEntry], ...]:
    """What the brokers of the cluster advertise on the listener that a client entered through."""
    name = landed.entry.endpoint.listener
    brokers = (landed.broker, *other_brokers(deployment, landed.broker))
    return tuple((broker, entry) for broker in brokers if (entry := advertised_of(broker, name)))


def sent_to(deployment: Deployment, vantage: Vantage, landed: Landed) -> tuple[Sent, ...]:
    """What becomes of a client at each endpoint that it is told."""
    return tuple(_sent(deployment, vantage, broker, entry) for broker, entry in told_endpoints(deployment, landed))


def tells_nothing(deployment: Deployment, landed: Landed) -> bool:
    """Whether a client is told no broker at all, because nobody advertises the listener that it entered through."""
    config = landed.broker.config
    if landed.broker.is_configured_by_file or not config.is_readable or config.is_unknown("advertised.listeners"):
        return False
    # What a Redpanda does not advertise is redpanda-listener-mismatch.
    if landed.entry.endpoint.listener in config.controller_names or config.mode is Mode.REDPANDA:
        return False
    return not told_endpoints(deployment, landed)


def _sent(deployment: Deployment, vantage: Vantage, broker: Broker, entry: ListenerEntry) -> Sent:
    host, port = entry.endpoint.host, entry.endpoint.port
    if not host:
        return Sent(broker=broker, entry=entry, known=False)
    landed = landing(deployment, vantage, host, port)
    if landed is not None:
        because = "" if landed.broker is broker else f"{landed.broker.name} answers there"
        return Sent(broker=broker, entry=entry, because=because)
    because = failure(deployment, vantage, host, port) or ""
    return Sent(broker=broker, entry=entry, because=because, known=bool(because))
