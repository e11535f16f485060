"""`netdiag check-listeners`: options in, report out, files repaired if asked."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from netdiag.cli.command import (
    EnvFiles,
    LiveClientProperties,
    Profiles,
    ProjectChain,
    ProjectDirectory,
    ProjectName,
    console_of,
    read_options,
    refuse,
    words,
)
from netdiag.cli.console import Console, is_terminal, report_error, say, write_bytes, write_text
from netdiag.cli.exit_status import ExitStatus, status_of
from netdiag.cli.outputs import Format, Output, outputs_of, write_outputs
from netdiag.deployment.model.deployment import (
    Firewall,
    Generation,
    HostKind,
    PlatformOptions,
    generation_of,
    podman_release,
)
from netdiag.errors import NetdiagError
from netdiag.findings import Severity
from netdiag.kafka.security import WARN_DAYS
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.app.check import CheckResult
    from netdiag.app.configuration import CheckOptions, LiveOptions
    from netdiag.app.repair import Repairs
    from netdiag.render.report import Report
    from netdiag.rules.selection import Choice

# Seconds between two live checks.
_EVERY, _SHORTEST = 5.0, 1.0
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


class GitlabExecutor(StrEnum):
    """What runs the jobs of GitLab."""

    DOCKER = "docker"
    KUBERNETES = "kubernetes"


class OnOff(StrEnum):
    """A switch of the engine."""

    ON = "on"
    OFF = "off"


def _rule_ids(incomplete: str) -> list[str]:
    """The ids that a word may become; of a list the last one."""
    from netdiag.rules.selection import known_ids

    done, comma, word = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in known_ids() if name.startswith(word)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What the options say: what to check, in files or (with `live`) as it runs, and what to do with the result."""

    check: "CheckOptions"
    outputs: tuple[Output, ...]
    live: "LiveOptions | None" = None
    replay: str | None = None
    require_all: bool = False
    exit_zero: bool = False
    allow_empty: bool = False
    fix: bool = False
    diff: bool = False
    unsafe_fixes: bool = False
    watch: bool = False
    every: float | None = None
    metrics: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the user named."""
        return self.check.files + self.check.project_files


def check_listeners(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="FILE",
            help="Compose files or folders (- is standard input), CI files, manifests, files with docker run.",
        ),
    ] = None,
    chain: ProjectChain = None,
    project_directory: ProjectDirectory = None,
    project_name: ProjectName = None,
    format: Annotated[
        list[Format] | None,
        Option("--format", help="Output format; repeatable, each with its own --output.", show_default="text"),
    ] = None,
    select: Annotated[
        list[str] | None,
        Option(
            "--select",
            metavar="RULES",
            help="Use only these rules: ids, or prefixes like kraft-.",
            autocompletion=_rule_ids,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        Option("--ignore", metavar="RULES", help="Do not use these rules; repeatable.", autocompletion=_rule_ids),
    ] = None,
    fail_on: Annotated[
        Severity | None,
        Option("--fail-on", help="Exit with 1 for findings of this severity or higher.", show_default="error"),
    ] = None,
    exit_zero: Annotated[bool, Option("--exit-zero", help="Exit with 0 even if there are findings.")] = False,
    no_ignores: Annotated[bool, Option("--no-ignores", help="Do not apply the ignore comments in the files.")] = False,
    config: Annotated[
        str | None,
        Option("--config", metavar="FILE", help="Use this configuration instead of the nearest netdiag.toml."),
    ] = None,
    isolated: Annotated[bool, Option("--isolated", help="Read no configuration file.")] = False,
    baseline: Annotated[
        str | None, Option("--baseline", metavar="FILE", help="Ignore the findings in this baseline.")
    ] = None,
    write_baseline: Annotated[
        str | None, Option("--write-baseline", metavar="FILE", help="Write the findings to a new baseline.")
    ] = None,
    output: Annotated[
        list[str] | None,
        Option("--output", "-o", metavar="FILE", help="Write the preceding --format to a file; repeatable."),
    ] = None,
    fix: Annotated[bool, Option("--fix", help="Apply repairs to the files, then check again.")] = False,
    diff: Annotated[bool, Option("--diff", help="Print the repairs as a patch; change no file.")] = False,
    unsafe_fixes: Annotated[
        bool,
        Option(
            "--unsafe-fixes",
            help="With --fix or --diff: also make repairs that change which clients a listener serves.",
        ),
    ] = False,
    watch: Annotated[
        bool, Option("--watch", help="Check again whenever a file changes; with --live, at intervals.")
    ] = False,
    every: Annotated[
        float | None,
        Option(
            "--every",
            metavar="SECONDS",
            min=_SHORTEST,
            max=86400,
            help="With --live --watch: the interval; --watch=SECONDS is the same.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        Option(
            "--metrics",
            metavar="[HOST:]PORT",
            help="With --live --watch: serve what is seen as metrics, on loopback unless HOST says otherwise.",
        ),
    ] = None,
    matrix: Annotated[bool, Option("--matrix/--no-matrix", help="Show from where each address works.")] = True,
    env_file: EnvFiles = None,
    profile: Profiles = None,
    docker_host_ip: Annotated[
        list[str] | None, Option("--docker-host-ip", metavar="IP", help="An address of the docker host; repeatable.")
    ] = None,
    assume_resolves: Annotated[
        list[str] | None,
        Option(
            "--assume-resolves",
            metavar="NAME=IP",
            help="What clients resolve a name to that no file declares; NAME= for nothing, * for all others.",
        ),
    ] = None,
    platform: Annotated[
        HostKind | None,
        Option(
            "--platform", help="The platform that the engine runs on.", show_default="linux, or what the engine reports"
        ),
    ] = None,
    engine: Annotated[
        str | None,
        Option("--engine", metavar="RELEASE", help="The release of the engine: 20.10, 28, 29.7.2. Podman's: 4.3."),
    ] = None,
    userland_proxy: Annotated[
        OnOff | None, Option("--userland-proxy", help="Whether the engine runs docker-proxy.", show_default="on")
    ] = None,
    firewall: Annotated[Firewall | None, Option("--firewall", help="The engine's packet filter.")] = None,
    ci: Annotated[bool, Option("--ci", help="Check .github/workflows and .gitlab-ci.yml of this repository.")] = False,
    gitlab_executor: Annotated[
        GitlabExecutor | None,
        Option("--gitlab-executor", help="What runs the jobs of .gitlab-ci.yml.", show_default="either"),
    ] = None,
    live: Annotated[
        bool, Option("--live", help="Check running containers: those of FILE, or all on the engine.")
    ] = False,
    container: Annotated[
        list[str] | None, Option("--container", metavar="NAME", help="With --live: check this container; repeatable.")
    ] = None,
    volumes: Annotated[
        bool,
        Option("--volumes", help="Also read the data directories in the project's volumes; --live always does."),
    ] = False,
    host: Annotated[
        str | None,
        Option(
            "--host", metavar="URL", help="With --live or --volumes: the engine. Default: the one that docker uses."
        ),
    ] = None,
    netns: Annotated[
        list[str] | None,
        Option("--netns", metavar="NAME", help="With --live: also connect from this namespace; repeatable."),
    ] = None,
    vantage: Annotated[
        list[str] | None,
        Option("--from", metavar="CONTAINER", help="With --live: also connect from this container; repeatable."),
    ] = None,
    all_vantages: Annotated[
        bool,
        Option("--all-vantages", help="With --live: also connect from containers that the check is not about."),
    ] = False,
    timeout: Annotated[
        float, Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="With --live: timeout of one step.")
    ] = 4.0,
    repeat: Annotated[
        int,
        Option(
            "--repeat",
            metavar="N",
            min=1,
            max=100,
            help="With --live: check N times, to find what fails only sometimes.",
        ),
    ] = 1,
    client_properties: LiveClientProperties = None,
    warn_days: Annotated[
        int | None,
        Option(
            "--warn-days",
            metavar="N",
            min=0,
            max=36500,
            help="With --live: report certificates that expire within N days.",
            show_default=str(WARN_DAYS),
        ),
    ] = None,
    require_all: Annotated[
        bool, Option("--require-all", help="With --live: exit with 3 unless all is tried, from every vantage.")
    ] = False,
    record: Annotated[
        str | None,
        Option("--record", metavar="FILE", help="With --live: record the observations in a file for --replay."),
    ] = None,
    replay: Annotated[
        str | None,
        Option("--replay", metavar="FILE", help="Check a file that --live --record wrote, and nothing else."),
    ] = None,
    why: Annotated[
        bool,
        Option("--why", help="With --live: find why each connection fails, and what would help; sends more packets."),
    ] = False,
    allow_empty: Annotated[bool, Option("--allow-empty", help="Exit with 0, not 4, if no input has a broker.")] = False,
) -> ExitStatus:
    """Check Kafka listeners, in Compose files or running containers: what is wrong, and who can connect."""
    if not live:
        refuse(
            (
                container or netns or require_all,
                "--container, --netns and --require-all require --live",
            ),
            (host and not volumes, "--host and --context require --live or --volumes"),
            (vantage or all_vantages, "--from and --all-vantages require --live"),
            (
                client_properties is not None or warn_days is not None,
                "--client-properties and --warn-days require --live",
            ),
            (why or repeat > 1, "--why and --repeat require --live"),
            (record is not None and replay is None, "--record requires --live"),
        )
    refuse(
        (why and record is not None, "--why and --record exclude each other: a recording has no causes"),
        (
            replay is not None and (live or record is not None),
            "--replay excludes --live and --record",
        ),
        (config is not None and isolated, "--config and --isolated exclude each other"),
        (baseline is not None and write_baseline is not None, "--baseline and --write-baseline exclude each other"),
    )
    # Here and below, not above: help loads nothing that checks.
    from netdiag.app.configuration import CheckOptions, LiveOptions

    proxy = None if userland_proxy is None else userland_proxy is OnOff.ON
    is_podman = platform in (HostKind.PODMAN, HostKind.PODMAN_ROOTLESS)
    if is_podman and engine is not None:
        refuse((podman_release(engine) is None, f'"{engine}" is not a release of Podman'))
    request = _Request(
        check=CheckOptions(
            files=tuple(files or ()),
            project_files=tuple(chain or ()),
            read=read_options(directory=project_directory, name=project_name, env_files=env_file, profiles=profile),
            host_addresses=tuple(map(_address, docker_host_ip or ())),
            resolves=_resolves(assume_resolves or ()),
            engine=PlatformOptions(
                kind=platform,
                generation=None if is_podman else _generation(engine),
                userland_proxy=proxy,
                firewall=firewall,
                podman=podman_release(engine) if is_podman and engine else None,
            ),
            matrix=matrix and not diff,
            rules=_choice(select, ignore),
            ignore_comments=not no_ignores,
            config_file=config,
            isolated=isolated,
            baseline=baseline,
            write_baseline=write_baseline,
            fail_on=fail_on,
            volumes=volumes,
            host=host,
            ci=ci,
            gitlab_executor=gitlab_executor.value if gitlab_executor else None,
        ),
        outputs=outputs_of(context, format or (), output or ()),
        live=LiveOptions(
            containers=tuple(container or ()),
            host=host,
            netns=tuple(netns or ()),
            vantages=tuple(vantage or ()),
            all_vantages=all_vantages,
            timeout=timeout,
            repeat=repeat,
            client_properties=client_properties,
            warn_days=WARN_DAYS if warn_days is None else warn_days,
            why=why,
            record=record,
            argv=tuple(sys.argv),
        )
        if live
        else None,
        replay=replay,
        require_all=require_all,
        exit_zero=exit_zero,
        allow_empty=allow_empty,
        fix=fix,
        diff=diff,
        unsafe_fixes=unsafe_fixes,
        watch=watch,
        every=every,
        metrics=metrics,
    )
    _refuse_contradictions(request)
    console = console_of(context)
    if request.live is not None:
        return _live_again(request, request.live, console) if watch else _live_once(request, request.live, console)
    return _again(request, console) if watch else _once(request, console)[0]


def _refuse_contradictions(request: _Request) -> None:
    from netdiag.io.files.projects import STDIN, bad_project_name, is_project_name

    check, outputs, named, repairs = request.check, request.outputs, request.files, request.fix or request.diff
    live_watch = request.watch and request.live is not None
    name = check.read.project_name
    from_stdin = STDIN in named
    refuse(
        (request.live and repairs, "--fix and --diff repair files, not containers: use them without --live"),
        (
            check.files and check.project_files,
            "-f and FILE exclude each other: -f names the files of one project, each FILE is a project",
        ),
        (name is not None and not is_project_name(name), bad_project_name(name or "")),
        (request.live and request.live.containers and named, "--container and files exclude each other"),
        (check.ci and request.live, "--ci reads files: use it without --live"),
        (request.replay and named, "--replay excludes FILE and -f: the recording has the project"),
        (
            request.watch and (request.replay or (request.live and request.live.record)),
            "--watch excludes --record and --replay",
        ),
        (request.fix and request.diff, "--fix and --diff exclude each other"),
        (
            request.diff and (len(outputs) > 1 or outputs[0].format is not Format.TEXT),
            "--diff excludes --format: it prints a patch",
        ),
        (request.unsafe_fixes and not repairs, "--unsafe-fixes requires --fix or --diff"),
        (
            check.write_baseline and repairs,
            "--write-baseline excludes --fix and --diff",
        ),
        (
            request.watch and (repairs or check.write_baseline),
            "--watch excludes --fix, --diff and --write-baseline",
        ),
        (request.every is not None and not live_watch, "--every requires --live --watch"),
        (request.metrics is not None and not live_watch, "--metrics requires --live --watch"),
        (
            live_watch and (len(outputs) > 1 or outputs[0].path or outputs[0].format not in (Format.TEXT, Format.JSON)),
            "--live --watch writes only text or json, to standard output",
        ),
        (request.watch and from_stdin, "standard input cannot be watched"),
        (request.fix and from_stdin and len(named) > 1, "standard input and other inputs cannot be repaired together"),
        (
            request.fix
            and from_stdin
            and any(output.path is None and output.format is not Format.TEXT for output in outputs),
            "--fix writes the repaired file to standard output: use --output for the report",
        ),
        (named.count(STDIN) > 1, "standard input can be read only once"),
    )


def _once(request: _Request, console: Console) -> "tuple[ExitStatus, CheckResult]":
    from netdiag.app.check import Check

    if request.replay is not None:
        from netdiag.app.live_check import replay

        result = replay(request.replay, request.check, console)
        return _written(request, result, console), result
    check = Check(request.check, console)
    result = check.run()
    if result.report.interrupted or not (request.fix or request.diff):
        return _written(request, result, console), result
    # Most runs repair nothing, and do not pay for it.
    from netdiag.app.repair import find_repairs, fix, report_rest
    from netdiag.io.files.projects import STDIN, STDIN_NAME

    if request.diff:
        repairs = find_repairs(check, result, unsafe=request.unsafe_fixes)
        _write_patch(repairs, result, request.outputs[0].path)
        report_rest(repairs, console)
        return _status(request, result), result
    before = result.report.sources
    result, repairs = fix(check, result, unsafe=request.unsafe_fixes)
    outputs = request.outputs
    if STDIN in request.files:
        write_bytes(repairs.after.get(STDIN_NAME, before.get(STDIN_NAME, b"")))
        outputs = tuple(output for output in outputs if output.path is not None)
    return _written(replace(request, outputs=outputs), result, console), result


def _again(request: _Request, console: Console) -> ExitStatus:
    from netdiag.app.watch import FileWatch

    watch = FileWatch(request.files)
    for _ in watch.rounds():
        if is_terminal():
            write_text(_CLEAR)
        try:
            status, result = _once(request, console)
        except NetdiagError as error:
            report_error(error, console.error_screen)
        else:
            if status is ExitStatus.INTERRUPTED:
                break
            watch.add(result)
        say(f"netdiag: watching {len(watch.files)} paths; press Ctrl-C to stop")
    return ExitStatus.INTERRUPTED


def _live_once(request: _Request, live: "LiveOptions", console: Console) -> ExitStatus:
    from netdiag.app.live_check import check_live
    from netdiag.io.extras import require_live

    if all(output.format is Format.TEXT for output in request.outputs):
        # One line says it; only a format for machines needs a whole document around it.
        require_live()
    return _written(request, check_live(request.check, live, console), console)


def _live_again(request: _Request, live: "LiveOptions", console: Console) -> ExitStatus:
    from netdiag.app.live_check import LiveCheck
    from netdiag.app.watch import live_rounds, step_timeout
    from netdiag.cli.live_display import show_rounds
    from netdiag.io.extras import require_live

    require_live()
    every = _EVERY if request.every is None else request.every
    check = LiveCheck(request.check, replace(live, timeout=step_timeout(every, live.timeout)), console)
    as_json = request.outputs[0].format is Format.JSON

    def look() -> "Report":
        return check.run().report

    if request.metrics is None:
        show_rounds(live_rounds(look, every, sys.stdout), console, every=every, as_json=as_json)
        return ExitStatus.CLEAN
    from netdiag.app.metrics import measured, metrics_server

    with metrics_server(request.metrics, console) as server:
        rounds = live_rounds(measured(look, server), every, sys.stdout)
        show_rounds(rounds, console, every=every, as_json=as_json)
    return ExitStatus.CLEAN


def _written(request: _Request, result: "CheckResult", console: Console) -> ExitStatus:
    from netdiag.render.report import limited

    outputs = request.outputs
    if result.report.interrupted:
        say("netdiag: interrupted")
        # A format for machines is a whole document, whatever happened.
        outputs = tuple(output for output in outputs if output.format is not Format.TEXT)
    write_outputs(outputs, limited(result.report), console, matrix=request.check.matrix)
    return _status(request, result)


def _status(request: _Request, result: "CheckResult") -> ExitStatus:
    status = status_of(result.report, fail_on=result.fail_on, require_all=request.require_all)
    lenient = {ExitStatus.FINDINGS: request.exit_zero, ExitStatus.NOTHING_TO_CHECK: request.allow_empty}
    return ExitStatus.CLEAN if lenient.get(status) else status


def _write_patch(repairs: "Repairs", result: "CheckResult", path: str | None) -> None:
    """The repairs as one patch, to a file or to standard output, and a count on standard error."""
    from netdiag.io.files import write_file
    from netdiag.render.findings.edits import unified_diff
    from netdiag.render.findings.finding_text import harmless
    from netdiag.render.redact import redacted_error
    from netdiag.render.wording import plural

    patch = b"".join(unified_diff(name, before, after) for name, (before, after) in repairs.changed.items())
    if path is None:
        write_bytes(patch)
    else:
        write_file(path, patch)
    for item in result.report.inputs:
        if item.error:
            say(f"netdiag: {harmless(redacted_error(item.error.message, item.error.where or item.name))}")
    without = sum(not finding.edits for finding in repairs.left)
    repaired = plural(len(repairs.repaired), "finding")
    say(f"netdiag: {repaired} repaired by the patch, {without} need your decision")


def _choice(select: list[str] | None, ignore: list[str] | None) -> "Choice":
    from netdiag.rules.selection import Choice, UnknownRule, expanded

    choice = Choice(select=words(select) if select else None, ignore=words(ignore))
    for pattern in (*(choice.select or ()), *choice.ignore):
        try:
            expanded(pattern)
        except UnknownRule as error:
            raise typer.BadParameter(str(error)) from error
    return choice


def _resolves(given: Sequence[str]) -> dict[str, str]:
    from netdiag.config import assumed_name

    found: dict[str, str] = {}
    for item in given:
        name, equals, address = item.partition("=")
        try:
            found.update([assumed_name(name, address)])
        except ValueError:
            equals = ""
        refuse((not name.strip() or not equals, f'--assume-resolves takes NAME=IP, not "{item}"'))
    return found


def _address(given: str) -> str:
    try:
        return str(ip_address(given))
    except ValueError:
        raise typer.BadParameter(f'--docker-host-ip takes an address like 192.168.1.20, not "{given}"') from None


def _generation(release: str | None) -> Generation | None:
    generation = None if release is None else generation_of(release)
    refuse((release is not None and generation is None, f'"{release}" is not an engine release'))
    return generation
