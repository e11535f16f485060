"""Wait until clients can work: each declared client reaches every broker that it is sent to, and topics have leaders.

The containers are asked for anew in every round, because they may still be starting. Nothing is written or created.
"""

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from netdiag.app.check import targets_of
from netdiag.app.configuration import CheckOptions
from netdiag.app.progress import SILENT, Listener
from netdiag.deployment.model.vantage import VantageKind, bootstraps
from netdiag.deployment.model.verdict import Address, Ambiguous, Answered, Contact, Failed, Unknown, Verdict, Word
from netdiag.deployment.observation.live_view import identified
from netdiag.deployment.sources.compose import from_compose
from netdiag.engine.container import Container, Status
from netdiag.errors import InputError, UsageError
from netdiag.io.extras import require_live
from netdiag.io.files.projects import STDIN, NoProject, ProjectFiles, ProjectReader
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.deployment.observation.live_view import LiveVantage
    from netdiag.io.engine.live_deployment import Live
    from netdiag.io.network.client_identity import Client

DOCKER_HOST = "docker host"
_STEP, _SHORTEST_STEP = 4.0, 0.2
_PAUSE = 1.0
_TOPICS_SHOWN = 3
# Whatever becomes of these containers, somebody has started them.
_STARTING = (Status.CREATED, Status.RESTARTING, Status.RUNNING, Status.PAUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """Whom to wait for: the clients that the project of `check` declares, or those of `clients` alone, by service.

    `bootstraps` are addresses that must work from the docker host too. `timeout` is in seconds.
    """

    check: CheckOptions
    timeout: float = 60.0
    clients: tuple[str, ...] = ()
    bootstraps: tuple[Address, ...] = ()
    host: str | None = None
    client_properties: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The addresses through which one client must reach its brokers; a `service`, or the docker host."""

    client: str
    addresses: tuple[Address, ...]
    service: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """What a client lacks. `unseen`: nobody can look from there, so waiting longer does not help."""

    client: str
    because: str
    unseen: bool = False

    def __str__(self) -> str:
        return f"{self.client}: {self.because}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitResult:
    """How waiting ended: what is lacking, nothing when all clients can work. `seconds` is how long it took."""

    clients: tuple[str, ...]
    lacking: tuple[Lack, ...]
    seconds: float

    @property
    def unseen(self) -> bool:
        """Whether nothing is known to be wrong, and some clients could not be looked at."""
        return bool(self.lacking) and all(one.unseen for one in self.lacking)


def wait(options: WaitOptions, listener: Listener = SILENT) -> WaitResult:
    """Wait until nothing is lacking, or nothing but what cannot be seen from here, or the time is up.

    EngineError when the engine cannot be asked, InputError or UsageError for files that cannot be used, or from which
    several projects were started.
    """
    require_live("wait")
    from netdiag.io.network.client_identity import read_client

    client = None if options.client_properties is None else read_client(options.client_properties)
    project, needs = _needs(options)
    begin = time.monotonic()
    said: tuple[Lack, ...] = ()
    while True:
        round_began = time.monotonic()
        left = options.timeout - (round_began - begin)
        lacking = _round(project, needs, options.host, client, min(_STEP, max(_SHORTEST_STEP, left)))
        now = time.monotonic()
        if all(one.unseen for one in lacking) or now - begin >= options.timeout:
            clients = tuple(need.client for need in needs)
            return WaitResult(clients=clients, lacking=lacking, seconds=now - begin)
        for one in lacking:
            if one not in said:
                listener.notice(f"waiting for {one}")
        said = lacking
        time.sleep(max(0.0, min(_PAUSE - (now - round_began), options.timeout - (now - begin))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Project:
    """How the engine knows it."""

    name: str | None
    file: str | None


def _needs(options: WaitOptions) -> tuple[_Project, tuple[Need, ...]]:
    """The project, and what must work in it."""
    targets, (settings, *_) = targets_of(options.check)
    if len(targets) != 1:
        found = "several projects are named" if targets else "no compose file is here"
        raise UsageError(f"{found}: wait takes one", hint="name one compose file, or the files of one project with -f")
    files = targets[0].project
    if isinstance(files, NoProject):
        raise files.error
    assert isinstance(files, ProjectFiles)
    reader = ProjectReader(files, settings.read)
    project = reader.read()
    deployment = from_compose(
        project, host_addresses=settings.host_addresses, facts=settings.facts, read=reader.read_mounted
    )
    brokers = {broker.member.service or broker.name for broker in deployment.brokers}
    declared: dict[str, dict[Address, None]] = {}
    for client in deployment.clients:
        service = client.member.service or client.member.name
        if client.active and service not in brokers:
            addresses = declared.setdefault(service, {})
            addresses |= {Address(host=one.host, port=one.port): None for one in client.bootstraps}
    unknown = sorted(set(options.clients) - declared.keys())
    if unknown:
        raise InputError(
            f"declares no Kafka client {', '.join(unknown)}",
            where=files.name,
            hint=f"it declares {', '.join(declared)}" if declared else "use --bootstrap HOST:PORT",
        )
    wanted = options.clients or tuple(declared)
    needs = [Need(client=name, service=name, addresses=tuple(declared[name])) for name in wanted if declared[name]]
    if options.bootstraps:
        needs.append(Need(client=DOCKER_HOST, addresses=options.bootstraps))
    if not needs:
        published = tuple(one for one in bootstraps(deployment) if one.host == "localhost")
        ports = {p.published for b in deployment.brokers for p in b.member.published if p.protocol == "tcp"}
        needs = [Need(client=DOCKER_HOST, addresses=tuple(one for one in published if one.port in ports))]
    if not needs[0].addresses:
        raise InputError(
            "declares no Kafka client, and publishes no Kafka listener",
            where=files.name,
            hint="say what must work from the docker host: --bootstrap HOST:PORT",
        )
    file = None if files.files[0] == STDIN else os.path.abspath(files.files[0])
    return _Project(name=project.name, file=file), tuple(needs)


def _round(
    project: _Project, needs: Sequence[Need], host: str | None, client: "Client | None", step: float
) -> tuple[Lack, ...]:
    """What is lacking now."""
    from netdiag.io.engine.live_deployment import read_live
    from netdiag.io.network.observation import ask_for_topics, observe

    try:
        seen = read_live(host=host, project=project.name, compose_file=project.file)
    except InputError as error:
        return tuple(Lack(client=need.client, because=error.message) for need in needs)
    places = _places(seen)
    lacking: list[Lack] = []
    taken: dict[str, LiveVantage] = {}
    wanted: dict[str, tuple[Address, ...]] = {}
    for need in needs:
        found = [places[name] for name in _members(seen, need) if name in places]
        lacking += _not_running(seen, need)
        for vantage in found:
            taken[vantage.vantage.label] = vantage
            wanted[vantage.vantage.label] = need.addresses
    addresses = tuple(dict.fromkeys(one for need in needs for one in need.addresses))
    observed = observe(tuple(taken.values()), addresses, timeout=step, client=client)
    lacking += (
        Lack(client=one.vantage.member or DOCKER_HOST, because=f"cannot be entered: {one.because}", unseen=True)
        for one in observed.skipped
    )
    vantages = [each.vantage for each in taken.values()]
    deployment = seen.deployment.with_down(seen.stopped)
    asked: set[str | None] = set()
    for cell in identified(deployment, vantages, observed.cells, observed.names):
        assert cell.observed is not None
        if cell.bootstrap not in wanted[cell.vantage]:
            continue
        who = taken[cell.vantage].vantage.member or DOCKER_HOST
        if not cell.observed.usable:
            because = f"{cell.bootstrap}: {_reason(cell.observed)}"
            starting = "".join(f"; {name} is starting: {sign}" for name, sign in seen.starting.items())
            lacking.append(Lack(client=who, because=because + starting))
        bootstrap = cell.observed.bootstrap
        # All brokers of a cluster say the same of its topics.
        if isinstance(bootstrap, Answered) and not bootstrap.foreign and bootstrap.cluster_id not in asked:
            asked.add(bootstrap.cluster_id)
            topics = ask_for_topics(taken[cell.vantage], cell.bootstrap, timeout=step, client=client)
            lacking += _leaderless(who, cell.bootstrap, topics)
    return tuple(lacking)


def _places(seen: "Live") -> dict[str | None, "LiveVantage"]:
    """Where one can stand: by container, and the docker host by None."""
    places: dict[str | None, LiveVantage] = {}
    for each in seen.vantages:
        if each.vantage.member is not None or each.vantage.kind is VantageKind.DOCKER_HOST:
            places.setdefault(each.vantage.member, each)
    return places


def _members(seen: "Live", need: Need) -> Iterator[str | None]:
    """The containers of a client, as members."""
    if need.service is None:
        yield None
    for member in seen.deployment.members:
        if need.service is not None and member.service == need.service:
            yield member.name


def _not_running(seen: "Live", need: Need) -> Iterator[Lack]:
    """Why nobody can stand in the containers of a client; one that has done its work lacks nothing."""
    if need.service is None:
        return
    found = [c for c in seen.containers if c.service == need.service and c.project == seen.deployment.name]
    if not found:
        because = "has no container: start it, or name the clients to wait for with --client"
        yield Lack(client=need.client, because=because, unseen=True)
    for container in found:
        if container.state.has_process:
            if seen.skipped:
                yield Lack(client=need.client, because=f"cannot be entered: {seen.skipped[0].because}", unseen=True)
        elif container.state.status in _STARTING or container.state.exit_code != 0:
            yield Lack(client=need.client, because=_state(container))


def _state(container: Container) -> str:
    if container.state.status in _STARTING:
        return f"its container is {container.state.status.value}"
    return f"its container has exited with {container.state.exit_code}"


def _reason(verdict: Verdict) -> str:
    match verdict.bootstrap:
        case Failed(because=because) | Unknown(because=because) | Ambiguous(because=because):
            return because
        case Answered(foreign=True, because=because):
            return because
    failed = [one for one in verdict.endpoints if one.outcome != Word.OK]
    if not failed:
        return "no broker is registered"
    first = failed[0]
    why = first.outcome if isinstance(first.contact, Answered) else first.contact.because
    more = f" (and {len(failed) - 1} more brokers)" if len(failed) > 1 else ""
    return f"broker {first.endpoint.node_id} at {first.endpoint.address}: {why}{more}"


def _leaderless(client: str, address: Address, contact: Contact) -> Iterator[Lack]:
    if not isinstance(contact, Answered):
        yield Lack(client=client, because=f"{address}: cannot tell which topics have leaders: {contact.because}")
    elif contact.leaderless:
        yield Lack(client=client, because=f"{address}: {_without_leader(contact.leaderless)}")


def _without_leader(topics: Sequence[str]) -> str:
    more = f" and {len(topics) - _TOPICS_SHOWN} more" if len(topics) > _TOPICS_SHOWN else ""
    plural = "s" if len(topics) > 1 else ""
    return f"no leader for topic{plural} {', '.join(topics[:_TOPICS_SHOWN])}{more}"
