"""Relays that lead clients to a listener whose advertised addresses they cannot use, and where they should lead.

A relay serves those who have no other way to the broker: the docker host, where its port is published or it runs there,
and containers of networks that the broker is not on. What would help is tried in the model before it is told.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.clients import accepting_listener
from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode, Relay, RelayTarget
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, EndpointOutcome, Verdict, Word
from netdiag.deployment.prediction.listener_access import advertised_of
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.kafka.listeners import ListenerEntry
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayTrap:
    """Clients at `vantage` get an answer of `listener` through a relay, and cannot use the endpoint that it names.

    `better` is where the relay should lead, with the listener there; None where no listener of the broker helps.
    """

    relay: Relay
    vantage: Vantage
    bootstrap: Address
    broker: Broker
    listener: str
    endpoint: EndpointOutcome
    better: tuple[Address, ListenerEntry] | None


def relay_traps(deployment: Deployment) -> Iterator[RelayTrap]:
    """One for every relay that is a trap for those whom it serves."""
    for relay in deployment.relays:
        found = (_trap(deployment, relay, vantage, address) for vantage, address in _entrances(deployment, relay))
        yield from [trap for trap in found if trap is not None][:1]


def _trap(deployment: Deployment, relay: Relay, vantage: Vantage, address: Address) -> RelayTrap | None:
    landed = accepting_listener(deployment, vantage, address.host, address.port)
    if landed is None or relay not in landed.relays or _is_needless(landed, vantage):
        return None
    verdict = _verdict(deployment, vantage, address)
    failed = next((one for one in verdict.endpoints if one.outcome not in (Word.OK, Word.UNKNOWN)), None)
    if failed is None or verdict.word in (Word.OK, Word.PARTIAL, Word.UNKNOWN):
        return None
    return RelayTrap(
        relay=relay,
        vantage=vantage,
        bootstrap=address,
        broker=landed.broker,
        listener=landed.entry.endpoint.listener,
        endpoint=failed,
        better=_better(deployment, relay, vantage, address, landed),
    )


def _entrances(deployment: Deployment, relay: Relay) -> Iterator[tuple[Vantage, Address]]:
    """Where the clients of a relay stand, and the address that they use."""
    docker_host = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
    member = deployment.by_name.get(relay.member) if relay.member else None
    if member is None or member.mode is NetworkMode.HOST:
        yield docker_host, Address(host="localhost", port=relay.port)
        return
    for port in member.published:
        if port.target == relay.port and port.protocol == "tcp" and port.published and port.on_loopback:
            yield docker_host, Address(host="localhost", port=port.published)
    # Who publishes it does so for the docker host.
    for attachment in () if any(port.target == relay.port for port in member.published) else member.attachments:
        label = f"container on {attachment.network}"
        vantage = Vantage(kind=VantageKind.CONTAINER, label=label, networks=(attachment.network,))
        yield vantage, Address(host=member.service or member.name, port=relay.port)


def _is_needless(landed: Accepted, vantage: Vantage) -> bool:
    """Whether clients that stand there are on a network of the broker itself."""
    return any(landed.broker.member.on(network) for network in vantage.networks)


def _verdict(deployment: Deployment, vantage: Vantage, address: Address) -> Verdict:
    (cell,) = predict(deployment, [vantage], [address])
    assert cell.predicted is not None
    return cell.predicted


def _better(
    deployment: Deployment, relay: Relay, vantage: Vantage, address: Address, landed: Accepted
) -> tuple[Address, ListenerEntry] | None:
    """Another listener of the broker that serves the relay's clients, and its address for the relay."""
    if len(relay.targets) != 1 or relay != landed.relays[-1]:
        return None

    def is_elsewhere(entry: ListenerEntry) -> bool:
        advertised = advertised_of(landed.broker, entry.endpoint.listener)
        return advertised is None or (advertised.endpoint.host, advertised.endpoint.port) != (
            address.host,
            address.port,
        )

    # One that leads back through the relay comes first.
    for entry in sorted(landed.broker.config.broker_listeners, key=is_elsewhere):
        target = Address(host=relay.targets[0].address.host, port=entry.endpoint.port)
        led = replace(relay, targets=(RelayTarget(address=target),))
        relays = tuple(led if one == relay else one for one in deployment.relays)
        advertised = advertised_of(landed.broker, entry.endpoint.listener)
        if entry == landed.entry or advertised is None:
            continue
        if _verdict(replace(deployment, relays=relays), vantage, address).word is Word.OK:
            return target, advertised
    return None
