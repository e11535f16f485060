"""Check the jobs of CI files and the command lines of scripts, each as a deployment with the place of its steps."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from netdiag.app.configuration import CheckOptions, Settings
from netdiag.app.reports import address_rows, predicted_matrix
from netdiag.compose.positions import Source
from netdiag.deployment.model.deployment import HostKind, Platform
from netdiag.deployment.sources.ci.github import workflow_jobs
from netdiag.deployment.sources.ci.job import CiJob, DeclaredJob, as_deployment
from netdiag.deployment.sources.compose import from_compose
from netdiag.errors import NetdiagError
from netdiag.findings import Finding
from netdiag.io.files import files_of_folder, is_within, read_file, read_inside
from netdiag.io.files.projects import LARGEST_MOUNTED, ProjectFiles, ProjectReader, SingleFile
from netdiag.render.report import AddressRow, Input, Matrix, Report
from netdiag.rules.ci import agreed, check_job
from netdiag.rules.declared import check_deployment


def report_on(
    file: SingleFile, settings: Settings, options: CheckOptions, replaced: Mapping[str, bytes], *, matrix: bool
) -> Report:
    """The report on a file: an input for each job that has a broker, or one for the file where none has."""
    reading = _Reading(file, replaced)
    if file.kind == "commands":
        return _on_command_lines(file, reading, settings, options, matrix=matrix)
    platform = options.engine.over(Platform(kind=HostKind.LINUX))
    declared = _declared(file, reading, options.gitlab_executor)
    notes: dict[str, None] = {}
    jobs: list[CiJob] = []
    for one in declared:
        try:
            job = _deployed(one, file, reading, settings, platform)
        except NetdiagError as error:
            notes[f"{file.path}: job {one.name}: the Compose project that it starts was not checked: {error}"] = None
        else:
            jobs += () if job is None or not job.brokers else (job,)
    report = _judged(file, jobs, reading, options, matrix=matrix)
    return replace(report, notes=(*report.notes, *notes))


def _on_command_lines(
    file: SingleFile, reading: "_Reading", settings: Settings, options: CheckOptions, *, matrix: bool
) -> Report:
    """The report on a file of command lines: an input for each deployment with a broker."""
    from netdiag.deployment.sources.ci.command_lines import command_lines

    kind = HostKind.DESKTOP if settings.facts.docker_desktop else HostKind.LINUX
    platform = options.engine.over(Platform(kind=kind))
    inputs: list[Input] = []
    findings: list[Finding] = []
    matrices: list[Matrix] = []
    notes: list[str] = []
    addresses: list[AddressRow] = []
    for lines in command_lines(reading.source(), folder=file.folder, read=reading.read):
        deployment = from_compose(
            lines.project,
            host_addresses=settings.host_addresses,
            facts=settings.facts,
            read=reading.read,
            platform=platform,
        )
        if not deployment.brokers:
            continue
        name = file.path if not inputs else f"{file.path}: from line {lines.where.line}"
        found = check_deployment(deployment)
        inputs.append(Input(name=name, brokers=tuple(broker.name for broker in deployment.brokers)))
        findings += found
        addresses += address_rows(name, deployment) if options.addresses else ()
        predicted = predicted_matrix(name, deployment, found) if matrix else ""
        if isinstance(predicted, Matrix):
            matrices.append(predicted)
        elif predicted:
            notes.append(predicted)
    return Report(
        inputs=tuple(inputs) or (Input(name=file.path),),
        findings=tuple(findings),
        matrices=tuple(matrices),
        addresses=tuple(addresses),
        notes=tuple(notes),
        sources=reading.contents,
    )


class _Reading:
    """The file and what it names; `contents` holds every file that was read."""

    def __init__(self, file: SingleFile, replaced: Mapping[str, bytes]) -> None:
        self.file = file
        self.contents: dict[str, bytes] = {}
        self.replaced = replaced

    def source(self) -> Source:
        path = self.file.path
        return Source(path, self._keep(path, b"" if path in self.replaced else read_file(path)))

    def read(self, path: str) -> bytes | None:
        """The bytes of a file of the repository, whatever links say; None when there is none."""
        data = read_inside(self.file.folder, path, limit=LARGEST_MOUNTED)
        return None if data is None else self._keep(path, data)

    def local(self, path: str) -> Source | None:
        """A file of the repository that the file includes."""
        named = os.path.normpath(os.path.join(self.file.folder, path))
        data = read_inside(self.file.folder, named)
        return None if data is None else Source(named, self._keep(named, data))

    def _keep(self, path: str, data: bytes) -> bytes:
        self.contents[path] = self.replaced.get(path, data)
        return self.contents[path]


def _declared(file: SingleFile, reading: _Reading, executor: str | None) -> Iterable[DeclaredJob]:
    """The jobs of the file; those of GitLab once for each executor that may run them."""
    source = reading.source()
    if file.kind == "github":
        return workflow_jobs(source)
    from netdiag.deployment.sources.ci.gitlab import Executor, pipeline_jobs

    executors = [one for one in Executor if executor in (None, one.value)]
    found = [pipeline_jobs(source, one, reading.local) for one in executors]
    return (job for jobs in found for job in jobs)


def _deployed(
    job: DeclaredJob, file: SingleFile, reading: _Reading, settings: Settings, platform: Platform
) -> CiJob | None:
    """The deployment of a job; None for a project that a step starts and that is not in the repository.

    A project that is there and cannot be loaded raises `NetdiagError`.
    """
    if job.compose is None:
        return as_deployment(job, read=reading.read, facts=settings.facts, platform=platform)
    folder = os.path.normpath(os.path.join(file.folder, job.compose.folder))
    named = tuple(os.path.normpath(os.path.join(file.folder, name)) for name in job.compose.files)
    files = named or files_of_folder(folder)
    if not files or not all(is_within(path, file.folder) and os.path.isfile(path) for path in files):
        return None
    project_files = ProjectFiles(files=files, folder=os.path.dirname(files[0]))
    read = replace(settings.read, profiles=job.compose.profiles or None)
    reader = ProjectReader(project_files, read, reading.replaced)
    project = reader.read()
    reading.contents.update(reader.sources())
    return as_deployment(job, project=project, read=reader.read_mounted, facts=settings.facts, platform=platform)


def _judged(
    file: SingleFile, jobs: Iterable[CiJob], reading: _Reading, options: CheckOptions, *, matrix: bool
) -> Report:
    inputs: dict[str, Input] = {}
    judged: dict[str, list[tuple[CiJob, tuple[Finding, ...]]]] = {}
    matrices: dict[str, Matrix] = {}
    notes: dict[str, None] = {}
    addresses: dict[AddressRow, None] = {}
    for job in jobs:
        name = f"{file.path}: job {job.name}"
        brokers = tuple(broker.name for broker in job.brokers)
        before = inputs.get(name, Input(name=name, kind="job"))
        inputs[name] = replace(before, brokers=tuple(dict.fromkeys((*before.brokers, *brokers))))
        found = check_job(job)
        judged.setdefault(name, []).append((job, found))
        if options.addresses:
            addresses.update(dict.fromkeys(address_rows(name, job.deployment)))
        if matrix and name not in matrices:
            predicted = predicted_matrix(name, job.deployment, found, job.vantages)
            if isinstance(predicted, Matrix):
                matrices[name] = predicted
            else:
                notes[predicted] = None
    findings: dict[tuple[object, ...], Finding] = {}
    for alike in judged.values():
        for finding in agreed(alike):
            # What is said of several jobs, or of every combination of a matrix, is said once.
            findings.setdefault((finding.rule, finding.location, finding.message), finding)
    also_read = tuple(path for path in reading.contents if path != file.path)
    return Report(
        inputs=tuple(replace(one, also_read=also_read) for one in inputs.values())
        or (Input(name=file.path, kind="job"),),
        findings=tuple(findings.values()),
        matrices=tuple(matrices.values()),
        addresses=tuple(addresses),
        notes=tuple(notes),
        sources=reading.contents,
    )
