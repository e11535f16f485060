"""From running containers to a report: what the engine says is judged, predicted and, from every vantage, tried."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from netdiag.cli.declared import ReadFiles, Settings, could_not_read, files_of, joined, name_of_input, too_large
from netdiag.cli.projects import STDIN, Asked, asked_for
from netdiag.cli.sudo import sudo_line
from netdiag.cli.surface import Surface, defect
from netdiag.deployment.as_declared import AsDeclared
from netdiag.deployment.declaring import declared_services
from netdiag.deployment.live_view import LiveView
from netdiag.deployment.member import Deployment
from netdiag.deployment.mesh_edges import mesh_edges
from netdiag.deployment.observations import Address
from netdiag.deployment.reachability import predict
from netdiag.deployment.vantage import Vantage, bootstraps
from netdiag.deployment.verdict import Cell
from netdiag.errors import MissingExtra, NetdiagError
from netdiag.render.report import Input, Matrix, Report, Skipped
from netdiag.rules.run import check_live

if TYPE_CHECKING:
    from netdiag.deployment.stance import Skipped as Untaken
    from netdiag.io.live import Live

_LIBRARIES = ("docker", "requests", "pyroute2", "dns", "cryptography")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSettings:
    """Where to look, and how long to wait for one step, in seconds."""

    containers: tuple[str, ...] = ()
    host: str | None = None
    netns: tuple[str, ...] = ()
    timeout: float = 4.0


def live_report(paths: Sequence[str | Asked], live: LiveSettings, settings: Settings, surface: Surface) -> Report:
    """The report on the projects of these files, on the containers named, or on everything that runs."""
    targets: list[str | Asked | None] = [*paths] or [None]
    report = Report()
    for index, path in enumerate(targets):
        asked = _asked(path, live)
        try:
            one = _one(asked, path, live, settings, surface)
        except NetdiagError as error:
            surface.trace()
            one = could_not_read(asked, error)
        except KeyboardInterrupt:
            surface.trace()
            stopped = NetdiagError("interrupted")
            rest = [could_not_read(_asked(target, live), stopped) for target in targets[index:]]
            return replace(reduce(joined, rest, report), interrupted=True)
        except Exception as error:  # noqa: BLE001 (a defect of ours must not hide what the other projects say)
            surface.trace()
            one = could_not_read(asked, defect(error))
        report = joined(report, one)
    return report


def _asked(path: str | Asked | None, live: LiveSettings) -> Input:
    if path is not None:
        return Input(name=f"{name_of_input(path)} (running)", kind="project")
    return Input(name=", ".join(live.containers) or live.host or "docker engine", kind="engine")


def _one(asked: Input, path: str | Asked | None, live: LiveSettings, settings: Settings, surface: Surface) -> Report:
    needs_extra()
    from netdiag.io.live import look
    from netdiag.io.observe import observe

    files = asked_for(path, settings.project_directory) if isinstance(path, str) else path
    read = None if files is None else files_of(files, settings)
    project = None if read is None else read.project.name
    surface.tell("asking the engine" + (f" about project {project}" if project else ""))
    file = None if files is None or files.files[0] == STDIN else os.path.abspath(files.files[0])
    seen = look(host=live.host, project=project, compose_file=file, names=live.containers, netns=live.netns)
    surface.tell(f"engine {seen.version.release} at {seen.address.url}: {len(seen.containers)} containers")
    deployment = replace(seen.deployment, host_addresses=settings.host_addresses or seen.deployment.host_addresses)
    brokers = tuple(broker.name for broker in deployment.brokers)
    stopped = {member: str(reason) for member, reason in seen.stopped.items()}
    ports = {member: frozenset(s.port for s in sockets) for member, sockets in seen.sockets.items()}
    view = LiveView(
        deployment=deployment, stopped=stopped, logs=seen.logs, ports=ports, declared=_declared(read, deployment)
    )
    found = Report(inputs=(replace(asked, brokers=brokers),), sources=read.sources if read else {})
    if not brokers or not settings.matrix:
        return replace(found, findings=check_live(view))
    addresses = asked_addresses(deployment)
    note = too_large(asked.name, seen.stances, addresses)
    if note:
        return replace(found, findings=check_live(view), notes=(note,))
    edges = mesh_edges(deployment, frozenset(stopped))
    observed = observe(seen.stances, addresses, timeout=live.timeout, edges=edges)
    skipped = (*seen.skipped, *observed.skipped)
    places = _vantages(seen, skipped)
    cells = _joined(predict(deployment, places, addresses, down=frozenset(stopped)), observed.cells)
    matrix = Matrix(input=asked.name, vantages=places, cells=cells, not_running=stopped, mesh=observed.mesh)
    return replace(
        found,
        findings=check_live(replace(view, cells=cells, vantages=places, mesh=observed.mesh)),
        matrices=(matrix,),
        skipped=tuple(_skipped(item, seen) for item in skipped),
        notes=observed.notes,
    )


def asked_addresses(deployment: Deployment) -> tuple[Address, ...]:
    """The addresses that people try for these brokers, and those that the clients beside them are given."""
    given = (
        Address(host=address.host, port=address.port)
        for client in deployment.dependents
        if client.active and client.certain
        for address in client.bootstraps
    )
    return tuple(dict.fromkeys((*bootstraps(deployment), *given)))


def _declared(read: ReadFiles | None, deployment: Deployment) -> AsDeclared | None:
    if read is None:
        return None
    services = declared_services(read.project, deployment.name)
    return AsDeclared(services=services, foretold=read.foretold)


def needs_extra(what: str = "--live") -> None:
    """MissingExtra instead of an import error."""
    try:
        import netdiag.io.live
        import netdiag.io.observe  # noqa: F401
    except ImportError as error:
        library = (error.name or "").partition(".")[0]
        if library in _LIBRARIES:
            raise MissingExtra(
                f"{what} needs {library}, which is not installed", hint="pip install 'netdiag[live]'"
            ) from error
        raise NetdiagError(f"{what} needs {library or 'a part'} that this system does not have") from error


def _vantages(seen: "Live", skipped: Sequence["Untaken"]) -> tuple[Vantage, ...]:
    """Every vantage, taken or not, in a fixed order."""
    vantages = [stance.vantage for stance in seen.stances] + [item.vantage for item in skipped]
    return tuple({vantage.label: vantage for vantage in vantages}.values())


def _joined(predicted: Sequence[Cell], observed: Sequence[Cell]) -> tuple[Cell, ...]:
    seen = {(cell.vantage, cell.bootstrap): cell.observed for cell in observed}
    return tuple(replace(cell, observed=seen.get((cell.vantage, cell.bootstrap))) for cell in predicted)


def _skipped(item: "Untaken", seen: "Live") -> Skipped:
    return Skipped(
        vantage=item.vantage.label,
        reason=item.because,
        command=sudo_line(sys.argv, seen.address.url) if item.rights else None,
    )
