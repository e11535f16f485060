"""What rules about a live check share: which failures matter to which clients, and which line of a file causes them.

In a healthy deployment most cells of a matrix fail, because the docker host resolves no container names. A failure
matters if a client gets the address from a broker, or if the address is meant for that client.
"""

from collections.abc import Iterable, Iterator, Mapping

from netdiag.deployment.model.causes import Cause, repair, why
from netdiag.deployment.model.deployment import Broker, Deployment, KafkaClient, Member, NetworkMode
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    EndpointOutcome,
    Failed,
    NodeEndpoint,
    Reason,
    Word,
)
from netdiag.deployment.observation.live_view import LiveView, SecuredPort
from netdiag.deployment.relays import relay_traps
from netdiag.deployment.sources.declared_services import DeclaredService, PredictedRefusal
from netdiag.findings import ContainerLocation, FileLocation, Finding, Related, Severity
from netdiag.kafka.listeners import is_loopback
from netdiag.kafka.security import CertificateFault
from netdiag.values import dataclass

_OUTSIDE = (VantageKind.DOCKER_HOST, VantageKind.LAN)
# Longer lists end with "and N more".
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """A broker's listener."""

    broker: Broker
    listener: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """An address that is meant for clients at `places` (labels), where it failed alike.

    `better` are the vantages from which it got further.
    """

    address: Address
    whose: Whose
    places: tuple[str, ...]
    failed: Failed
    cause: Cause | None
    better: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A client at `vantage` gets an answer from `bootstrap`, is sent to `endpoint`, and is not served there.

    Nothing else serves it, either: no other address of the same cluster works from that vantage.
    """

    vantage: Vantage
    bootstrap: Address
    answered: Answered
    endpoint: EndpointOutcome


def blocked(view: LiveView, *reasons: Reason) -> tuple[Blocked, ...]:
    """The addresses that fail at the first hop, for one of these reasons, for clients that they are meant for.

    Those that a client shown is given itself are left to the finding about this client, and those that a client is
    sent to by another address to the finding about that.
    """
    known = vantages_of(view)
    told = _of_clients(view) | {(trap.vantage.label, trap.endpoint.endpoint.address) for trap in traps(view)}
    found: dict[tuple[Address, Reason], list[tuple[Cell, Whose]]] = {}
    for cell in view.cells:
        vantage = known.get(cell.vantage)
        if cell.observed is None or vantage is None or (cell.vantage, cell.bootstrap) in told:
            continue
        contact = cell.observed.bootstrap
        if not isinstance(contact, Failed) or contact.reason not in reasons:
            continue
        whose = meant_for(view, vantage, cell)
        if whose is not None:
            found.setdefault((cell.bootstrap, contact.reason), []).append((cell, whose))
    return tuple(_blocked(view, address, seen) for (address, _), seen in found.items())


def _blocked(view: LiveView, address: Address, seen: list[tuple[Cell, Whose]]) -> Blocked:
    cell, whose = seen[0]
    assert cell.observed is not None
    assert isinstance(cell.observed.bootstrap, Failed)
    failed = cell.observed.bootstrap
    return Blocked(
        address=address,
        whose=whose,
        places=tuple(one.vantage for one, _ in seen),
        failed=failed,
        cause=view.causes.get((cell.vantage, address)),
        better=tuple(
            other.vantage
            for other in view.cells
            if other.bootstrap == address and other.observed and _is_further(other, failed)
        ),
    )


def _is_further(cell: Cell, failed: Failed) -> bool:
    contact = cell.observed.bootstrap if cell.observed else None
    if isinstance(contact, Failed):
        return failed.reason is Reason.UNRESOLVED and contact.reason is not Reason.UNRESOLVED
    return isinstance(contact, Answered)


def blocked_finding(rule: str, severity: Severity, block: Blocked, *, words: str) -> Finding:
    """The finding; in its message, `words` says what the address does."""
    broker, listener = block.whose.broker.name, block.whose.listener
    return Finding(
        rule=rule,
        severity=severity,
        message=f'from {listed(block.places)}: "{block.address}" (listener {listener} of {broker}) {words}',
        location=place(block.whose),
        why=_why(block),
        hint=repair(block.cause, block.failed, block.address),
        service=broker,
        listener=listener,
    )


def _why(block: Blocked) -> str:
    """The cause, and the places from which the address works."""
    said = [why(block.cause, block.failed)]
    if block.better:
        verb = "resolves" if block.failed.reason is Reason.UNRESOLVED else "answers"
        said.append(f"it {verb} from {listed(block.better)}")
    return "; ".join(said)


def traps(view: LiveView) -> Iterator[Trap]:
    """Every trap, by vantage in the order of the cells; containers that have nothing to do with the brokers aside.

    Those of clients that are shown, and those behind a relay, are left to the findings about these.
    """
    known = vantages_of(view)
    of_clients = _of_clients(view) | {(trap.vantage.label, trap.bootstrap) for trap in relay_traps(view.deployment)}
    groups: dict[tuple[str, str | None], list[Cell]] = {}
    # Where a name serves some connections, live-ambiguous-name says so; an address that was not tried may serve all.
    undecided = {Word.AMBIGUOUS, Word.UNKNOWN} if view.is_cut else {Word.AMBIGUOUS}
    divided = {cell.vantage for cell in view.cells if cell.observed and cell.observed.word in undecided}
    for cell in view.cells:
        if cell.observed is not None and isinstance(cell.observed.bootstrap, Answered):
            groups.setdefault((cell.vantage, cell.observed.bootstrap.cluster_id), []).append(cell)
    for (label, _), cells in groups.items():
        vantage = known.get(label)
        if vantage is None or vantage.kind is VantageKind.OTHER_NETWORK:
            continue
        if any(cell.observed and cell.observed.word is Word.OK for cell in cells) or label in divided:
            continue
        yield from _traps(vantage, [cell for cell in cells if (label, cell.bootstrap) not in of_clients])


def _traps(vantage: Vantage, cells: Iterable[Cell]) -> Iterator[Trap]:
    told: set[tuple[NodeEndpoint, str]] = set()
    for cell in cells:
        assert cell.observed is not None
        answered = cell.observed.bootstrap
        for outcome in cell.observed.endpoints:
            key = (outcome.endpoint, outcome.outcome)
            if (
                outcome.outcome in (Word.OK, Word.UNKNOWN, Word.AMBIGUOUS)
                or key in told
                or not isinstance(answered, Answered)
            ):
                continue
            told.add(key)
            yield Trap(vantage=vantage, bootstrap=cell.bootstrap, answered=answered, endpoint=outcome)


def meant_for(view: LiveView, vantage: Vantage, cell: Cell) -> Whose | None:
    """The listener that a client at a vantage should find at the address of a cell; None if it is not meant for it.

    It is where the configuration predicts an answer, and where a broker that runs advertises the address to clients
    that stand there: a loopback or host address to the docker host, a container's name to those on its networks.
    """
    predicted = cell.predicted.bootstrap if cell.predicted else None
    if isinstance(predicted, Answered) and not predicted.foreign:
        return _by_node(view, predicted, cell.bootstrap)
    return advertised_to(view, vantage, cell.bootstrap)


def advertised_to(view: LiveView, vantage: Vantage, address: Address, *, running: bool = True) -> Whose | None:
    """The broker that advertises an address to clients at a vantage; one that is `running`, or any."""
    for broker in view.deployment.serving:
        if (running and broker.name in view.stopped) or not broker.config.is_broker:
            continue
        for entry in broker.config.advertised_listeners:
            endpoint = entry.endpoint
            if endpoint.listener in broker.config.controller_names:
                continue
            is_it = (endpoint.host, endpoint.port) == (address.host, address.port)
            if is_it and _is_for(view.deployment, broker, endpoint.host, vantage):
                return Whose(broker=broker, listener=endpoint.listener)
    return None


def _by_node(view: LiveView, predicted: Answered, address: Address) -> Whose | None:
    known = view.deployment.broker(predicted.member)
    if known is not None:
        return Whose(broker=known, listener=predicted.listener or "")
    same = [b for b in view.deployment.serving if b.config.node_id == predicted.node_id and b.name not in view.stopped]
    named = [b for b in same if f"{b.name} answers" in predicted.because or address.host in b.member.all_names]
    broker = next(iter(named or same), None)
    return Whose(broker=broker, listener=predicted.listener or "") if broker else None


def _is_for(deployment: Deployment, broker: Broker, host: str, vantage: Vantage) -> bool:
    if is_loopback(host):
        return vantage.kind is VantageKind.DOCKER_HOST
    if broker.member.started_by is not None and host in broker.member.hostnames and not vantage.networks:
        # Testcontainers lets brokers find each other by the names of their containers; tests get another listener.
        return False
    if any(deployment.members_by_network_name.get((network, host)) for network in vantage.networks):
        return True
    if host in deployment.members_by_any_name:
        return broker.member.mode is NetworkMode.HOST and vantage.kind is VantageKind.DOCKER_HOST
    if host in deployment.members_by_address:
        owners = {a.network for _, a in deployment.members_by_address[host]}
        return bool(owners.intersection(vantage.networks))
    return vantage.kind in _OUTSIDE


def cells_of_client(view: LiveView, client: KafkaClient) -> tuple[Cell, ...]:
    """What a client that is shown gets at its own addresses, from its own container."""
    if not client.active or client.waits or not client.certain:
        return ()
    label = next((v.label for v in view.vantages if v.member == client.member.name), None)
    wanted = {(address.host, address.port) for address in client.bootstraps}
    return tuple(
        cell
        for cell in view.cells
        if cell.vantage == label and cell.observed and (cell.bootstrap.host, cell.bootstrap.port) in wanted
    )


def _of_clients(view: LiveView) -> frozenset[tuple[str, Address]]:
    """The cells that a finding about a client is for: (vantage, address)."""
    return frozenset(
        (cell.vantage, cell.bootstrap) for client in view.deployment.clients for cell in cells_of_client(view, client)
    )


def vantages_of(view: LiveView) -> Mapping[str, Vantage]:
    """The vantages by label."""
    return {vantage.label: vantage for vantage in view.vantages}


def owner(view: LiveView, node_id: int, address: Address) -> Whose | None:
    """The broker that advertises an endpoint, and on which listener."""
    for broker in view.deployment.serving:
        if broker.config.node_id != node_id:
            continue
        for entry in broker.config.advertised_listeners:
            if entry.endpoint.port == address.port and entry.endpoint.host in ("", address.host):
                return Whose(broker=broker, listener=entry.endpoint.listener)
    return None


def answering(view: LiveView, answered: Answered) -> Broker | None:
    """The broker that answered; None for one that is not asked about, and if the answer does not tell which it is."""
    if answered.foreign or answered.member:
        return None if answered.foreign else view.deployment.broker(answered.member)
    same = [b for b in view.deployment.serving if b.config.node_id == answered.node_id is not None]
    if len(same) <= 1:
        return next(iter(same), None)
    own = next((e.address for e in answered.brokers if e.node_id == answered.node_id), None)
    ends = [
        broker
        for broker in same
        if own is not None
        and any(
            (entry.endpoint.host, entry.endpoint.port) == (own.host, own.port)
            for entry in broker.config.advertised_listeners
        )
    ]
    return ends[0] if len(ends) == 1 else None


def place(whose: Whose) -> ContainerLocation:
    """Where a finding about a listener stands."""
    return ContainerLocation(container=whose.broker.name, part=whose.listener)


def certificate_findings(
    view: LiveView, rule: str, severity: Severity, faults: tuple[CertificateFault, ...], *, says: str, hint: str
) -> Iterator[Finding]:
    """The findings; `says` is what the message tells of the certificate, before the addresses where it was shown."""
    groups: dict[tuple[str, str, CertificateFault, str], list[SecuredPort]] = {}
    for seen in view.security:
        for fault, detail in seen.sight.tls.faults if seen.sight.tls else ():
            if fault in faults:
                whose = (seen.member, seen.listener) if seen.member else (str(seen.address), "")
                groups.setdefault((*whose, fault, detail), []).append(seen)
    for (name, listener, fault, detail), found in groups.items():
        broker = view.deployment.broker(name)
        addresses = listed(str(one.address) for one in found)
        yield Finding(
            rule=rule,
            severity=severity,
            message=f"the certificate of {f'listener {listener} of {name}' if listener else name} {says}: {addresses}",
            location=ContainerLocation(container=name, part=listener),
            why=f"{fault.value}: {detail}" if detail else fault.value,
            hint=hint,
            related=written(view, broker, "advertised.listeners") if broker else (),
            service=name if broker else None,
            listener=listener or None,
        )


def written(view: LiveView, broker: Broker, setting: str) -> tuple[Related, ...]:
    """Where the files set a property of a broker, if there are files and they set it."""
    given = broker.config.settings.get(setting)
    if given is None or given.variable is None:
        return ()
    return written_variable(view, broker.member, given.variable)


def written_variable(view: LiveView, member: Member, variable: str) -> tuple[Related, ...]:
    """Where the files set a variable of a member; the service itself if they do not."""
    service = service_of(view, member)
    text = service.environment.get(variable) if service else None
    if text is not None and text.where is not None:
        return (Related(location=text.where, message=f"{variable} is set here"),)
    return ()


def written_for(view: LiveView, finding: Finding) -> tuple[Related, ...]:
    """Where the files cause a finding about a running broker; nothing if the finding is about files already."""
    broker = view.deployment.broker(finding.service or "")
    if broker is None or isinstance(finding.location, FileLocation):
        return ()
    for one in predicting(view, broker):
        if one.rule == finding.rule:
            return (Related(location=one.where, message="the file has the same error"),)
    part = finding.location.part if isinstance(finding.location, ContainerLocation) else ""
    return written_variable(view, broker.member, part)


def predicting(view: LiveView, broker: Broker) -> tuple[PredictedRefusal, ...]:
    """The findings about the files that predict a line in the log of a broker that did not start."""
    name = broker.member.service or broker.name
    said = (view.stopped.get(broker.name, ""), *view.logs.get(broker.name, ()))
    return tuple(
        one
        for one in (view.declared.predicted_refusals if view.declared else ())
        if one.service == name and any(one.prints in line for line in said)
    )


def service_of(view: LiveView, member: Member) -> DeclaredService | None:
    """The service in the files of a member that runs, if there are files and they have it."""
    return view.declared.services.get(member.service or member.name) if view.declared else None


def setting_place(view: LiveView, broker: Broker, setting: str) -> tuple[Related, ...]:
    """Where a property (or a variable, in capitals) of a broker is set: in the files, else in its container."""
    given = broker.config.settings.get(setting)
    variable = setting if setting.isupper() else (given.variable if given else None)
    service = service_of(view, broker.member)
    if variable is not None:
        found = written_variable(view, broker.member, variable)
        if found:
            return found
        if variable in broker.member.variables:
            location = ContainerLocation(container=broker.name, part=variable)
            return (Related(location=location, message=f"{variable} of the container"),)
    if service is not None and service.where is not None:
        return (Related(location=service.where, message=f"{variable or setting} is not set here"),)
    return ()


def listed(names: Iterable[str], *, shown: int = _SHOWN) -> str:
    """`a`, `a and b`, `a, b and 3 more`; each once, in the order given."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) <= shown:
        return " and ".join(filter(None, (", ".join(distinct[:-1]), *distinct[-1:])))
    return f"{', '.join(distinct[: shown - 1])} and {len(distinct) - shown + 1} more"
