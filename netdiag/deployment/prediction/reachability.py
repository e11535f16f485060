"""The prediction: what a client would get at every vantage x bootstrap address, from declarations alone."""

from collections.abc import Iterable

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Contact,
    EndpointOutcome,
    Failed,
    Mechanism,
    NodeEndpoint,
    Reason,
    Unknown,
    outcomes,
    weigh,
)
from netdiag.deployment.prediction.client_namespace import (
    ClientNamespace,
    MemberAddress,
    NamespaceKind,
    Target,
    client_namespace,
    resolve,
)
from netdiag.deployment.prediction.cluster import is_foreign, is_informed, named_brokers
from netdiag.deployment.prediction.connection import connect_from
from netdiag.deployment.prediction.shared_names import NamedContact, member_in_words, met_by_name
from netdiag.deployment.prediction.sockets import Accepted

# After these a client tries the next address of a name at once.
_TRY_NEXT_ADDRESS = (Reason.REFUSED, Reason.UNREACHABLE)


def predict(
    deployment: Deployment,
    vantages: Iterable[Vantage],
    bootstraps: Iterable[Address],
    *,
    speaks: str = "PLAINTEXT",
) -> tuple[Cell, ...]:
    """One cell for every vantage x bootstrap address.

    `speaks` is the client's security protocol; what a TLS or SASL listener of its kind says to its certificates and
    credentials is not known from declarations. Contacts are computed once per vantage and address.
    """
    addresses = tuple(bootstraps)
    answers = _Brokers(deployment, speaks)
    cells: list[Cell] = []
    for vantage in vantages:
        client = _Client(answers, vantage)
        for address in addresses:
            verdict = weigh(client.contact(address), client.outcomes)
            cells.append(Cell(vantage=vantage.label, bootstrap=address, predicted=verdict))
    return tuple(cells)


class _Brokers:
    """What the brokers of a deployment would answer, each asked once."""

    def __init__(self, deployment: Deployment, speaks: str) -> None:
        self.deployment = deployment
        self.speaks = speaks
        self._informed: dict[str, bool | Unknown] = {}
        self._named: dict[tuple[str, str], tuple[NodeEndpoint, ...] | Unknown] = {}
        self._answers: dict[tuple[NodeEndpoint, ...], tuple[NodeEndpoint, ...]] = {}
        self._neighbours: dict[tuple[object, ...], Contact] = {}
        self._foreign: dict[str, bool] = {}

    def contact(self, client: ClientNamespace, target: Target, port: int) -> Contact:
        """What one connection gives. Containers on the same networks get the same of a member that is none of them."""
        other = isinstance(target, MemberAddress) and (client.owner is None or client.owner.name != target.member)
        if not other or client.ground is not NamespaceKind.CONTAINER:
            return _contact_at(self, connect_from(self.deployment, client, target, port))
        key = (*(network.key for network in client.networks), target, port)
        if key not in self._neighbours:
            self._neighbours[key] = _contact_at(self, connect_from(self.deployment, client, target, port))
        return self._neighbours[key]

    def is_foreign(self, broker: Broker) -> bool:
        if broker.name not in self._foreign:
            self._foreign[broker.name] = is_foreign(self.deployment, broker)
        return self._foreign[broker.name]

    def named(self, broker: Broker, listener: str) -> tuple[NodeEndpoint, ...] | Unknown:
        key = (broker.name, listener)
        if key not in self._named:
            self._named[key] = self._name(broker, listener)
        return self._named[key]

    def _name(self, broker: Broker, listener: str) -> tuple[NodeEndpoint, ...] | Unknown:
        if broker.name not in self._informed:
            self._informed[broker.name] = is_informed(self.deployment, broker)
        informed = self._informed[broker.name]
        if isinstance(informed, Unknown):
            return informed
        named = named_brokers(self.deployment, broker, listener) if informed else ()
        # Equal answers are one object, by which clients know them without comparing every endpoint.
        return named if isinstance(named, Unknown) else self._answers.setdefault(named, named)


class _Client:
    """A client at one vantage; remembers what each address gave."""

    def __init__(self, answers: _Brokers, vantage: Vantage) -> None:
        self._answers = answers
        self._vantage = vantage
        self._namespace = client_namespace(answers.deployment, vantage)
        self._known: dict[Address, Contact] = {}
        self._outcomes: dict[tuple[str | None, int], tuple[EndpointOutcome, ...]] = {}

    def contact(self, address: Address) -> Contact:
        if address not in self._known:
            self._known[address] = _contact(self._answers, self._vantage, self._namespace, address)
        return self._known[address]

    def outcomes(self, answered: Answered) -> tuple[EndpointOutcome, ...]:
        key = (answered.cluster_id, id(answered.brokers))
        if key not in self._outcomes:
            self._outcomes[key] = tuple(outcomes(answered, lambda endpoint: self.contact(endpoint.address)))
        return self._outcomes[key]


