"""Check compose files: each project is read, judged by the rules and predicted, with others on its networks."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from netdiag.app.configuration import CheckOptions, Configurations, Settings, fail_on
from netdiag.app.progress import SILENT, Listener
from netdiag.app.reports import address_rows, interrupted, predicted_matrix, unread
from netdiag.app.suppression import Part, suppressed_report
from netdiag.compose.checks import (
    fragment_findings,
    is_completed,
    is_fragment,
    own_findings,
    unfinished_services,
)
from netdiag.compose.project import Project
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.deployment import (
    Broker,
    Deployment,
    HostKind,
    Member,
    Network,
    NetworkKind,
    Platform,
    Surroundings,
)
from netdiag.deployment.neighbours import url_cells
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.compose_text import with_origins
from netdiag.deployment.sources.startup import IN_VOLUME
from netdiag.errors import NetdiagError, internal_error
from netdiag.findings import FileLocation, Severity
from netdiag.io.files import BASE_NAMES, read_config
from netdiag.io.files.projects import (
    NoProject,
    ProjectFiles,
    ProjectReader,
    SingleFile,
    base_beside,
    ci_files,
    find_project,
    manifests_in,
    project_of,
    projects_at,
    single_file_at,
    store_tools,
)
from netdiag.render.report import Input, Matrix, Report, UrlRow
from netdiag.rules.compose import check_project
from netdiag.rules.declared import check_deployment
from netdiag.values import dataclass


def may_share_networks(deployment: Deployment) -> bool:
    """Whether members of other projects may be on one of its networks."""
    return any(_may_be_shared(deployment, network) for network in deployment.networks.values())


def with_neighbours(deployments: Sequence[Deployment]) -> tuple[Deployment, ...]:
    """Deployments from files, each surrounded by the members of other projects that stand on a network of its own.

    Networks are the same that have the same name, whichever key each file has for it.
    """
    return tuple(_surrounded(one, [other for other in deployments if other.name != one.name]) for one in deployments)


def _surrounded(deployment: Deployment, others: Sequence[Deployment]) -> Deployment:
    keys = {network.name: key for key, network in deployment.networks.items()}
    brokers: list[Broker] = []
    rest: list[Member] = []
    for other in others:
        shared = {
            key: keys[net.name]
            for key, net in other.networks.items()
            if net.name in keys and _may_be_shared(other, net)
        }
        for broker in other.brokers:
            neighbour = _neighbour(broker.member, shared)
            brokers += [replace(broker, member=neighbour)] if neighbour else []
        rest += [neighbour for member in other.others if (neighbour := _neighbour(member, shared))]
    if not brokers and not rest:
        return deployment
    return replace(deployment, surroundings=Surroundings(brokers=tuple(brokers), others=tuple(rest)))


def _may_be_shared(deployment: Deployment, network: Network) -> bool:
    """Whether others may be on it: it is external, or has a name that is not made of its project's."""
    if network.kind is not NetworkKind.USER_BRIDGE:
        return False
    return network.external or network.name != f"{deployment.name or ''}_{network.key}"


