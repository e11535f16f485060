"""`netdiag check-listeners`: options in, report out, files repaired if asked."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

import typer

from netdiag.cli.baselines import Baseline, WriteBaseline
from netdiag.cli.command import console_of
from netdiag.cli.configured import ConfigFile, Configurations, Configured, Isolated, configured, fail_on_of
from netdiag.cli.console import Console, say
from netdiag.cli.control import (
    Control,
    ExitZero,
    IgnoreRules,
    NoIgnores,
    Part,
    Select,
    choice_of,
    control_of,
    controlled,
    controlled_report,
)
from netdiag.cli.declared import Settings
from netdiag.cli.engine_options import EngineOption, FirewallOption, PlatformOption, UserlandProxy, stated
from netdiag.cli.exit_status import ExitStatus, status_of
from netdiag.cli.fixing import print_patch, reading, settle, standard_input, write_repairs
from netdiag.cli.live import LiveSettings, Record, Replay, Why, live_report, needs_extra, recorded
from netdiag.cli.live_options import (
    ClientProperties,
    Container,
    Every,
    Host,
    Live,
    Netns,
    RequireAll,
    Timeout,
    WarnDays,
    live_settings,
)
from netdiag.cli.outputs import Format, Output, outputs_of, write_outputs
from netdiag.cli.projects import STDIN, Asked, bad_name, chained, distinct, found, is_name
from netdiag.cli.repairing import Settled
from netdiag.cli.watching import Done, Watch
from netdiag.cli.watching import watch as watched
from netdiag.deployment.platform import Stated
from netdiag.findings import Severity
from netdiag.io.files import BASE_NAMES
from netdiag.render.report import Report, limited


class FailOn(StrEnum):
    """The severity from which on the exit status is 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE", help="Compose files or folders, each a project; - is standard input; none: as compose does."
    ),
]
_Chain = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", metavar="FILE", help="A file of one project; repeatable, later ones override."),
]
_ProjectDirectory = Annotated[
    str | None, typer.Option("--project-directory", metavar="DIR", help="Where relative paths and .env start from.")
]
_ProjectName = Annotated[
    str | None, typer.Option("--project-name", "-p", metavar="NAME", help="The name of the project.")
]
_Format = Annotated[
    list[Format] | None,
    typer.Option("--format", help="What to print; repeatable, each to an --output.", show_default="text"),
]
_FailOn = Annotated[
    FailOn | None, typer.Option("--fail-on", help="Exit with 1 from this severity on.", show_default="error")
]
_AllowEmpty = Annotated[bool, typer.Option("--allow-empty", help="Exit with 0, not 4, where no input holds a broker.")]
_Output = Annotated[
    list[str] | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the --format before it to a file; repeatable."),
]
_Fix = Annotated[bool, typer.Option("--fix", help="Make the repairs that can be made, then check again.")]
_UnsafeFixes = Annotated[
    bool, typer.Option("--unsafe-fixes", help="With --fix or --diff: also repairs that change what is offered to whom.")
]
_Diff = Annotated[bool, typer.Option("--diff", help="Print the repairs as a patch and change nothing.")]
_Matrix = Annotated[bool, typer.Option("--matrix/--no-matrix", help="Tell from where each address works.")]
_EnvFile = Annotated[
    list[str] | None, typer.Option("--env-file", metavar="FILE", help="Variables, instead of .env; repeatable.")
]
_Profile = Annotated[
    list[str] | None,
    typer.Option("--profile", metavar="NAME", help="Services of this profile as well, * for all; repeatable."),
]
_DockerHostIp = Annotated[
    list[str] | None, typer.Option("--docker-host-ip", metavar="IP", help="An address of the docker host; repeatable.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    inputs: tuple[tuple[str, ...], tuple[str, ...]]
    outputs: tuple[Output, ...]
    # From which severity on to fail, and whether to allow that there is nothing to check.
    status: tuple[Severity | None, bool]
    control: Control
    repairs: tuple[bool, bool, bool]
    settings: Settings
    live: LiveSettings | None
    again: tuple[bool, float | None]

    @property
    def files(self) -> tuple[str, ...]:
        """Each a project of its own."""
        return self.inputs[0]

    @property
    def chain(self) -> tuple[str, ...]:
        """The files of one project."""
        return self.inputs[1]

    @property
    def fix(self) -> bool:
        """Whether to make repairs."""
        return self.repairs[0]

    @property
    def diff(self) -> bool:
        """Whether to show them as a patch."""
        return self.repairs[1]

    @property
    def unsafe(self) -> bool:
        """Whether to take those that change what is offered to whom."""
        return self.repairs[2]

    @property
    def watch(self) -> bool:
        """Whether to look again and again."""
        return self.again[0]

    @property
    def every(self) -> float | None:
        """How often, in seconds, where that is said."""
        return self.again[1]


def check_listeners(
    context: typer.Context,
    files: _Files = None,
    chain: _Chain = None,
    project_directory: _ProjectDirectory = None,
    project_name: _ProjectName = None,
    format: _Format = None,
    select: Select = None,
    ignore: IgnoreRules = None,
    fail_on: _FailOn = None,
    exit_zero: ExitZero = False,
    no_ignores: NoIgnores = False,
    config: ConfigFile = None,
    isolated: Isolated = False,
    baseline: Baseline = None,
    write_baseline: WriteBaseline = None,
    output: _Output = None,
    fix: _Fix = False,
    diff: _Diff = False,
    unsafe_fixes: _UnsafeFixes = False,
    watch: Watch = False,
    every: Every = None,
    matrix: _Matrix = True,
    env_file: _EnvFile = None,
    profile: _Profile = None,
    docker_host_ip: _DockerHostIp = None,
    platform: PlatformOption = None,
    engine: EngineOption = None,
    userland_proxy: UserlandProxy = None,
    firewall: FirewallOption = None,
    live: Live = False,
    container: Container = None,
    host: Host = None,
    netns: Netns = None,
    timeout: Timeout = 4.0,
    client_properties: ClientProperties = None,
    warn_days: WarnDays = None,
    require_all: RequireAll = False,
    record: Record = None,
    replay: Replay = None,
    why: Why = False,
    allow_empty: _AllowEmpty = False,
) -> ExitStatus:
    """Check Kafka listeners, as declared or as they run: what is wrong, and who can connect from where."""
    meant = (project_directory, project_name, stated(platform, engine, userland_proxy, firewall))
    how = (timeout, client_properties, warn_days)
    options = _Options(
        inputs=(tuple(files or ()), tuple(chain or ())),
        outputs=outputs_of(context, format or (), output or ()),
        status=(Severity(fail_on.value) if fail_on else None, allow_empty),
        control=_control((select, ignore), (config, isolated), (baseline, write_baseline), exit_zero, not no_ignores),
        repairs=(fix, diff, unsafe_fixes),
        settings=_settings(meant, env_file, profile, docker_host_ip, matrix and not diff),
        live=recorded(live_settings(live, (container, host, netns, require_all), how), record, replay, why=why),
        again=(watch, every),
    )
    _refuse_contradictions(options)
    return _once_or_again(options, console_of(context))


def _once_or_again(options: _Options, console: Console) -> ExitStatus:
    if options.watch and options.live:
        return _live_again(options, options.live, console)
    if options.watch:
        return watched(lambda: _run(options, console), options.files + options.chain, console)
    return _run(options, console).status


def _live_again(options: _Options, live: LiveSettings, console: Console) -> ExitStatus:
    needs_extra()
    # Here, and not above: it draws, which a single run may not have to.
    from netdiag.cli.live_watching import EVERY, Order, patience, watch_live

    every = EVERY if options.every is None else options.every
    again = replace(options, live=replace(live, timeout=patience(every, live.timeout)))
    projects = _projects(options)
    control = options.control
    setups = configured(projects or ("",), control.configurations.afresh(), options.settings, control.choice)
    order = Order(every=every, as_json=options.outputs[0].format is Format.JSON)
    return watch_live(lambda: _looked(again, projects, setups, console), order, console)


def _control(
    choice: tuple[list[str] | None, list[str] | None],
    configuration: tuple[str | None, bool],
    baselines: tuple[str | None, str | None],
    exit_zero: bool,
    comments: bool,
) -> Control:
    file, isolated = configuration
    return control_of(
        choice_of(*choice),
        Configurations(file=file, isolated=isolated),
        baselines=baselines,
        exit_zero=exit_zero,
        comments=comments,
    )


def _settings(
    meant: tuple[str | None, str | None, Stated],
    env_file: list[str] | None,
    profile: list[str] | None,
    docker_host_ip: list[str] | None,
    matrix: bool,
) -> Settings:
    directory, name, engine = meant
    return Settings(
        environ=os.environ,
        env_files=tuple(env_file or ()),
        project_directory=directory,
        project_name=name,
        profiles=tuple(profile) if profile else None,
        host_addresses=tuple(docker_host_ip or ()),
        engine=engine,
        matrix=matrix,
    )


def _refuse_contradictions(options: _Options) -> None:
    if options.live and (options.fix or options.diff):
        raise typer.BadParameter("containers cannot be repaired: use --fix and --diff without --live")
    if options.files and options.chain:
        raise typer.BadParameter("-f names the files of one project, FILE one project each: not both")
    name = options.settings.project_name
    if name is not None and not is_name(name):
        raise typer.BadParameter(bad_name(name))
    if options.live and options.live.containers and (options.files or options.chain):
        raise typer.BadParameter("name containers or files, not both")
    if options.live and options.live.replay and (options.files or options.chain):
        raise typer.BadParameter("--replay holds what was asked for: leave out FILE and -f")
    if options.watch and options.live and (options.live.replay or options.live.record):
        raise typer.BadParameter("--watch looks again and again: leave out --record and --replay")
    if options.fix and options.diff:
        raise typer.BadParameter("--fix and --diff exclude each other")
    if options.diff and (len(options.outputs) > 1 or options.outputs[0].format is not Format.TEXT):
        raise typer.BadParameter("--diff prints a patch: it has no other format")
    if options.unsafe and not (options.fix or options.diff):
        raise typer.BadParameter("--unsafe-fixes goes with --fix or --diff")
    if options.control.write_baseline and (options.fix or options.diff):
        raise typer.BadParameter("a baseline is written of what is found: leave out --fix and --diff")
    if options.watch and (options.fix or options.diff or options.control.write_baseline):
        raise typer.BadParameter("--watch only looks: leave out --fix, --diff and --write-baseline")
    if options.every is not None and not (options.watch and options.live):
        raise typer.BadParameter("--every goes with --live --watch")
    if options.watch and options.live:
        (output, *others) = options.outputs
        if others or output.path is not None or output.format not in (Format.TEXT, Format.JSON):
            raise typer.BadParameter("--live --watch writes text or json, to standard output")
    if options.watch and STDIN in options.files + options.chain:
        raise typer.BadParameter("standard input cannot be watched")
    if options.fix and STDIN in options.files + options.chain:
        if len(options.files + options.chain) > 1:
            raise typer.BadParameter("standard input is repaired on its own")
        if any(output.path is None and output.format is not Format.TEXT for output in options.outputs):
            raise typer.BadParameter("standard output takes the repaired file: give the format an --output")
    if (options.files + options.chain).count(STDIN) > 1:
        raise typer.BadParameter("standard input can be read once only")


def _run(options: _Options, console: Console) -> Done:
    projects = _projects(options)
    if not projects and not options.live:
        projects = _found(options.settings)
    control = options.control
    setups = configured(projects or ("",), control.configurations.afresh(), options.settings, control.choice)
    fail_on = fail_on_of(setups, options.status[0])
    report = _looked(options, projects, setups, console)
    if report.interrupted:
        say("netdiag: interrupted")
        # A format for machines is a whole document, whatever happened.
        machines = [output for output in options.outputs if output.format is not Format.TEXT]
        write_outputs(machines, limited(report), console, matrix=options.settings.matrix)
        return Done(status=ExitStatus.INTERRUPTED, report=report)
    outputs = options.outputs
    if options.diff or options.fix:
        made = _settled(options, setups, console, report)
    if options.diff:
        (output,) = outputs
        print_patch(made, report, output.path)
        outputs = ()
    elif options.fix:
        write_repairs(made, report)
        if made.changed:
            instead = {**standard_input(report), **made.after}
            report = _looked(options, projects, reading(setups, instead), console)
        if STDIN in options.files + options.chain:
            outputs = tuple(output for output in outputs if output.path is not None)
    write_outputs(outputs, limited(report), console, matrix=options.settings.matrix)
    status = status_of(report, fail_on=fail_on, require_all=options.live is not None and options.live.require_all)
    lenient = {ExitStatus.FINDINGS: control.exit_zero, ExitStatus.NOTHING_TO_CHECK: options.status[1]}
    if lenient.get(status):
        status = ExitStatus.CLEAN
    configurations = tuple(item.configuration.path for item in setups.values())
    return Done(status=status, report=report, also_read=(*configurations, control.baseline or ""))


def _settled(options: _Options, setups: Mapping[str | Asked, Configured], console: Console, report: Report) -> Settled:
    """What repairs would make of the files."""
    given = standard_input(report)

    def look(project: str | Asked, instead: Mapping[str, bytes]) -> Report:
        trial = reading(setups, {**given, **instead}, matrix=False)
        return controlled_report((project,), options.control, trial, console)

    projects = [project for project in setups if project]
    return settle(projects, look, named=options.settings.env_files, unsafe=options.unsafe)


def _looked(
    options: _Options, projects: tuple[str | Asked, ...], setups: Mapping[str | Asked, Configured], console: Console
) -> Report:
    if options.live:
        if options.live.replay is None and all(output.format is Format.TEXT for output in options.outputs):
            # One line says it; only a format for machines needs a whole document around it.
            needs_extra()
        first = next(iter(setups.values()))
        report = live_report(projects, options.live, first.settings, console)
        return controlled([Part(report=report, selection=first.selection)], options.control, live=True)
    if not projects:
        say(f"netdiag: nothing to check: no {', '.join(BASE_NAMES)} in this folder or one above")
    return controlled_report(projects, options.control, setups, console)


def _projects(options: _Options) -> tuple[str | Asked, ...]:
    if options.chain:
        return (chained(options.chain, options.settings.project_directory),)
    return distinct(options.files, options.settings.project_directory)


def _found(settings: Settings) -> tuple[Asked, ...]:
    asked = found(settings.environ, settings.env_files, settings.project_directory)
    return () if asked is None else (asked,)
