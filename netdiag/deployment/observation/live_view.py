"""What a live check looks at and what it saw: vantages that can be taken, secured ports, containers that do not run.

`identified` names the members that an answer leads to. An answer names a cluster and a node, which two projects made
from one template have in common. The address that the client connected to, and who has or publishes it, tells them
apart.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from netdiag.deployment.clients import accepting_listener
from netdiag.deployment.model.causes import Causes
from netdiag.deployment.model.deployment import Broker, Deployment, Member
from netdiag.deployment.model.vantage import Vantage, VantageKind, client_networks
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Contact,
    Failed,
    NodeEndpoint,
    Reason,
    Unknown,
    Verdict,
    Word,
    judge,
)
from netdiag.deployment.neighbours import UrlCell
from netdiag.deployment.observation.registered import Registered
from netdiag.deployment.prediction.client_namespace import MemberAddress, client_namespace, resolve
from netdiag.deployment.prediction.cluster import is_foreign
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.mesh import Mesh
from netdiag.deployment.prediction.shared_names import NamedContact, member_in_words, met_by_name
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.deployment.sources.declared_services import DeclaredServices
from netdiag.engine.container import Container, Status
from netdiag.engine.testcontainers import awaited_file
from netdiag.kafka.listeners import is_loopback
from netdiag.kafka.security import CertificateFault, ListenerSecurity, TrustAnchor, faults_of
from netdiag.linux.netns import NamedNamespace, NamespaceId, OwnNamespace, ProcessNamespace
from netdiag.patterns import regex
from netdiag.values import dataclass

# What Kafka and the images' start scripts print when they give up, most telling first. Only constant parts.
_DECISIVE = (
    "requirement failed:",
    "ConfigException:",
    "Socket server failed to bind to",
    "Error creating broker listeners from",
    "Error parsing configuration property",
    "Each listener must have a different",
    "Cannot serialize",
    "Host string (0.0.0.0) is not routeable",
    "already registered by broker",
    "is required.",
    "is not set",
    "environment variable not set",
    "is not supported on a KRaft controller",
    "is deprecated. Please use",
    "file does not exist",
    "file not writable",
    "appears to be for a legacy cluster",
    "Because controller.quorum.voters is not set",
    "INVALID_VOTER_KEY",
    "InconsistentClusterIdException",
    "Invalid cluster.id in",
    "NoSuchFileException",
    "port out of range",
    "Timed out waiting for connection while in state",
    "OutOfMemoryError",
    "Could not reserve enough space",
    "Cannot assign requested address",
    "Address already in use",
)
_ERROR_LINE = regex(r"\b(?:FATAL|ERROR)\b|\b(?:[\w.]*(?:Exception|Error)):")
_FRAMES_BEHIND = regex(r"\s+at [\w.$/<>]{1,200}\(.*")
_STACK_FRAME = regex(r"\s+at [\w.$/]+\(|\s*\.\.\. \d+ more")
_ENDED_BY_REQUEST = (0, 130, 143)
_TAIL = 200
_MOST_WORKERS_SHOWN = 12
_STARTS_WITHIN = 60
_DOWN = (Status.EXITED, Status.DEAD, Status.RESTARTING, Status.CREATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuredPort:
    """What one address told about its security when it was asked from one vantage (its label).

    `member` and `listener` are the broker's that is meant, "" where nobody shown is. The name asked for is the host
    of `address`: one port is seen as often as hosts are advertised for it.
    """

    vantage: str
    address: Address
    member: str = ""
    listener: str = ""
    sight: ListenerSecurity


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenName:
    """What each address of a name gave at one port, where a name has several there; each contact has its `ip`."""

    vantage: str
    address: Address
    contacts: tuple[Contact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flapping:
    """An address that gave different verdicts in repeated looks from one vantage: each with how often, `ok` last.

    `because` says why it failed, the first time that it did.
    """

    vantage: str
    address: Address
    verdicts: tuple[tuple[str, int], ...]
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWorker:
    """A worker as its group knows it: its URL, the address it connects from, the member that has it ("" for none)."""

    url: str
    client_host: str
    member: str = ""
    leads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenUrl:
    """What a member got at a URL that it is told or another one of its group; an `Answered` has the address there."""

    source: str
    url: str
    contact: Contact


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenGroup:
    """A group of Connect workers, as its coordinator tells of it; without workers, `because` says why not."""

    group: str
    workers: tuple[SeenWorker, ...] = ()
    forwards: tuple[SeenUrl, ...] = ()
    because: str = ""

    def __str__(self) -> str:
        if not self.workers:
            return f"Connect group {self.group}: not read, {self.because}"
        ordered = sorted(self.workers, key=lambda one: (not one.leads, one.member, one.url))
        shown = ordered[:_MOST_WORKERS_SHOWN]
        named = [f"{one.member or one.client_host} at {one.url}{' leads' if one.leads else ''}" for one in shown]
        more = len(ordered) - len(shown)
        return f"Connect group {self.group}: {', '.join((*named, *([f'{more} more'] if more else ())))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveView:
    """A running deployment and what was seen of it.

    `stopped` tells by member name why a broker does not run, in one line, `logs` the last lines of the log of such a
    one, oldest first. `starting` tells in the same way which brokers are not up yet. `cells` carry prediction and
    observation, `vantages` are the places that they were seen from.
    `ports` are the TCP ports that listen in a member's namespace, for those that could be read. `security` and `mesh`
    are empty where nobody looked. `declared` is what the files say that the deployment was started from;
    `causes` are those of the contacts that failed, by vantage and address, `flapping` what differed between looks.
    `registered` is what the cluster has registered, where that was read, `groups` are those of the Connect workers,
    `urls` those of services beside the brokers. `is_cut`: a limit left out addresses, whose cells are unknown.
    """

    deployment: Deployment
    stopped: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    vantages: tuple[Vantage, ...] = ()
    ports: Mapping[str, frozenset[int]] = field(default_factory=dict)
    security: tuple[SecuredPort, ...] = ()
    mesh: Mesh | None = None
    declared: DeclaredServices | None = None
    causes: Causes = field(default_factory=dict)
    starting: Mapping[str, str] = field(default_factory=dict)
    flapping: tuple[Flapping, ...] = ()
    registered: Registered | None = None
    groups: tuple[SeenGroup, ...] = ()
    urls: tuple[UrlCell, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveVantage:
    """A vantage and the network namespace to enter for it."""

    vantage: Vantage
    entrance: NamespaceId


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedVantage:
    """A vantage that could not be taken, and why; `rights` where it only takes more rights."""

    vantage: Vantage
    because: str
    rights: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedContainer:
    """A container that should run a broker and does not. `line` is None where its log says nothing to the point.

    `crash_looping` is one that the engine starts again and again.
    """

    container: str
    exit_code: int
    oom_killed: bool
    crash_looping: bool
    line: str | None

    def __str__(self) -> str:
        what = "keeps restarting, last" if self.crash_looping else "not running,"
        cause = " (out of memory)" if self.oom_killed else ""
        return f"{what} exit code {self.exit_code}{cause}" + (f": {self.line}" if self.line else "")


def combined(looks: Sequence[Sequence[Cell]]) -> tuple[tuple[Cell, ...], tuple[Flapping, ...]]:
    """The cells of repeated looks at the same vantages and addresses: each as it failed first, if ever it did.

    What differs between looks comes second. A look that ran out of time says nothing.
    """
    cells: list[Cell] = []
    flapping: list[Flapping] = []
    # From a container that stops meanwhile, later looks see nothing.
    of_each: dict[tuple[str, Address], list[Cell]] = {(cell.vantage, cell.bootstrap): [] for cell in looks[0]}
    for cell in (cell for look in looks for cell in look):
        of_each.setdefault((cell.vantage, cell.bootstrap), []).append(cell)
    for same in of_each.values():
        known = [cell for cell in same if cell.observed and cell.observed.word is not Word.UNKNOWN] or [same[0]]
        first = next((cell for cell in known if cell.observed and not cell.observed.usable), known[0])
        cells.append(first)
        counts = Counter(str(cell.observed) for cell in known)
        if len(counts) > 1 and first.observed is not None:
            ordered = sorted(counts.items(), key=lambda one: (one[0] == Word.OK, -one[1]))
            why = _first_failure(first.observed)
            flapping.append(
                Flapping(vantage=first.vantage, address=first.bootstrap, verdicts=tuple(ordered), because=why)
            )
    return tuple(cells), tuple(flapping)


def observed_urls(cells: Iterable[UrlCell], seen: Iterable[SeenUrl], deployment: Deployment) -> tuple[UrlCell, ...]:
    """The cells with what was met at each URL, and the member behind the address where only one has it."""
    met = {(one.source, one.url): one.contact for one in seen}
    return tuple(
        replace(cell, observed=_answered_by(deployment, cell, contact))
        if (contact := met.get((cell.source, cell.url))) is not None
        else cell
        for cell in cells
    )


def _answered_by(deployment: Deployment, cell: UrlCell, contact: Contact) -> Contact:
    if not isinstance(contact, Answered) or contact.ip is None:
        return contact
    at = {member.name for member, _ in deployment.members_by_address.get(contact.ip, ())}
    if is_loopback(contact.ip):
        at = {cell.source}
    owners = {deployment.owner_names.get(name, name) for name in at}
    if len(owners) != 1 or owners == {deployment.owner_names.get(cell.target, cell.target)}:
        return contact
    (name,) = owners
    return replace(contact, member=name, because=f"{name} answers there")


def _first_failure(verdict: Verdict) -> str:
    contacts = (verdict.bootstrap, *(one.contact for one in verdict.endpoints))
    return next((one.because for one in contacts if isinstance(one, Failed)), str(verdict))


def secured_ports(
    deployment: Deployment, vantages: Sequence[Vantage], seen: Sequence[SecuredPort], *, now: datetime
) -> tuple[SecuredPort, ...]:
    """The ports with member and listener; after them those names of theirs that nobody could ask for.

    A certificate is held against every host that its listener advertises, also where no vantage resolves it.
    """
    places = {vantage.label: vantage for vantage in vantages}
    named = tuple(_with_listener(deployment, places, port) for port in seen)
    return (*named, *_unasked_names(deployment, named, now))


def docker_host_vantage(entrance: NamespaceId | None = None) -> LiveVantage:
    """The docker host: the namespace of the engine, or our own."""
    vantage = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
    return LiveVantage(vantage=vantage, entrance=entrance or OwnNamespace())


def netns_vantage(name: str) -> LiveVantage:
    """A namespace that `ip netns` lists, as a machine beside the docker host."""
    vantage = Vantage(kind=VantageKind.LAN, label=f"netns:{name}")
    return LiveVantage(vantage=vantage, entrance=NamedNamespace(name=name))


def container_vantages(
    deployment: Deployment, containers: Sequence[Container], names: Mapping[str, str]
) -> tuple[LiveVantage, ...]:
    """Inside each of the containers that runs, brokers first; an isolated controller is none. `names` are by id."""
    shared = frozenset(client_networks(deployment))
    alive = [c for c in containers if c.state.has_process]
    brokers = frozenset(broker.name for broker in deployment.brokers if broker.config.is_broker)
    ordered = sorted(alive, key=lambda c: names[c.id] not in brokers)
    return tuple(
        LiveVantage(
            vantage=_vantage(deployment.by_name[names[c.id]], shared, broker=names[c.id] in brokers),
            entrance=ProcessNamespace(pid=c.state.pid, container_id=c.id),
        )
        for c in ordered
    )


def is_down(container: Container) -> bool:
    """Whether it serves nobody: ended, never started, or between two attempts to start."""
    return container.state.status in _DOWN


def stopped_container(container: Container, log: Sequence[str]) -> StoppedContainer:
    """What is known about a container that `is_down`; `log` holds its last lines, oldest first."""
    state = container.state
    by_request = state.exit_code in _ENDED_BY_REQUEST and state.status is Status.EXITED
    return StoppedContainer(
        container=container.name,
        exit_code=state.exit_code,
        oom_killed=state.oom_killed,
        crash_looping=state.status is Status.RESTARTING,
        line=None if by_request else decisive_line(log) or state.error or None,
    )


def starting_brokers(
    deployment: Deployment,
    containers: Mapping[str, Container],
    ports: Mapping[str, Iterable[int]],
    *,
    now: datetime,
) -> dict[str, str]:
    """The brokers that run and listen on no port of theirs yet, with what tells that they are still starting.

    `containers` and the `ports` that listen in them, where they could be read, are by member name.
    """
    found: dict[str, str] = {}
    for broker in deployment.brokers:
        container, listening = containers.get(broker.name), ports.get(broker.name)
        # A quorum's listener opens long before those for clients.
        wanted = {entry.endpoint.port for entry in broker.config.broker_listeners or broker.config.listeners}
        awaited = awaited_file(container) if container is not None else None
        if container is None or listening is None or wanted.intersection(listening):
            continue
        if container.state.status is not Status.RUNNING or not (wanted or awaited):
            continue
        if awaited is not None and not (container.start_script or container.config_file):
            found[broker.name] = f"it waits for {awaited}, which Testcontainers copies into it"
        elif container.state.health == "starting":
            found[broker.name] = "its health check says starting"
        elif not container.state.health and _seconds_up(container.state.started_at, now) < _STARTS_WITHIN:
            found[broker.name] = f"it was started less than {_STARTS_WITHIN} seconds ago"
    return found


def _seconds_up(started_at: str, now: datetime) -> float:
    """Since a time of RFC 3339, whose fraction may have nine digits; infinity for what is none."""
    try:
        started = datetime.fromisoformat(started_at[:19] + "+00:00")
    except ValueError:
        return float("inf")
    return abs((now - started).total_seconds()) if started_at.endswith("Z") else float("inf")


def log_tail(log: Sequence[str]) -> tuple[str, ...]:
    """The last lines of a log without the frames of stacks."""
    return tuple(line for line in log if not _STACK_FRAME.match(line))[-_TAIL:]


def decisive_line(log: Sequence[str]) -> str | None:
    """The line with the most telling message that Kafka is known to give up with, else the last error or exception."""
    lines = [_without_frames(line).removeprefix("Caused by: ") for line in log if not _STACK_FRAME.match(line)]
    for part in _DECISIVE:
        found = [line for line in lines if part in line]
        if found:
            return found[-1]
    return next((line for line in reversed(lines) if _ERROR_LINE.search(line)), None)


def _with_listener(deployment: Deployment, places: Mapping[str, Vantage], port: SecuredPort) -> SecuredPort:
    vantage = places.get(port.vantage)
    landed = accepting_listener(deployment, vantage, port.address.host, port.address.port) if vantage else None
    if landed is None:
        return port
    return replace(port, member=landed.broker.name, listener=landed.entry.endpoint.listener)


def _unasked_names(deployment: Deployment, ports: Sequence[SecuredPort], now: datetime) -> Iterator[SecuredPort]:
    known = {(port.member, port.listener, port.address.host) for port in ports}
    for port in ports:
        broker = next((broker for broker in deployment.brokers if broker.name == port.member), None)
        if broker is None or port.sight.tls is None:
            continue
        for address in _advertised(broker, port.listener):
            key = (port.member, port.listener, address.host)
            if key not in known:
                known.add(key)
                yield _judged_for_name(port, address, now)


def _advertised(broker: Broker, listener: str) -> Iterator[Address]:
    for entry in broker.config.advertised_listeners:
        endpoint = entry.endpoint
        if endpoint.listener == listener and endpoint.host:
            yield Address(host=endpoint.host, port=endpoint.port)


def _judged_for_name(port: SecuredPort, address: Address, now: datetime) -> SecuredPort:
    """What was seen at one address, judged for a client that asks by another."""
    tls = port.sight.tls
    assert tls is not None
    kept = [fault for fault in tls.faults if fault[0] is not CertificateFault.NAME]
    judged = faults_of(tls.chain, hosts=[address.host], anchored=TrustAnchor.NOT_ASKED, now=now)
    names = [(fault.fault, fault.detail) for fault in judged if fault.fault is CertificateFault.NAME]
    sight = replace(port.sight, detail=f"seen at {port.address}", tls=replace(tls, faults=(*names, *kept)))
    return replace(port, address=address, sight=sight)


def _vantage(member: Member, shared: frozenset[str], *, broker: bool) -> Vantage:
    networks = tuple(attachment.network for attachment in member.attachments)
    if broker:
        label, kind = f"inside {member.name}", VantageKind.BROKER
    else:
        together = shared.intersection(networks)
        label, kind = f"container {member.name}", VantageKind.CONTAINER if together else VantageKind.OTHER_NETWORK
    return Vantage(kind=kind, label=label, member=member.name, networks=networks)


def _without_frames(line: str) -> str:
    """Without the frames that some programs print behind the message, on the same line."""
    return _FRAMES_BEHIND.sub("", line.strip())


_NOT_TRIED = Unknown(because="it was not tried")


def identified(
    deployment: Deployment, vantages: Iterable[Vantage], cells: Iterable[Cell], names: Iterable[SeenName]
) -> Iterator[Cell]:
    """The cells as observed, judged again with the members behind each address."""
    places = {vantage.label: vantage for vantage in vantages}
    several = {(seen.vantage, seen.address): seen.contacts for seen in names}
    # What one contact with an address has met, by vantage: several cells lead to it.
    known: dict[tuple[str, Address], tuple[Contact, Contact]] = {}
    for cell in cells:
        vantage = places.get(cell.vantage)
        if vantage is None or cell.observed is None:
            yield cell
        else:
            yield replace(cell, observed=_judged(deployment, vantage, cell.bootstrap, cell.observed, several, known))


def _judged(
    deployment: Deployment,
    vantage: Vantage,
    bootstrap: Address,
    verdict: Verdict,
    several: Mapping[tuple[str, Address], tuple[Contact, ...]],
    known: dict[tuple[str, Address], tuple[Contact, Contact]],
) -> Verdict:
    found = {one.endpoint: one.contact for one in verdict.endpoints}

    def met(address: Address, contact: Contact) -> Contact:
        key = (vantage.label, address)
        if key not in known or known[key][0] is not contact:
            known[key] = contact, _met(deployment, vantage, address, contact, several.get(key, ()))
        return known[key][1]

    def at_endpoint(endpoint: NodeEndpoint) -> Contact:
        return met(endpoint.address, found.get(endpoint, _NOT_TRIED))

    return judge(met(bootstrap, verdict.bootstrap), at_endpoint)


def _met(
    deployment: Deployment, vantage: Vantage, address: Address, contact: Contact, each: tuple[Contact, ...]
) -> Contact:
    named = [
        NamedContact(
            member=_member_at(deployment, vantage, one.ip),
            ip=one.ip,
            contact=_identified(deployment, vantage, address.port, one),
        )
        for one in each
        if not isinstance(one, Unknown)
    ]
    chosen = met_by_name(deployment, client_namespace(deployment, vantage), address.host, named) if named else None
    met = chosen or _identified(deployment, vantage, address.port, contact)
    silent = tuple(one.ip for one in each if isinstance(one, Failed) and one.reason is Reason.TIMEOUT and one.ip)
    return replace(met, silent=silent) if isinstance(met, Answered) and silent else met


def _member_at(deployment: Deployment, vantage: Vantage, ip: str | None) -> str | None:
    """The member that has an address; None for one of the docker host, and for loopback."""
    match resolve(deployment, vantage, ip) if ip else None:
        case (MemberAddress(member=member),):
            return member
        case _:
            return None


def _identified(deployment: Deployment, vantage: Vantage, port: int, contact: Contact) -> Contact:
    if not isinstance(contact, Answered) or contact.ip is None:
        return contact
    target = resolve(deployment, vantage, contact.ip)
    if not isinstance(target, tuple):
        return contact
    end = connect(deployment, vantage, target[0], port)
    if not isinstance(end, Accepted) or contact.node_id not in (None, end.broker.config.node_id):
        return contact
    if not is_foreign(deployment, end.broker):
        return replace(contact, member=end.broker.name)
    because = f"{member_in_words(deployment, end.broker.name)} answers there"
    return replace(contact, member=end.broker.name, foreign=True, because=because)
