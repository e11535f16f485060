"""From compose files to a report: each input is loaded, judged and predicted on its own."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce

from netdiag.cli.console import Console
from netdiag.cli.fragments import about_fragment, incomplete, of_fragment
from netdiag.cli.projects import STDIN, Asked, asked_for, dotenv_of, name_of, shown
from netdiag.compose.load import ALL_PROFILES, load
from netdiag.compose.positions import Source
from netdiag.compose.project import Project
from netdiag.config.document import Facts
from netdiag.deployment.as_declared import Foretold
from netdiag.deployment.facts import with_images
from netdiag.deployment.from_compose import from_compose, runs_kafka
from netdiag.deployment.member import Deployment
from netdiag.deployment.platform import HostKind, Platform, Stated
from netdiag.deployment.provenance import all_traced
from netdiag.deployment.reachability import predict
from netdiag.deployment.vantage import bootstraps, vantages
from netdiag.errors import NetdiagError, internal_error
from netdiag.findings import Finding
from netdiag.io.files import read_file, read_inside, read_optional, read_stdin
from netdiag.render.report import Input, Matrix, Problem, Report
from netdiag.rules.compose import check_project
from netdiag.rules.declared import check_deployment, failing_to_start, startup_errors

# Of a matrix larger than this nobody reads a cell, and predicting or probing it takes long.
LARGEST_INSIDE = 1024 * 1024
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the options say about reading compose files; profiles of None are those that compose would take.

    `engine` is what they say about the engine and its machine; `instead` holds bytes that are taken in the place of
    what a file holds, under the path of the file.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    env_files: tuple[str, ...] = ()
    project_directory: str | None = None
    project_name: str | None = None
    profiles: tuple[str, ...] | None = None
    host_addresses: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)
    engine: Stated = field(default_factory=Stated)
    matrix: bool = True
    instead: Mapping[str, bytes] = field(default_factory=dict)


def report_on(paths: Sequence[str | Asked], settings: Settings, console: Console) -> Report:
    """The report on these files and projects; one that cannot be read, or was not reached, is in it with its error."""
    report = Report()
    for index, path in enumerate(paths):
        name = name_of_input(path)
        console.detail(f"reading {name}")
        try:
            asked = path if isinstance(path, Asked) else asked_for(path, settings.project_directory)
            one = _one(asked, settings)
        except NetdiagError as error:
            console.handled(error)
            one = could_not_read(Input(name=name), error)
        except KeyboardInterrupt as error:
            console.handled(error)
            rest = [could_not_read(Input(name=name_of_input(p)), NetdiagError("interrupted")) for p in paths[index:]]
            return replace(reduce(joined, rest, report), interrupted=True)
        except Exception as error:  # noqa: BLE001 (a defect of ours must not hide what the other files say)
            console.handled(error)
            one = could_not_read(Input(name=name), internal_error(error))
        report = joined(report, one)
    return report


def name_of_input(path: str | Asked) -> str:
    """What an input is called before it is read."""
    return path.name if isinstance(path, Asked) else shown(path)


def could_not_read(asked: Input, error: NetdiagError) -> Report:
    """The report on an input that gave nothing but an error."""
    problem = Problem(message=error.message, where=error.where, hint=error.hint)
    return Report(inputs=(replace(asked, error=problem),))


def joined(first: Report, second: Report) -> Report:
    """Both reports as one."""
    return Report(
        inputs=first.inputs + second.inputs,
        findings=first.findings + second.findings,
        suppressed=first.suppressed + second.suppressed,
        matrices=first.matrices + second.matrices,
        security=first.security + second.security,
        skipped=first.skipped + second.skipped,
        notes=first.notes + second.notes,
        sources={**first.sources, **second.sources},
    )


def too_large(name: str, places: Sized, addresses: Sized) -> str:
    """Why there is no matrix, as a note; empty where there is one."""
    if len(places) * len(addresses) <= MOST_CELLS:
        return ""
    return f"{name}: no matrix of {len(places)} vantages and {len(addresses)} addresses, it would be too large to read"


def predicted(name: str, deployment: Deployment, findings: Iterable[Finding]) -> Matrix | str:
    """The matrix of a deployment in which the brokers that findings condemn do not run, or why there is none."""
    findings = tuple(findings)
    down = failing_to_start(findings, deployment)
    because = {f.service: f.rule for f in reversed(findings) if f.broker_prints and f.service}
    places, addresses = vantages(deployment, down=down), bootstraps(deployment)
    note = too_large(name, places, addresses)
    if note:
        return note
    return Matrix(
        input=name,
        vantages=places,
        cells=predict(deployment, places, addresses, down=down),
        not_running={b.name: because.get(b.name, "") for b in deployment.brokers if b.name in down},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """The files of a project that runs: what they declare, what they foretell, and the bytes that may be shown."""

    project: Project
    foretold: tuple[Foretold, ...]
    sources: Mapping[str, bytes]


def files_of(asked: Asked, settings: Settings) -> ReadFiles:
    """The files of a project, read and judged, to be compared with what runs."""
    files = _Files(settings.instead)
    project = _loaded(asked, settings, files)
    read = files.inside(asked.folder)
    deployment = from_compose(project, host_addresses=settings.host_addresses, facts=settings.facts, read=read)
    return ReadFiles(
        project=project,
        foretold=startup_errors(check_deployment(deployment)),
        sources=files.shown(asked, settings.env_files),
    )


def project_of(asked: Asked, settings: Settings) -> Project:
    """The project that files declare."""
    return _loaded(asked, settings, _Files(settings.instead))


def read_along(asked: Asked, settings: Settings) -> Mapping[str, bytes]:
    """Every file that a project is made of, as far as it can be read."""
    files = _Files(settings.instead)
    with suppress(NetdiagError):
        project = _loaded(asked, settings, files)
        from_compose(project, facts=settings.facts, read=files.inside(asked.folder))
    return files.kept


def _one(asked: Asked, settings: Settings) -> Report:
    files = _Files(settings.instead)
    project = _loaded(asked, settings, files)
    deployment = from_compose(
        project,
        host_addresses=settings.host_addresses,
        facts=settings.facts,
        read=files.inside(asked.folder),
        platform=settings.engine.over(
            Platform(kind=HostKind.DESKTOP if settings.facts.docker_desktop else HostKind.LINUX)
        ),
    )
    findings = (*check_project(project), *check_deployment(deployment))
    without = incomplete(project) if asked.alone else frozenset()
    brokers = tuple(broker.name for broker in deployment.brokers)
    matrix = predicted(asked.name, deployment, findings) if brokers and settings.matrix and not without else None
    notes = [matrix] if isinstance(matrix, str) else []
    if without:
        findings = tuple(of_fragment(findings, project, without))
        notes.append(about_fragment(asked.name, without))
    findings = all_traced(findings, project)
    return Report(
        inputs=(Input(name=asked.name, brokers=brokers, also_read=tuple(p for p in files.kept if p != asked.name)),),
        findings=findings,
        matrices=(matrix,) if isinstance(matrix, Matrix) else (),
        notes=tuple(notes),
        sources=files.shown(asked, settings.env_files),
    )


def _loaded(asked: Asked, settings: Settings, files: "_Files") -> Project:
    """The project with its profiles chosen: those asked for, else those of COMPOSE_PROFILES, else none.

    Where that leaves no broker although profiles hold some, all are taken: a file is checked for what is in it.
    """
    first, *others = [Source(shown(p), files.keep(shown(p), _bytes(p))) for p in asked.files]
    dotenv = dotenv_of(asked, settings.environ, settings.env_files, files.keep)
    default_name = name_of(asked, settings.environ, dotenv)

    def loaded(profiles: tuple[str, ...]) -> Project:
        project = load(
            first,
            overrides=tuple(others),
            dotenv=dotenv,
            environ=settings.environ,
            profiles=profiles,
            read=files.read,
            name=settings.project_name,
            default_name=default_name,
            folder=asked.folder,
        )
        return with_images(project, settings.facts.images)

    if settings.profiles is not None:
        return loaded(settings.profiles)
    chosen = settings.environ.get("COMPOSE_PROFILES")
    if chosen is None:
        chosen = str(dotenv.get("COMPOSE_PROFILES", ""))
    project = loaded(tuple(word.strip() for word in chosen.split(",") if word.strip()))
    if project.disabled and not any(map(runs_kafka, project.services.values())):
        return loaded(ALL_PROFILES)
    return project


def _bytes(path: str) -> bytes:
    return read_stdin() if path == STDIN else read_file(path)


def _is_below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)


class _Files:
    """The files of one project: what was read, under the path that the user can open."""

    def __init__(self, instead: Mapping[str, bytes]) -> None:
        self.instead = instead
        self.kept: dict[str, bytes] = {}

    def keep(self, path: str, data: bytes) -> bytes:
        self.kept[path] = self.instead.get(path, data)
        return self.kept[path]

    def read(self, path: str) -> bytes | None:
        """The bytes of a file that the project names, None when there is none."""
        data = read_optional(path)
        return None if data is None else self.keep(path, data)

    def shown(self, asked: Asked, env_files: Sequence[str]) -> dict[str, bytes]:
        """The files whose lines may be shown: those named by the user, and those below the folders one stands in.

        A compose file may name any file of the machine, or a link to one; its text is nobody's business.
        """
        named = {*map(shown, asked.files), *env_files}
        roots = {os.path.realpath(folder or os.curdir) for folder in ("", asked.folder, asked.start)}
        below = {path for path in self.kept if any(_is_below(os.path.realpath(path), root) for root in roots)}
        return {path: data for path, data in self.kept.items() if path in named or path in below}

    def inside(self, folder: str) -> Callable[[str], bytes | None]:
        """A reader of files that lie below a folder, whatever links say."""

        def read(path: str) -> bytes | None:
            data = read_inside(folder, path, limit=LARGEST_INSIDE)
            return None if data is None else self.keep(path, data)

        return read