def _neighbour(member: Member, shared: Mapping[str, str]) -> Member | None:
    """A member as its neighbours see it; None for one that is not on their networks.

    The ports that it publishes are left out: files that are checked together need not run together.
    """
    attachments = tuple(replace(a, network=shared[a.network]) for a in member.attachments if a.network in shared)
    if not attachments:
        return None
    name = member.container or f"{member.project}-{member.name}-1"
    return replace(member, name=name, attachments=attachments, published=(), shares_with=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found; a finding of the severity `fail_on` or a worse one makes it fail.

    `also_read` are files that it read besides those of the report.
    """

    report: Report
    fail_on: Severity
    also_read: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A project to check, and its settings."""

    project: ProjectFiles | NoProject
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class CiTarget:
    """A file of CI jobs, command lines or manifests to check, and its settings."""

    project: SingleFile
    settings: Settings


def check(options: CheckOptions, listener: Listener = SILENT) -> CheckResult:
    """Check the projects of the options; an input that cannot be read, or was not reached, carries its error."""
    return Check(options, listener).run()


class Check:
    """A check whose projects and configurations are found once, to be read as often as needed.

    `replaced` holds bytes that are taken in the place of what files hold.
    """

    def __init__(
        self, options: CheckOptions, listener: Listener = SILENT, replaced: Mapping[str, bytes] | None = None
    ) -> None:
        self.options = options
        self.listener = listener
        self._replaced = replaced or {}
        found_at = {
            path: (file,) if (file := single_file_at(path, self._replaced)) else manifests_in(path)
            for path in options.files
        }
        jobs = tuple({file.path: file for files in found_at.values() for file in files}.values())
        named = {file.path for file in jobs} | {path for path, files in found_at.items() if files}
        if options.ci:
            jobs += tuple(file for file in ci_files(options.read.project_directory or "") if file.path not in named)
        rest = replace(options, files=tuple(path for path in options.files if path not in named))
        projects, settings = targets_of(rest, search=not jobs and not options.ci)
        configurations = Configurations(options)
        found = tuple(CiTarget(project=f, settings=configurations.settings(f.configuration_folder)) for f in jobs)
        self.targets: tuple[Target | CiTarget, ...] = (*projects, *found)
        settings = tuple(target.settings for target in self.targets) or settings
        self.fail_on = fail_on(settings, options.fail_on)
        self._configuration_files = tuple(item.configuration.path for item in settings)

    def run(self, replaced: Mapping[str, bytes] | None = None) -> CheckResult:
        """Check everything, with some bytes in the place of what files hold."""
        if not self.targets:
            nothing = f"no {', '.join(BASE_NAMES)} in this folder or one above"
            if self.options.ci:
                nothing = "no .gitlab-ci.yml and nothing in .github/workflows of this repository"
            self.listener.notice(f"nothing to check: {nothing}")
        return CheckResult(
            report=self.report(self.targets, replaced or {}, matrix=self.options.matrix),
            fail_on=self.fail_on,
            also_read=(*self._configuration_files, self.options.baseline or ""),
        )

    def report(self, targets: tuple[Target | CiTarget, ...], replaced: Mapping[str, bytes], *, matrix: bool) -> Report:
        """The report on some of the targets."""
        replaced = {**self._replaced, **replaced}
        parts: list[Part] = []
        sharing: dict[int, _Project] = {}
        for index, target in enumerate(targets):
            configuration = target.settings.configuration.path
            if configuration:
                self.listener.detail(f"{target.project.name} is configured by {configuration}")
            found: list[_Project] = []
            item = Input(name=target.project.name)
            try:
                report = guarded(item, self.listener, self._reader(target, replaced, found, matrix=matrix))
            except KeyboardInterrupt as error:
                self.listener.handled(error)
                report = interrupted(Input(name=left.project.name) for left in targets[index:])
            parts.append(Part(report=with_source(report, configuration), selection=target.settings.selection))
            if report.interrupted:
                break
            # Of thousands of projects, few share a network with others.
            if found and may_share_networks(found[0].deployment):
                sharing[index] = found[0]
        self._look_around(parts, targets, sharing, matrix=matrix)
        return suppressed_report(parts, self.options, self.listener)

    def _reader(
        self, target: Target | CiTarget, replaced: Mapping[str, bytes], found: list["_Project"], *, matrix: bool
    ) -> Callable[[], Report]:
        def read() -> Report:
            self.listener.detail(f"reading {target.project.name}")
            if isinstance(target, CiTarget) and target.project.kind == "kubernetes":
                from netdiag.app import kubernetes  # nobody else pays for its readers

                named = frozenset(other.project.name for other in self.targets)
                return kubernetes.report_on(target.project, named, replaced, self.options, matrix=matrix)
            if isinstance(target, CiTarget):
                from netdiag.app.ci import report_on  # nor for these

                return report_on(target.project, target.settings, self.options, replaced, matrix=matrix)
            if isinstance(target.project, NoProject):
                raise target.project.error
            found.append(self._read(target.project, target.settings, replaced))
            return self._judged(found[0], matrix=matrix)

        return read

    def _read(self, files: ProjectFiles, settings: Settings, replaced: Mapping[str, bytes]) -> "_Project":
        reader = ProjectReader(files, settings.read, replaced)
        project = reader.read()
        fragment = files.alone and is_fragment(project)
        base = base_beside(files) if fragment else None
        notes: list[str] = []
        if base is not None:
            both = ProjectReader(base, settings.read, replaced)
            with suppress(NetdiagError):
                whole = both.read()
                if is_completed(project, whole):
                    notes.append(f"{files.name} looks like an override of {base.files[0]}: checked together with it")
                    reader, project, fragment = both, whole, is_fragment(whole)
        kind = HostKind.DESKTOP if settings.facts.docker_desktop else HostKind.LINUX

        def deployed(read: ReadFile) -> Deployment:
            return from_compose(
                project,
                host_addresses=settings.host_addresses,
                facts=settings.facts,
                read=read,
                stores=store_tools,
                folder=reader.folder,
                platform=self.options.engine.over(Platform(kind=kind)),
            )

        if self.options.engine.kind is HostKind.SWARM:
            from netdiag.deployment.sources.swarm import stack_notes, without_compose_only

            notes += stack_notes(project, reader.named_sources())
            project = without_compose_only(project)
        if self.options.volumes:
            deployment, unread = with_volumes(deployed, reader.read_mounted, self.options.host)
            notes += unread
        else:
            deployment = deployed(reader.read_mounted)
        return _Project(
            files=files,
            reader=reader,
            project=project,
            deployment=deployment,
            notes=tuple(notes),
            is_fragment=fragment,
        )

    def _judged(self, read: "_Project", *, matrix: bool) -> Report:
        report = _judged(read, matrix=matrix)
        if self.options.addresses:
            report = replace(report, addresses=address_rows(read.files.name, read.deployment))
        return report

    def _look_around(
        self,
        parts: list[Part],
        targets: Sequence[Target | CiTarget],
        projects: Mapping[int, "_Project"],
        *,
        matrix: bool,
    ) -> None:
        """Judge again, with their neighbours, the projects that share a network with others."""
        around = with_neighbours([project.deployment for project in projects.values()])
        for (index, project), deployment in zip(projects.items(), around, strict=True):
            if deployment is not project.deployment:
                known = replace(project, deployment=deployment)
                item = Input(name=targets[index].project.name)
                report = guarded(item, self.listener, partial(self._judged, known, matrix=matrix))
                configuration = targets[index].settings.configuration.path
                parts[index] = replace(parts[index], report=with_source(report, configuration))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Project:
    """A project that was read.

    A file that is part of something was read with its base, which `notes` say, or `is_fragment`.
    """

    files: ProjectFiles
    reader: ProjectReader
    project: Project
    deployment: Deployment
    notes: tuple[str, ...]
    is_fragment: bool


def with_volumes(
    deployed: Callable[[ReadFile], Deployment], read: ReadFile, host: str | None
) -> tuple[Deployment, tuple[str, ...]]:
    """A deployment made of files of which some lie in volumes of an engine; which volumes netdiag cannot read."""
    from netdiag.io.extras import require_live

    require_live("--volumes")
    from netdiag.io.engine.data_directories import volume_files

    with volume_files(host) as volumes:

        def read_either(path: str) -> bytes | None:
            if not path.startswith(IN_VOLUME):
                return read(path)
            volume, _, inside = path.removeprefix(IN_VOLUME).partition("/")
            return volumes.read(volume, inside)

        return deployed(read_either), tuple(volumes.unread.values())


def _judged(read: _Project, *, matrix: bool) -> Report:
    files, project, deployment = read.files, read.project, read.deployment
    findings = (*check_project(project), *check_deployment(deployment))
    unfinished = unfinished_services(project) if read.is_fragment else frozenset()
    brokers = tuple(broker.name for broker in deployment.brokers)
    controllers = tuple(broker.name for broker in deployment.brokers if not broker.config.is_broker)
    notes = list(read.notes)
    matrices: tuple[Matrix, ...] = ()
    if brokers and matrix and not unfinished:
        predicted = predicted_matrix(files.name, deployment, findings)
        if isinstance(predicted, Matrix):
            matrices = (predicted,)
        else:
            notes.append(predicted)
    if read.notes:
        findings = tuple(own_findings(findings, project, files.name))
    if read.is_fragment:
        findings = tuple(fragment_findings(findings, project, files.name))
    also_read = tuple(path for path in read.reader.contents if path != files.name)
    urls = url_cells(deployment) if matrix and not unfinished else ()
    return Report(
        urls=tuple(UrlRow(input=files.name, cell=cell) for cell in urls),
        inputs=(Input(name=files.name, brokers=brokers, controllers=controllers, also_read=also_read),),
        findings=with_origins(findings, project),
        matrices=matrices,
        notes=tuple(notes),
        sources=read.reader.sources(),
    )


def targets_of(options: CheckOptions, *, search: bool = True) -> tuple[tuple[Target, ...], tuple[Settings, ...]]:
    """The projects that the options name, or with `search` the one that compose finds, and every settings read.

    Without a project these are the settings of the current folder.
    """
    directory = options.read.project_directory
    projects: tuple[ProjectFiles | NoProject, ...]
    if options.project_files:
        projects = (project_of(options.project_files, directory),)
    else:
        projects = projects_at(options.files, directory)
        if not projects and search:
            found = find_project(options.read)
            projects = () if found is None else (found,)
    configurations = Configurations(options)
    targets = tuple(
        Target(project=project, settings=configurations.settings(project.configuration_folder)) for project in projects
    )
    return targets, tuple(target.settings for target in targets) or (configurations.settings(""),)


def guarded(item: Input, listener: Listener, look: Callable[[], Report]) -> Report:
    """What `look` reports, or why it could not: a defect of ours must not hide what the other inputs say."""
    try:
        return look()
    except NetdiagError as error:
        listener.handled(error)
        return unread(item, error)
    except Exception as error:  # noqa: BLE001
        listener.handled(error)
        return unread(item, internal_error(error))


def with_source(report: Report, configuration: str) -> Report:
    """The report with the bytes of the configuration where a finding points into it."""
    places = (p for f in report.findings for p in (f.location, *(r.location for r in f.related)))
    if not any(isinstance(place, FileLocation) and place.path == configuration for place in places):
        return report
    return replace(report, sources={**report.sources, configuration: read_config(configuration)})
