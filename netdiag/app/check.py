"""Check compose files: each project is read, judged by the rules and predicted on its own."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from netdiag.app.configuration import CheckOptions, Configurations, Settings, fail_on
from netdiag.app.matrix import predicted_matrix
from netdiag.app.progress import SILENT, Listener
from netdiag.app.reports import interrupted, unread
from netdiag.app.suppression import Part, suppressed_report
from netdiag.compose.checks import fragment_findings, is_completed, is_fragment, own_findings, unfinished_services
from netdiag.deployment.model.platform import HostKind, Platform
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.compose_text import with_origins
from netdiag.errors import NetdiagError, internal_error
from netdiag.findings import FileLocation, Severity
from netdiag.io.files import BASE_NAMES, read_config
from netdiag.io.files.projects import (
    NoProject,
    ProjectFiles,
    ProjectReader,
    base_beside,
    find_project,
    project_of,
    projects_at,
)
from netdiag.render.report import Input, Matrix, Report
from netdiag.rules.compose import check_project
from netdiag.rules.declared import check_deployment
from netdiag.values import dataclass


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


def check(options: CheckOptions, listener: Listener = SILENT) -> CheckResult:
    """Check the projects of the options; an input that cannot be read, or was not reached, carries its error."""
    return Check(options, listener).run()


class Check:
    """A check whose projects and configurations are found once, to be read as often as needed."""

    def __init__(self, options: CheckOptions, listener: Listener = SILENT) -> None:
        self.options = options
        self.listener = listener
        self.targets, settings = targets_of(options)
        self.fail_on = fail_on(settings, options.fail_on)
        self._configuration_files = tuple(item.configuration.path for item in settings)

    def run(self, replaced: Mapping[str, bytes] | None = None) -> CheckResult:
        """Check everything, with some bytes in the place of what files hold."""
        if not self.targets:
            self.listener.notice(f"nothing to check: no {', '.join(BASE_NAMES)} in this folder or one above")
        return CheckResult(
            report=self.report(self.targets, replaced or {}, matrix=self.options.matrix),
            fail_on=self.fail_on,
            also_read=(*self._configuration_files, self.options.baseline or ""),
        )

    def report(self, targets: tuple[Target, ...], replaced: Mapping[str, bytes], *, matrix: bool) -> Report:
        """The report on some of the targets."""
        parts: list[Part] = []
        for index, target in enumerate(targets):
            configuration = target.settings.configuration.path
            if configuration:
                self.listener.detail(f"{target.project.name} is configured by {configuration}")
            try:
                report = guarded(Input(name=target.project.name), self.listener, self._reader(target, replaced, matrix))
            except KeyboardInterrupt as error:
                self.listener.handled(error)
                report = interrupted(Input(name=left.project.name) for left in targets[index:])
            parts.append(Part(report=with_source(report, configuration), selection=target.settings.selection))
            if report.interrupted:
                break
        return suppressed_report(parts, self.options, self.listener)

    def _reader(self, target: Target, replaced: Mapping[str, bytes], matrix: bool) -> Callable[[], Report]:
        def read() -> Report:
            self.listener.detail(f"reading {target.project.name}")
            if isinstance(target.project, NoProject):
                raise target.project.error
            return self._checked(target.project, target.settings, replaced, matrix=matrix)

        return read

    def _checked(
        self, files: ProjectFiles, settings: Settings, replaced: Mapping[str, bytes], *, matrix: bool
    ) -> Report:
        reader = ProjectReader(files, settings.read, replaced)
        project = reader.read()
        named = files.name
        fragment = files.alone and is_fragment(project)
        base = base_beside(files) if fragment else None
        notes: list[str] = []
        if base is not None:
            both = ProjectReader(base, settings.read, replaced)
            with suppress(NetdiagError):
                whole = both.read()
                if is_completed(project, whole):
                    notes.append(f"{named} looks like an override of {base.files[0]}: checked together with it")
                    reader, project, fragment = both, whole, False
        on_base = bool(notes)
        kind = HostKind.DESKTOP if settings.facts.docker_desktop else HostKind.LINUX
        deployment = from_compose(
            project,
            host_addresses=settings.host_addresses,
            facts=settings.facts,
            read=reader.read_mounted,
            platform=self.options.engine.over(Platform(kind=kind)),
        )
        findings = (*check_project(project), *check_deployment(deployment))
        unfinished = unfinished_services(project) if fragment else frozenset()
        brokers = tuple(broker.name for broker in deployment.brokers)
        matrices: tuple[Matrix, ...] = ()
        if brokers and matrix and not unfinished:
            predicted = predicted_matrix(files.name, deployment, findings)
            if isinstance(predicted, Matrix):
                matrices = (predicted,)
            else:
                notes.append(predicted)
        if on_base:
            findings = tuple(own_findings(findings, project, named))
        if fragment:
            findings = tuple(fragment_findings(findings, project, named))
        also_read = tuple(path for path in reader.contents if path != files.name)
        return Report(
            inputs=(Input(name=files.name, brokers=brokers, also_read=also_read),),
            findings=with_origins(findings, project),
            matrices=matrices,
            notes=tuple(notes),
            sources=reader.sources(),
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
