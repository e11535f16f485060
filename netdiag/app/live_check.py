"""Check what runs: the engine is asked, every vantage tried, and what was seen is judged, predicted and recorded."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from netdiag.app.check import CheckResult, guarded, targets_of, with_volumes
from netdiag.app.configuration import CheckOptions, LiveOptions, Settings, fail_on
from netdiag.app.matrix import observed_matrix
from netdiag.app.progress import SILENT, Listener
from netdiag.app.registry import DirectoriesBeside, cluster_readings
from netdiag.app.reports import distinct, interrupted, merged, too_large, unread
from netdiag.app.rerun import sudo_line, via_line
from netdiag.app.suppression import Part, suppressed_report
from netdiag.compose.project import Project
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.causes import causes_of
from netdiag.deployment.model.deployment import Deployment, Relay
from netdiag.deployment.model.vantage import Vantage, VantageKind, bootstraps, own_addresses
from netdiag.deployment.model.verdict import Address, Answered
from netdiag.deployment.neighbours import url_cells
from netdiag.deployment.observation.live_view import LiveView, combined, observed_urls, secured_ports
from netdiag.deployment.observation.observed_relays import observed_relays, with_unknown_relays
from netdiag.deployment.observation.recording import (
    LARGEST,
    Failure,
    Look,
    NotTaken,
    from_json,
    masked_source,
    seen_cells,
    to_json,
)
from netdiag.deployment.prediction.mesh import mesh_edges
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.declared_services import DeclaredServices, PredictedRefusal, declared_services
from netdiag.deployment.sources.engine import from_engine, runs_kafka
from netdiag.deployment.sources.relays import of_running
from netdiag.engine.events import ShortLife, ShortLives
from netdiag.errors import EngineError, InputError, NetdiagError
from netdiag.findings import Severity
from netdiag.io.extras import require_live
from netdiag.io.files import read_file, write_file
from netdiag.io.files.projects import STDIN, NoProject, ProjectFiles, ProjectReader, store_tools
from netdiag.linux.netns import NamespaceId
from netdiag.render.redact import secret_spans
from netdiag.render.report import CameAndWent, Input, Matrix, Report, SeenCluster, SeenPort, Skipped, UrlRow
from netdiag.rules.declared import check_deployment, startup_errors
from netdiag.rules.observed import check_live as check_view
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.deployment.observation.live_view import SkippedVantage as Untaken
    from netdiag.io.engine.live_deployment import Live

# Seconds that an engine has to say what has happened.
_FOR_EVENTS = 1.0
# Seconds that brokers have to say to which cluster they belong; of those that do not, the configuration decides.
_TO_TELL_CLUSTERS = 1.0

Explain = Callable[[Matrix], tuple[Matrix, tuple[str, ...]]]
"""Gives a matrix the causes of what failed, and notes about that."""


def _unexplained(matrix: Matrix) -> tuple[Matrix, tuple[str, ...]]:
    return matrix, ()


def check_live(options: CheckOptions, live: LiveOptions, listener: Listener = SILENT) -> CheckResult:
    """Check the projects of the options, the containers named, or everything that runs on the engine."""
    return LiveCheck(options, live, listener).run()


def replay(path: str, options: CheckOptions, listener: Listener = SILENT) -> CheckResult:
    """Judge a recording, and look nowhere else; InputError of one line where it is none."""
    _, (settings, *_) = targets_of(options, search=False)
    return _result(replayed(path, listener), settings, options, fail_on([settings], options.fail_on), listener)


class LiveCheck:
    """A check of what runs, whose projects and configurations are found once, to be made as often as needed."""

    def __init__(self, options: CheckOptions, live: LiveOptions, listener: Listener = SILENT) -> None:
        self._options = options
        self._live = live
        self._listener = listener
        self._targets, settings = targets_of(options, search=False)
        self._settings = settings[0]
        self._fail_on = fail_on(settings, options.fail_on)
        self._between: dict[str, _Between] = {}

    def run(self) -> CheckResult:
        """Look now, and report."""
        report = self.report()
        return _result(report, self._settings, self._options, self._fail_on, self._listener)

    def report(self) -> Report:
        """What is seen now, before anything that the user does not want to hear of is left out."""
        projects: list[ProjectFiles | NoProject | None] = [target.project for target in self._targets] or [None]
        reports: list[Report] = []
        looks: list[Look] = []
        for index, project in enumerate(projects):
            item = self._item(project)
            before = len(looks)
            try:
                reports.append(guarded(item, self._listener, self._looker(item, project, looks)))
            except KeyboardInterrupt as error:
                self._listener.handled(error)
                return merged((*reports, interrupted(map(self._item, projects[index:]))))
            if len(looks) == before:
                looks.append(_failed(item, reports[-1]))
        return merged(reports) if self._live.record is None else record(looks, self._live.record)

    def _item(self, project: ProjectFiles | NoProject | None) -> Input:
        if project is not None:
            return Input(name=f"{project.name} (running)", kind="project")
        name = self._options.read.project_name
        if name is not None and not self._live.containers:
            return Input(name=f"{name} (running)", kind="project")
        return Input(name=", ".join(self._live.containers) or self._live.host or "docker engine", kind="engine")

    def _looker(self, item: Input, project: ProjectFiles | NoProject | None, looks: list[Look]) -> Callable[[], Report]:
        def look() -> Report:
            reports: list[Report] = []
            declared, every = self._read(project)
            reports.append(self._came_and_went(item, every[0]))
            for one in every:
                is_section = len(every) > 1 or (one.scope.name and not (one.scope.project or self._live.containers))
                seen = self._look(_section(one) if is_section else item, one, declared)
                reports.append(judged(seen, one.deployment, self._explain(one) if self._live.why else _unexplained))
                looks.append(seen)
            return merged(reports)

        return look

    def _came_and_went(self, item: Input, seen: "Live") -> Report:
        """What has started and ended since the look before at an input; nothing at the first look."""
        between = self._between.setdefault(item.name, _Between())
        try:
            lives = between.look(seen)
        except EngineError as error:
            self._listener.handled(error)
            between.note = f"containers that come and go between two looks are not told: {error.message}"
            lives = ()
        project = seen.scope.project if item.kind == "project" else None
        names = {name.removeprefix("/") for name in self._live.containers}
        meant = (
            life
            for life in lives
            if (not names or life.start.name in names) and (project is None or life.start.project == project)
        )
        return Report(
            came_and_went=tuple(CameAndWent(input=item.name, life=life) for life in meant),
            notes=(between.note,) if between.note else (),
        )

    def _read(self, project: ProjectFiles | NoProject | None) -> tuple["_Declared | None", tuple["Live", ...]]:
        """What the files declare of one input, and what runs of it: without files and names, cluster by cluster."""
        require_live()
        from netdiag.io.engine.live_deployment import OtherVantages, read_live, read_machine

        live, settings = self._live, self._settings
        if isinstance(project, NoProject):
            raise project.error
        declared = None if project is None else _declared(project, settings, live.host)
        name = self._options.read.project_name if declared is None else declared.project.name
        self._listener.detail("asking the engine" + (f" about project {name}" if name else ""))
        file = None if project is None or project.files[0] == STDIN else os.path.abspath(project.files[0])
        vantages = OtherVantages(netns=live.netns, containers=live.vantages, everywhere=live.all_vantages)
        if name is None and not live.containers:
            machine = read_machine(live.host)
            told = self._told_clusters(machine.whole())
            every = tuple(machine.live(scope, vantages) for scope in machine.scopes(told))
        else:
            one = read_live(host=live.host, project=name, compose_file=file, names=live.containers, vantages=vantages)
            every = (one,)
        first = every[0]
        self._listener.detail(f"engine {first.release} at {first.address.url}: {len(first.containers)} containers")
        return declared, tuple(self._as_told(one, declared) for one in every)

    def _explain(self, seen: "Live") -> Explain:
        entrances = {each.vantage.label: each.entrance for each in seen.vantages}
        return lambda matrix: explained(matrix, entrances, self._live.host, self._listener)

    def _told_clusters(self, everything: "Live") -> dict[str, Answered]:
        """What each broker says of its cluster, by container, asked from inside; not of those of one project."""
        from netdiag.io.network.observation import observe

        brokers = everything.deployment.brokers
        if len({broker.member.project or broker.name for broker in brokers}) < 2:
            return {}
        inside = [each for each in everything.vantages if each.vantage.kind is VantageKind.BROKER]
        doors = [address for broker in brokers for address in own_addresses(broker)]
        found: dict[str, Answered] = {}
        for cell in observe(inside, doors, timeout=min(self._live.timeout, _TO_TELL_CLUSTERS)).cells:
            contact = cell.observed.bootstrap if cell.observed else None
            vantage = next(each.vantage for each in inside if each.vantage.label == cell.vantage)
            broker = everything.deployment.broker(vantage.member or "")
            if broker is None or not isinstance(contact, Answered) or cell.bootstrap not in own_addresses(broker):
                continue
            found.setdefault(broker.member.container or broker.name, contact)
        return found

    def _as_told(self, seen: "Live", declared: "_Declared | None") -> "Live":
        """With what the user says of the engine and its machine."""
        deployment = replace(
            seen.deployment,
            host_addresses=self._settings.host_addresses or seen.deployment.host_addresses,
            platform=self._options.engine.over(seen.deployment.platform),
            relays=seen.deployment.relays + of_running(declared.relays if declared else (), seen.deployment),
        )
        return replace(seen, deployment=deployment)

    def _look(self, item: Input, seen: "Live", declared: "_Declared | None") -> Look:
        """All that can be seen of one input."""
        from netdiag.io.engine.live_deployment import read_peers
        from netdiag.io.network.client_identity import read_client
        from netdiag.io.network.observation import observe
        from netdiag.io.network.registry import together
        from netdiag.io.network.rest_neighbours import read_neighbours

        live, deployment = self._live, seen.deployment
        client = None if live.client_properties is None else read_client(live.client_properties)
        found = _without_cells(item, seen, declared)
        if not deployment.brokers or not self._options.matrix:
            return found
        addresses = client_addresses(deployment)
        note = too_large(item.name, seen.vantages, addresses)
        if note:
            return replace(found, notes=(note,))
        readings = cluster_readings(seen, tries_doors=False)
        begin = time.monotonic()
        beside = DirectoriesBeside(seen, readings, self._listener)
        observed = observe(
            seen.vantages,
            addresses,
            timeout=live.timeout,
            edges=mesh_edges(deployment.with_down(seen.stopped)),
            client=client,
            warn_days=live.warn_days,
            registry=together([one.questions() for one in readings]),
        )
        directories = beside.found(begin + live.timeout - time.monotonic())
        registered = (one.joined(observed.registry, directories) for one in readings)
        again = (
            observe(seen.vantages, addresses, timeout=live.timeout, client=client).cells for _ in range(1, live.repeat)
        )
        cells, flapping = combined((observed.cells, *again))
        skipped = (*seen.skipped, *observed.skipped)
        vantages = vantages_of(seen, skipped)
        relaying = with_unknown_relays(deployment, vantages, cells)
        groups, urls = read_neighbours(deployment, seen.vantages, timeout=live.timeout)
        return replace(
            found,
            vantages=vantages,
            speaks="PLAINTEXT" if client is None else client.properties.security_protocol,
            security=secured_ports(deployment, vantages, observed.security, now=datetime.now(UTC)),
            addresses=addresses,
            cells=seen_cells(cells),
            flapping=flapping,
            names=observed.names,
            peers=read_peers(seen, relaying),
            mesh=observed.mesh,
            groups=groups,
            urls=urls,
            registered=tuple(one for one in registered if one.registries),
            not_taken=(*(_not_taken(each, seen, live.argv) for each in skipped), *_untold_tasks(seen)),
            notes=observed.notes,
        )


class _Between:
    """What the engine says of the time between two looks; an engine that has failed to is not asked again."""

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._lives = ShortLives()
        self.note = ""

    def look(self, seen: "Live") -> tuple[ShortLife, ...]:
        """The containers that have started and ended since the look before."""
        if self.note:
            return ()
        since, self._since = self._since, seen.engine_time
        now = seen.engine_time
        events = () if since is None or now is None or now <= since else seen.events_between(since, now, _FOR_EVENTS)
        # A broker that has ended and is still there is told as one that does not run.
        known = (c.id for c in seen.containers if c.state.has_process or runs_kafka(c))
        return self._lives.take(events, known)


def judged(look: Look, deployment: Deployment | None = None, explain: Explain = _unexplained) -> Report:
    """The report on a look; the deployment is made of it where it is not at hand."""
    kind: Literal["project", "engine"] = "project" if look.kind == "project" else "engine"
    item = Input(name=look.name, kind=kind)
    if look.failure is not None:
        failure = look.failure
        return unread(item, NetdiagError(failure.message, where=failure.where, hint=failure.hint))
    deployment = deployment or deployment_of(look)
    seen = look.observed()
    relays = observed_relays(deployment, look.vantages, seen, look.peers)
    deployment = replace(deployment, relays=deployment.relays + relays)
    urls = observed_urls(url_cells(deployment), look.urls, deployment) if look.addresses is not None else ()
    view = LiveView(
        deployment=deployment,
        stopped=look.stopped,
        starting=look.starting,
        logs=look.logs,
        ports={name: frozenset(socket.port for socket in sockets) for name, sockets in look.sockets.items()},
        vantages=look.vantages,
        security=look.security,
        mesh=look.mesh,
        declared=look.declared,
        flapping=look.flapping,
        groups=look.groups,
        urls=urls,
        is_cut=bool(look.notes),
    )
    report = Report(
        urls=tuple(UrlRow(input=look.name, cell=cell) for cell in urls),
        security=tuple(SeenPort(input=look.name, port=port) for port in look.security),
        inputs=(
            replace(
                item,
                brokers=tuple(broker.name for broker in deployment.brokers),
                controllers=tuple(broker.name for broker in deployment.brokers if not broker.config.is_broker),
            ),
        ),
        skipped=tuple(Skipped(vantage=one.vantage, reason=one.reason, command=one.command) for one in look.not_taken),
        notes=(*look.notes, *map(str, look.groups)),
        is_cut=bool(look.notes),
        registered=tuple(SeenCluster(input=look.name, cluster=one) for one in look.registered),
        sources={path: text.encode() for path, text in look.sources.items()},
    )
    if look.addresses is None:
        return replace(report, findings=check_view(view, look.registered))
    note = too_large(look.name, look.vantages, look.addresses)
    if note:
        return replace(report, findings=check_view(view, look.registered), notes=(*report.notes, note), is_cut=True)
    matrix = observed_matrix(
        look.name,
        deployment,
        look.vantages,
        look.addresses,
        seen,
        names=look.names,
        stopped=look.stopped,
        speaks=look.speaks,
    )
    matrix, notes = explain(matrix)
    view = replace(view, cells=matrix.cells, causes=causes_of(matrix.cells, matrix.causes))
    findings = check_view(view, look.registered)
    matrices = (replace(matrix, mesh=look.mesh),)
    return replace(report, findings=findings, matrices=matrices, notes=(*report.notes, *notes))


def deployment_of(look: Look) -> Deployment:
    """What runs, made of what the engine said."""
    return from_engine(
        look.containers,
        look.networks,
        asked=look.asked,
        name=look.project,
        host_addresses=look.host_addresses,
        platform=look.platform,
        sockets=look.sockets,
        relays=look.relays,
    )


def record(looks: Sequence[Look], path: str) -> Report:
    """Write looks to a file, and report on what stands there: the same as a replay of it."""
    document = to_json(tuple(map(_masked, looks)))
    write_file(path, document.encode())
    return merged(map(judged, from_json(document.encode())))


def replayed(path: str, listener: Listener = SILENT) -> Report:
    """The report on a recording; InputError of one line where it is none."""
    try:
        return merged(map(judged, from_json(read_file(path, limit=LARGEST))))
    except NetdiagError as error:
        raise InputError(error.message, where=error.where or path, hint=error.hint) from error
    except Exception as error:
        listener.handled(error)
        text = f"a broken recording: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise InputError(text, where=path) from error


def explained(
    matrix: Matrix, entrances: Mapping[str, NamespaceId], host: str | None, listener: Listener
) -> tuple[Matrix, tuple[str, ...]]:
    """The matrix with the causes of what failed; a note where the machine could not be looked at for them."""
    from netdiag.io.network.failed_connections import MOST, explain, unexplained
    from netdiag.io.topology import read_topology

    failures = unexplained(matrix.cells, entrances)
    if not failures:
        return matrix, ()
    listener.detail(f"asking why {len(failures)} connections fail")
    try:
        topology = read_topology(host=host)
    except NetdiagError as error:
        listener.handled(error)
        return matrix, (f"--why: {error}",)
    more = len(failures) - MOST
    notes = (f"--why: {more} more connections fail, the first {MOST} are explained",) if more > 0 else ()
    return replace(matrix, causes=explain(topology, failures)), notes


def client_addresses(deployment: Deployment) -> tuple[Address, ...]:
    """The addresses that people try for these brokers, and those that the clients beside them are given."""
    given = (
        Address(host=address.host, port=address.port)
        for client in deployment.clients
        if client.active and client.certain
        for address in client.bootstraps
    )
    return tuple(dict.fromkeys((*bootstraps(deployment), *given)))


def vantages_of(seen: "Live", skipped: Sequence["Untaken"]) -> tuple[Vantage, ...]:
    """Every vantage, taken or not, in a fixed order."""
    return distinct((*(each.vantage for each in seen.vantages), *(item.vantage for item in skipped)))


def _result(
    report: Report, settings: Settings, options: CheckOptions, fail_on: Severity, listener: Listener
) -> CheckResult:
    part = Part(report=report, selection=settings.selection)
    return CheckResult(report=suppressed_report([part], options, listener, live=True), fail_on=fail_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """What the files of a project that runs declare and predict, and the bytes that may be shown."""

    project: Project
    predicted_refusals: tuple[PredictedRefusal, ...]
    relays: tuple[Relay, ...]
    sources: Mapping[str, bytes]


def _declared(files: ProjectFiles, settings: Settings, host: str | None) -> _Declared:
    reader = ProjectReader(files, settings.read)
    project = reader.read()

    def deployed(read: ReadFile) -> Deployment:
        return from_compose(
            project,
            host_addresses=settings.host_addresses,
            facts=settings.facts,
            read=read,
            stores=store_tools,
        )

    try:
        deployment, _ = with_volumes(deployed, reader.read_mounted, host)
    except EngineError:
        # Whoever looks at what runs says so.
        deployment = deployed(reader.read_mounted)
    predicted_refusals = startup_errors(check_deployment(deployment))
    return _Declared(
        project=project, predicted_refusals=predicted_refusals, relays=deployment.relays, sources=reader.sources()
    )


def _section(seen: "Live") -> Input:
    """What a part of the engine is called in the report."""
    return Input(name=f"{seen.scope.name} (running)", kind="project" if seen.scope.project else "engine")


def _without_cells(item: Input, seen: "Live", declared: _Declared | None) -> Look:
    """What the engine and the files say, before anybody is contacted."""
    deployment = seen.deployment
    return Look(
        name=item.name,
        kind=item.kind,
        project=deployment.name,
        containers=seen.containers,
        asked=tuple(sorted(seen.scope.asked)),
        networks=seen.networks,
        platform=deployment.platform,
        host_addresses=deployment.host_addresses,
        stopped={member: str(reason) for member, reason in seen.stopped.items()},
        starting=seen.starting,
        logs=seen.logs,
        sockets=seen.sockets,
        relays=deployment.relays,
        declared=None
        if declared is None
        else DeclaredServices(
            services=declared_services(declared.project, deployment.name),
            predicted_refusals=declared.predicted_refusals,
        ),
        sources=_texts(declared.sources) if declared else {},
    )


def _failed(item: Input, report: Report) -> Look:
    """A look that gave nothing but the error of its report."""
    problem = report.inputs[0].error
    assert problem is not None
    failure = Failure(message=problem.message, where=problem.where, hint=problem.hint)
    return Look(name=item.name, kind=item.kind, failure=failure)


def _not_taken(item: "Untaken", seen: "Live", argv: Sequence[str]) -> NotTaken:
    command = sudo_line(argv, seen.address.url) if item.rights else None
    elsewhere = {member.name for member in seen.deployment.all_members if member.elsewhere is not None}
    if item in seen.skipped and item.vantage.member not in elsewhere:
        # on another machine, as far as can be told from here
        command = via_line(argv)
    return NotTaken(vantage=item.vantage.label, reason=item.because, command=command)


def _untold_tasks(seen: "Live") -> Iterator[NotTaken]:
    """Where the engine knows of a swarm only what runs on its own node."""
    asked = (c for c in seen.containers if c.id in seen.scope.asked)
    if seen.deployment.platform.ingress_ports is None and any(c.task is not None for c in asked):
        reason = "this engine is a worker of its swarm, and only managers tell of them"
        yield NotTaken(vantage="tasks on other nodes", reason=reason)


def _texts(sources: Mapping[str, bytes]) -> dict[str, str]:
    """The files that are text."""
    found: dict[str, str] = {}
    for path, data in sources.items():
        with suppress(UnicodeDecodeError):
            found[path] = data.decode()
    return found


def _masked(look: Look) -> Look:
    """Without the secrets that only a look at whole files finds: the values below a key that names one."""
    return replace(look, sources={path: masked_source(_spans_hidden(text)) for path, text in look.sources.items()})


def _spans_hidden(text: str) -> str:
    lines = text.split("\n")
    shown = list(lines)
    for index in range(len(lines)):
        for start, end in reversed(secret_spans(lines, index)):
            line = shown[index]
            shown[index] = line[:start] + "*" * len(line[start:end].encode()) + line[end:]
    return "\n".join(shown)
