"""The prediction: what a client would get at every vantage x bootstrap address, from declarations alone."""

from collections.abc import Iterable

from netdiag.deployment.cluster import metadata
from netdiag.deployment.delivery import Landed, deliver
from netdiag.deployment.member import Deployment
from netdiag.deployment.naming import Unmodelled, Unresolved, resolve
from netdiag.deployment.observations import Address, Answered, Contact, Failed, NodeEndpoint, Reason, Unknown
from netdiag.deployment.vantage import Vantage
from netdiag.deployment.verdict import Cell, judge

_PROTOCOL_FAILURES = {"SSL": Reason.TLS, "SASL_SSL": Reason.TLS, "SASL_PLAINTEXT": Reason.SASL}


def predict(
    deployment: Deployment,
    vantages: Iterable[Vantage],
    bootstraps: Iterable[Address],
    *,
    down: frozenset[str] = frozenset(),
) -> tuple[Cell, ...]:
    """One cell for every vantage x bootstrap address; `down` names the members that do not run.

    A plaintext client is assumed. Contacts are computed once per vantage and address.
    """
    addresses = tuple(bootstraps)
    cells: list[Cell] = []
    for vantage in vantages:
        client = _Client(deployment, vantage, down)
        for address in addresses:
            verdict = judge(client.contact(address), client.contact_endpoint)
            cells.append(Cell(vantage=vantage.label, bootstrap=address, predicted=verdict))
    return tuple(cells)


class _Client:
    """A client at one vantage; remembers what each address gave."""

    def __init__(self, deployment: Deployment, vantage: Vantage, down: frozenset[str]) -> None:
        self._deployment = deployment
        self._vantage = vantage
        self._down = down
        self._known: dict[Address, Contact] = {}

    def contact(self, address: Address) -> Contact:
        if address not in self._known:
            self._known[address] = predict_contact(self._deployment, self._vantage, address, down=self._down)
        return self._known[address]

    def contact_endpoint(self, endpoint: NodeEndpoint) -> Contact:
        return self.contact(endpoint.address)


def predict_contact(
    deployment: Deployment, vantage: Vantage, address: Address, *, down: frozenset[str] = frozenset()
) -> Contact:
    """What one connection from `vantage` to `address` would give."""
    resolution = resolve(deployment, vantage, address.host, down)
    if isinstance(resolution, Unresolved):
        return Failed(reason=Reason.UNRESOLVED, because=resolution.because)
    if isinstance(resolution, Unmodelled):
        return Unknown(because=resolution.because)
    contacts = [
        _contact_at(deployment, deliver(deployment, vantage, target, address.port, down), down) for target in resolution
    ]
    if len({_identity(contact) for contact in contacts}) > 1:
        return Unknown(because=f'"{address.host}" stands for {len(contacts)} addresses that lead to different places')
    return contacts[0]


def _identity(contact: Contact) -> object:
    return (contact.node_id, contact.listener) if isinstance(contact, Answered) else contact


def _contact_at(deployment: Deployment, delivery: Landed | Failed | Unmodelled, down: frozenset[str]) -> Contact:
    if isinstance(delivery, Failed):
        return delivery
    if isinstance(delivery, Unmodelled):
        return Unknown(because=delivery.because)
    broker, name = delivery.broker, delivery.entry.endpoint.listener
    protocol = broker.config.protocol_map.get(name)
    if protocol is None:
        return Unknown(because=f"{name} of {broker.name} has no security protocol")
    if protocol in _PROTOCOL_FAILURES:
        because = f"{name} of {broker.name} speaks {protocol}"
        return Failed(reason=_PROTOCOL_FAILURES[protocol], because=because)
    if name in broker.config.controller_names:
        because = f"{name} of {broker.name} is a KRaft controller listener, which serves no clients"
        return Failed(reason=Reason.NOT_KAFKA, because=because)
    brokers = metadata(deployment, broker, name, down)
    if isinstance(brokers, Unmodelled):
        return Unknown(because=brokers.because)
    return Answered(
        node_id=broker.config.node_id,
        cluster_id=f"{broker.config.quorum} {broker.config.cluster_id or ''}",
        brokers=brokers,
        listener=name,
        because=f"{broker.name} answers on {name}",
    )
