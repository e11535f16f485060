"""Findings about the clients outside Docker that the configuration declares.

netdiag predicts each of them like a cell of the matrix: both hops, from the docker host or another machine. It reports
only certain failures: other name servers may know a name with a dot, or one that the configuration gives as an address.
An address with a port that no broker here has belongs to another project.
"""

from collections.abc import Iterator

from netdiag.config import ClientAddress
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Answered, EndpointOutcome, Failed, Word
from netdiag.deployment.prediction.reachability import predict
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, bracketed, is_loopback

ID = "declared-client-fails"
SEVERITY = Severity.ERROR

_FAILS = (Word.BOOTSTRAP, Word.ADVERTISED, Word.PARTIAL, Word.WRONG_BROKER)


def check_clients(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every declared address that fails, and for every endpoint that its clients get and cannot use."""
    facts = deployment.facts
    host = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
    lan = Vantage(kind=VantageKind.LAN, label="LAN machine")
    for vantage, who, clients in (
        (host, "clients on the docker host", facts.host_clients),
        (lan, "clients on other machines", facts.lan_clients),
    ):
        named = frozenset(client.host for client in clients)
        for client in clients:
            yield from _client_failures(deployment, vantage, who, client, named)


def _client_failures(
    deployment: Deployment, vantage: Vantage, who: str, client: ClientAddress, named: frozenset[str]
) -> Iterator[Finding]:
    address = Address(host=client.host, port=client.port)
    (cell,) = predict(deployment, (vantage,), (address,))
    verdict = cell.predicted
    if verdict is None or verdict.word not in _FAILS:
        return
    if verdict.word is Word.BOOTSTRAP:
        failed = verdict.bootstrap
        if isinstance(failed, Failed) and not _may_be_known(client.host, named) and _has_port(deployment, client):
            yield from _unreachable(who, client, address, failed.because)
        return
    for outcome in verdict.endpoints:
        because = _because(outcome)
        found = _advertising(deployment, outcome)
        if because and found and not _may_be_known(outcome.endpoint.host, named):
            yield _sent_astray(who, client, address, outcome, because, *found)


def _unreachable(who: str, client: ClientAddress, address: Address, because: str) -> Iterator[Finding]:
    if client.where is not None:
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'{who} bootstrap from "{address}": {because}',
            location=client.where,
            hint="publish a listener's port there, or correct the address",
        )


def _sent_astray(
    who: str,
    client: ClientAddress,
    address: Address,
    outcome: EndpointOutcome,
    because: str,
    broker: Broker,
    entry: ListenerEntry,
) -> Finding:
    told = f"{bracketed(outcome.endpoint.host)}:{outcome.endpoint.port}"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{who} bootstrap from {address} and are sent to "{told}": {because}',
        location=broker.place("advertised.listeners", entry.start, entry.end),
        related=(Related(location=client.where, message="the declared clients"),) if client.where else (),
        why="a client uses the bootstrap address only to ask for the brokers, then connects to what they advertise",
        hint=f"add a listener to {broker.name} that advertises an address for {who}, and publish its port",
        service=broker.name,
        listener=entry.endpoint.listener,
    )


def _because(outcome: EndpointOutcome) -> str:
    match outcome.contact:
        case Failed(because=because):
            return because
        case Answered() if outcome.outcome == Word.WRONG_BROKER.value:
            return "another broker answers there"
        case _:
            return ""


def _advertising(deployment: Deployment, outcome: EndpointOutcome) -> tuple[Broker, ListenerEntry] | None:
    """The broker that advertises this endpoint, and the place where it does."""
    endpoint = outcome.endpoint
    return next(
        (
            (broker, entry)
            for broker in deployment.serving
            for entry in broker.config.advertised_listeners
            if (entry.endpoint.host, entry.endpoint.port) == (endpoint.host, endpoint.port)
        ),
        None,
    )


def _may_be_known(host: str, named: frozenset[str]) -> bool:
    """Whether a name server or a hosts file outside Docker may know a name that Docker does not."""
    is_name = not is_loopback(host) and any(char.isalpha() for char in host) and ":" not in host
    return is_name and ("." in host or host in named)


def _has_port(deployment: Deployment, client: ClientAddress) -> bool:
    ports = {entry.endpoint.port for broker in deployment.brokers for entry in broker.config.broker_listeners}
    published = {port.published for broker in deployment.brokers for port in broker.member.published}
    return client.port in ports | published
