"""From running containers to a report: what the engine says is judged, predicted and, from every vantage, tried."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Annotated

import typer

from netdiag.cli.console import Console
from netdiag.cli.declared import ReadFiles, Settings, could_not_read, files_of, joined, name_of_input, too_large
from netdiag.cli.explaining import with_causes
from netdiag.cli.looks import failed, judged, record, replay
from netdiag.cli.projects import STDIN, Asked, asked_for
from netdiag.cli.sudo import sudo_line, via_line
from netdiag.deployment.as_declared import AsDeclared
from netdiag.deployment.declaring import declared_services
from netdiag.deployment.member import Deployment
from netdiag.deployment.mesh_edges import mesh_edges
from netdiag.deployment.observations import Address
from netdiag.deployment.recording import Look, NotTaken, seen_cells
from netdiag.deployment.secured_ports import secured_ports
from netdiag.deployment.vantage import Vantage, bootstraps
from netdiag.errors import NetdiagError, cannot_import, internal_error
from netdiag.kafka.certificate_faults import WARN_DAYS
from netdiag.linux.netns import Entrance
from netdiag.render.report import Input, Report

if TYPE_CHECKING:
    from netdiag.deployment.stance import Skipped as Untaken
    from netdiag.io.live import Live


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSettings:
    """Where to look, as which client, and how long to wait for one step, in seconds.

    `replay` looks nowhere but into that recording.
    """

    containers: tuple[str, ...] = ()
    host: str | None = None
    netns: tuple[str, ...] = ()
    timeout: float = 4.0
    client_properties: str | None = None
    warn_days: int = WARN_DAYS
    require_all: bool = False
    why: bool = False
    record: str | None = None
    replay: str | None = None


Record = Annotated[
    str | None,
    typer.Option("--record", metavar="FILE", help="With --live: write what is seen to a file, for --replay."),
]
Replay = Annotated[
    str | None, typer.Option("--replay", metavar="FILE", help="Judge what --live --record wrote; looks nowhere else.")
]


Why = Annotated[
    bool,
    typer.Option("--why", help="With --live: name what makes each connection fail, and what would help; sends more."),
]


def recorded(
    live: LiveSettings | None, record: str | None, replay: str | None, *, why: bool = False
) -> LiveSettings | None:
    """The settings with --record, --replay and --why."""
    if why and live is None:
        raise typer.BadParameter("--why asks what runs: it goes with --live")
    if why and record is not None:
        raise typer.BadParameter("what --why finds is not recorded: leave out one of both")
    if replay is not None:
        if live is not None or record is not None:
            raise typer.BadParameter("--replay looks at nothing that runs: leave out --live and --record")
        return LiveSettings(replay=replay)
    if record is not None and live is None:
        raise typer.BadParameter("--record goes with --live")
    return live if live is None else replace(live, record=record, why=why)


def live_report(paths: Sequence[str | Asked], live: LiveSettings, settings: Settings, console: Console) -> Report:
    """The report on the projects of these files, on the containers named, or on everything that runs."""
    if live.replay is not None:
        return replay(live.replay, console)
    targets: list[str | Asked | None] = [*paths] or [None]
    report = Report()
    looks: list[Look] = []
    for index, path in enumerate(targets):
        asked = _asked(path, live)
        try:
            look, deployment, entrances = _look(asked, path, live, settings, console)
            one = judged(look, deployment)
            if live.why:
                one = with_causes(one, entrances, live.host, console)
        except NetdiagError as error:
            console.handled(error)
            look, one = failed(asked, error), could_not_read(asked, error)
        except KeyboardInterrupt as error:
            console.handled(error)
            stopped = NetdiagError("interrupted")
            rest = [could_not_read(_asked(target, live), stopped) for target in targets[index:]]
            return replace(reduce(joined, rest, report), interrupted=True)
        except Exception as error:  # noqa: BLE001 (a defect of ours must not hide what the other projects say)
            console.handled(error)
            look, one = failed(asked, internal_error(error)), could_not_read(asked, internal_error(error))
        report = joined(report, one)
        looks.append(look)
    return report if live.record is None else record(looks, live.record)


def _asked(path: str | Asked | None, live: LiveSettings) -> Input:
    if path is not None:
        return Input(name=f"{name_of_input(path)} (running)", kind="project")
    return Input(name=", ".join(live.containers) or live.host or "docker engine", kind="engine")


def _look(
    asked: Input, path: str | Asked | None, live: LiveSettings, settings: Settings, console: Console
) -> tuple[Look, Deployment, Mapping[str, Entrance]]:
    """All that can be seen of one thing that was asked for, what runs of it, and the ways into its vantages."""
    needs_extra()
    from netdiag.io.client_identity import read_client
    from netdiag.io.live import look
    from netdiag.io.observe import observe

    client = None if live.client_properties is None else read_client(live.client_properties)
    files = asked_for(path, settings.project_directory) if isinstance(path, str) else path
    read = None if files is None else files_of(files, settings)
    project = None if read is None else read.project.name
    console.detail("asking the engine" + (f" about project {project}" if project else ""))
    file = None if files is None or files.files[0] == STDIN else os.path.abspath(files.files[0])
    seen = look(host=live.host, project=project, compose_file=file, names=live.containers, netns=live.netns)
    console.detail(f"engine {seen.version.release} at {seen.address.url}: {len(seen.containers)} containers")
    deployment = replace(
        seen.deployment,
        host_addresses=settings.host_addresses or seen.deployment.host_addresses,
        platform=settings.engine.over(seen.deployment.platform),
    )
    found = _found(asked, seen, deployment, read)
    if not deployment.brokers or not settings.matrix:
        return found, deployment, {}
    addresses = asked_addresses(deployment)
    note = too_large(asked.name, seen.stances, addresses)
    if note:
        return replace(found, notes=(note,)), deployment, {}
    observed = observe(
        seen.stances,
        addresses,
        timeout=live.timeout,
        edges=mesh_edges(deployment, frozenset(seen.stopped)),
        client=client,
        warn_days=live.warn_days,
    )
    skipped = (*seen.skipped, *observed.skipped)
    places = _vantages(seen, skipped)
    all_seen = replace(
        found,
        vantages=places,
        speaks="PLAINTEXT" if client is None else client.properties.security_protocol,
        security=secured_ports(deployment, places, observed.security, now=datetime.now(UTC)),
        addresses=addresses,
        cells=seen_cells(observed.cells),
        mesh=observed.mesh,
        not_taken=tuple(_not_taken(item, seen) for item in skipped),
        notes=observed.notes,
    )
    return all_seen, deployment, {stance.vantage.label: stance.entrance for stance in seen.stances}


def _found(asked: Input, seen: "Live", deployment: Deployment, read: ReadFiles | None) -> Look:
    """What the engine and the files tell, before anybody is contacted."""
    return Look(
        name=asked.name,
        kind=asked.kind,
        project=deployment.name,
        containers=seen.containers,
        networks=seen.networks,
        platform=deployment.platform,
        host_addresses=deployment.host_addresses,
        stopped={member: str(reason) for member, reason in seen.stopped.items()},
        logs=seen.logs,
        sockets=seen.sockets,
        declared=_declared(read, deployment),
        sources=_texts(read.sources) if read else {},
    )


def _texts(sources: Mapping[str, bytes]) -> dict[str, str]:
    """The files that are text."""
    found: dict[str, str] = {}
    for path, data in sources.items():
        with suppress(UnicodeDecodeError):
            found[path] = data.decode()
    return found


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
        raise cannot_import(what, error, extra="live") from error


def _vantages(seen: "Live", skipped: Sequence["Untaken"]) -> tuple[Vantage, ...]:
    """Every vantage, taken or not, in a fixed order."""
    vantages = [stance.vantage for stance in seen.stances] + [item.vantage for item in skipped]
    return tuple({vantage.label: vantage for vantage in vantages}.values())


def _not_taken(item: "Untaken", seen: "Live") -> NotTaken:
    command = sudo_line(sys.argv, seen.address.url) if item.rights else None
    if item in seen.skipped:
        # on another machine, as far as can be told from here
        command = via_line(sys.argv)
    return NotTaken(vantage=item.vantage.label, reason=item.because, command=command)