def _contact(answers: _Brokers, vantage: Vantage, namespace: ClientNamespace, address: Address) -> Contact:
    """What one connection from `vantage` to `address` would give."""
    deployment = answers.deployment
    resolution = resolve(deployment, vantage, address.host)
    if not isinstance(resolution, tuple):
        return resolution
    first, *others = resolution
    contact = answers.contact(namespace, first, address.port)
    if not others:
        return contact
    contacts = (contact, *(answers.contact(namespace, other, address.port) for other in others))
    members = (target.member if isinstance(target, MemberAddress) else None for target in resolution)
    found = [NamedContact(member=m, ip=None, contact=c) for m, c in zip(members, contacts, strict=True)]
    return met_by_name(deployment, namespace, address.host, found) or _first_accepting(address, contacts)


def _first_accepting(address: Address, contacts: tuple[Contact, ...]) -> Contact:
    """What a client gets that tries one address after the other until one accepts."""
    turned_away = [c for c in contacts if isinstance(c, Failed) and c.reason in _TRY_NEXT_ADDRESS]
    taken = [c for c in contacts if c not in turned_away]
    if len({_identity(contact) for contact in taken}) > 1:
        return Unknown(because=f'"{address.host}" resolves to {len(contacts)} addresses that lead to different places')
    if taken:
        return taken[0]
    if len({contact.reason for contact in turned_away}) > 1:
        return Unknown(because=f'"{address.host}" resolves to {len(contacts)} addresses that fail in different ways')
    return turned_away[0]


def _identity(contact: Contact) -> object:
    return (contact.node_id, contact.listener) if isinstance(contact, Answered) else contact


def _contact_at(answers: _Brokers, delivery: Accepted | Failed | Unknown) -> Contact:
    if not isinstance(delivery, Accepted):
        return delivery
    broker, name = delivery.broker, delivery.entry.endpoint.listener
    protocol = broker.config.protocol_map.get(name)
    if protocol is None and broker.config.is_unknown("listener.security.protocol.map"):
        return Unknown(because=f"netdiag does not know the security protocol of listener {name} of {broker.name}")
    if protocol is None:
        return Unknown(because=f"listener {name} of {broker.name} has no security protocol")
    failure = _security_mismatch(answers.speaks, protocol)
    if failure is not None:
        because = f"listener {name} of {broker.name} requires {protocol}"
        if failure[1] in (None, Mechanism.TLS_UNEXPECTED):
            because = f"the client uses {answers.speaks}, but {because}"
        return Failed(reason=failure[0], because=because, mechanism=failure[1])
    if protocol != "PLAINTEXT":
        because = f"netdiag does not know whether listener {name} of {broker.name}, which requires {protocol}, accepts"
        return Unknown(because=f"{because} the client's certificate or credentials")
    if name in broker.config.controller_names:
        because = f"listener {name} of {broker.name} is a KRaft controller listener, which does not serve clients"
        return Failed(reason=Reason.NOT_KAFKA, because=because, mechanism=Mechanism.CONTROLLER_LISTENER)
    brokers = answers.named(broker, name)
    foreign = answers.is_foreign(broker)
    if isinstance(brokers, Unknown) and not foreign:
        return brokers
    who = member_in_words(answers.deployment, broker.name) if foreign else broker.name
    through = "".join(f" through {relay}" for relay in delivery.relays)
    return Answered(
        node_id=broker.config.node_id,
        cluster_id=f"{broker.config.quorum} {broker.config.cluster_id or ''}",
        brokers=brokers if isinstance(brokers, tuple) else (),
        listener=name,
        because=f"{who} answers {'there' if foreign else f'on {name}'}{through}",
        member=broker.name,
        foreign=foreign,
    )


def _security_mismatch(client: str, listener: str) -> tuple[Reason, Mechanism | None] | None:
    """Why a client that speaks one security protocol fails at a listener that speaks another; None where they agree."""
    tls, wanted = client.endswith("SSL"), listener.endswith("SSL")
    if tls != wanted:
        return Reason.TLS, Mechanism.TLS_EXPECTED if wanted else Mechanism.TLS_UNEXPECTED
    if client.startswith("SASL_") != listener.startswith("SASL_"):
        return Reason.SASL, Mechanism.SASL_EXPECTED if listener.startswith("SASL_") else None
    return None
