"""From compose files to a report: each input is loaded, judged and predicted on its own."""

import os
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

from netdiag.cli.surface import Surface, defect
from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import ALL_PROFILES, load
from netdiag.compose.positions import Source, Text
from netdiag.compose.project import Project
from netdiag.deployment.from_compose import from_compose, runs_kafka
from netdiag.deployment.member import Deployment
from netdiag.deployment.reachability import predict
from netdiag.deployment.vantage import bootstraps, vantages
from netdiag.errors import NetdiagError
from netdiag.findings import FileLocation, Finding, Location, Related
from netdiag.io.files import read_file, read_optional, read_stdin
from netdiag.render.report import Input, Matrix, Problem, Report
from netdiag.rules.run import check, check_project, condemned

STDIN = "-"
STDIN_NAME = "<stdin>"
# Of a matrix larger than this nobody reads a cell, and predicting or probing it takes long.
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the options say about reading compose files; profiles of None are those that compose would take."""

    environ: Mapping[str, str] = field(default_factory=dict)
    env_files: tuple[str, ...] = ()
    profiles: tuple[str, ...] | None = None
    host_addresses: tuple[str, ...] = ()
    matrix: bool = True


def report_on(paths: Sequence[str], settings: Settings, surface: Surface) -> Report:
    """The report on these files; one that cannot be read, or was not reached, is in it with its error."""
    report = Report()
    for index, path in enumerate(paths):
        surface.tell(f"reading {path}")
        try:
            one = _one(path, settings)
        except NetdiagError as error:
            surface.trace()
            one = could_not_read(Input(name=_name(path)), error)
        except KeyboardInterrupt:
            surface.trace()
            rest = [could_not_read(Input(name=_name(path)), NetdiagError("interrupted")) for path in paths[index:]]
            return replace(reduce(joined, rest, report), interrupted=True)
        except Exception as error:  # noqa: BLE001 (a defect of ours must not hide what the other files say)
            surface.trace()
            one = could_not_read(Input(name=_name(path)), defect(error))
        report = joined(report, one)
    return report


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
    down = condemned(findings, deployment)
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


def project_of(path: str, settings: Settings) -> Project:
    """The project that a file declares."""
    return _loaded(path, settings, _Files(_folder(path)))


def _one(path: str, settings: Settings) -> Report:
    name = _name(path)
    files = _Files(_folder(path))
    project = _loaded(path, settings, files)
    deployment = from_compose(project, host_addresses=settings.host_addresses)
    findings = tuple(files.at_home(f) for f in (*check_project(project), *check(deployment)))
    brokers = tuple(broker.name for broker in deployment.brokers)
    matrix = predicted(name, deployment, findings) if brokers and settings.matrix else None
    return Report(
        inputs=(Input(name=name, brokers=brokers, also_read=tuple(p for p in files.kept if p != name)),),
        findings=findings,
        matrices=(matrix,) if isinstance(matrix, Matrix) else (),
        notes=(matrix,) if isinstance(matrix, str) else (),
        sources=files.kept,
    )


def _loaded(path: str, settings: Settings, files: "_Files") -> Project:
    """The project with its profiles chosen: those asked for, else those of COMPOSE_PROFILES, else none.

    Where that leaves no broker although profiles hold some, all are taken: a file is checked for what is in it.
    """
    name = _name(path)
    source = Source(name, files.keep(name, read_stdin() if path == STDIN else read_file(path)))
    dotenv = _dotenv(files, settings)

    def loaded(profiles: tuple[str, ...]) -> Project:
        return load(
            source,
            dotenv=dotenv,
            environ=settings.environ,
            profiles=profiles,
            read=files.read,
            default_name=Path(files.folder or ".").resolve().name,
        )

    if settings.profiles is not None:
        return loaded(settings.profiles)
    chosen = settings.environ.get("COMPOSE_PROFILES", "")
    project = loaded(tuple(word.strip() for word in chosen.split(",") if word.strip()))
    if project.disabled and not any(map(runs_kafka, project.services.values())):
        return loaded(ALL_PROFILES)
    return project


def _folder(path: str) -> str:
    return "" if path == STDIN else str(Path(path).parent)


def _name(path: str) -> str:
    return STDIN_NAME if path == STDIN else path


def _dotenv(files: "_Files", settings: Settings) -> dict[str, Text]:
    """The variables of --env-file, or of the `.env` beside the compose file; later files win."""
    found: dict[str, Text] = {}
    for path in settings.env_files:
        found |= load_dotenv(Source(path, files.keep(path, read_file(path))), settings.environ)
    if not settings.env_files:
        path = files.path(".env")
        data = read_optional(path)
        if data is not None:
            found = load_dotenv(Source(path, files.keep(path, data)), settings.environ)
    return found


class _Files:
    """The files of one project: what was read, under the path that the user can open."""

    def __init__(self, folder: str) -> None:
        self.folder = "" if folder == "." else folder
        self.kept: dict[str, bytes] = {}
        self._named: dict[str, str] = {}

    def path(self, name: str) -> str:
        """The path of a file that the project names."""
        return os.path.normpath(os.path.join(self.folder, name))

    def keep(self, path: str, data: bytes) -> bytes:
        self.kept[path] = data
        return data

    def read(self, name: str) -> bytes | None:
        """The bytes of a file that the project names, None when there is none."""
        path = self.path(name)
        data = read_optional(path)
        if data is not None:
            self._named[name] = path
            self.keep(path, data)
        return data

    def at_home(self, finding: Finding) -> Finding:
        """The finding with paths as seen from the current folder instead of the project's."""
        if all(name == path for name, path in self._named.items()):
            return finding
        return replace(
            finding,
            location=self._home(finding.location),
            related=tuple(Related(location=self._home(r.location), message=r.message) for r in finding.related),
            edits=tuple(replace(edit, path=self._named.get(edit.path, edit.path)) for edit in finding.edits),
        )

    def _home(self, place: Location) -> Location:
        if isinstance(place, FileLocation) and place.path in self._named:
            return replace(place, path=self._named[place.path])
        return place
