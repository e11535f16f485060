"""The Python API: what the commands do, for notebooks, editors and other programs (docs/python-api.md).

The names that `netdiag` exports are stable. Functions raise NetdiagError where nothing could be looked at; what is
wrong with what was looked at is in the reports that they return.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any

from netdiag.app.progress import SILENT, Listener
from netdiag.errors import NetdiagError, UsageError, cannot_import
from netdiag.findings import Finding, Severity
from netdiag.render.screen import Screen

if TYPE_CHECKING:
    import pyarrow

    from netdiag.app.captures import CaptureQuery
    from netdiag.app.check import CheckResult
    from netdiag.app.configuration import CheckOptions
    from netdiag.deployment.observation.registered import Registered
    from netdiag.render.report import Input, Matrix, Report
    from netdiag.topology.graph import Topology as TopologyGraph
    from netdiag.traffic.analysis import Analysis as CaptureAnalysis

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

__all__ = [
    "AnalysisReport",
    "Captures",
    "CheckReport",
    "Finding",
    "Listener",
    "NetdiagError",
    "RegistryReport",
    "Rows",
    "Severity",
    "TopologyReport",
    "check",
    "check_live",
    "read_captures",
    "read_registry",
    "read_topology",
]

# A screen of a notebook; of a table so many rows are shown.
_SCREEN = Screen(width=120, encoding="utf-8")
_ROWS_SHOWN = 20


def check(
    paths: Paths = (),
    *,
    project_files: Paths = (),
    project_directory: str | None = None,
    project_name: str | None = None,
    env_files: Paths = (),
    profiles: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    fail_on: Severity | None = None,
    config: str | None = None,
    isolated: bool = False,
    baseline: str | None = None,
    docker_host_ips: Sequence[str] = (),
    assume_resolves: Mapping[str, str] | None = None,
    matrix: bool = True,
    listener: Listener = SILENT,
) -> "CheckReport":
    """Check Kafka listeners as compose files declare them, as `netdiag check-listeners` does.

    `paths` are files and folders, each a project of its own, `project_files` the files of one project; with neither,
    the project that compose finds is checked. `environ` is the environment that compose would have, by default this.
    The other options are those of the command. A file that cannot be read is an input with an error in the report;
    UsageError for a configuration or a rule that cannot be.
    """
    from netdiag.app.check import check as check_files

    options = _check_options(
        paths,
        project_files=project_files,
        project_directory=project_directory,
        project_name=project_name,
        env_files=env_files,
        profiles=profiles,
        environ=environ,
        select=select,
        ignore=ignore,
        fail_on=fail_on,
        config=config,
        isolated=isolated,
        baseline=baseline,
        docker_host_ips=docker_host_ips,
        assume_resolves=assume_resolves,
        matrix=matrix,
    )
    return CheckReport(check_files(options, listener))


def check_live(
    paths: Paths = (),
    *,
    containers: Sequence[str] = (),
    host: str | None = None,
    netns: Sequence[str] = (),
    vantages: Sequence[str] = (),
    all_vantages: bool = False,
    timeout: float = 4.0,
    repeat: int = 1,
    client_properties: str | None = None,
    warn_days: int = 30,
    why: bool = False,
    environ: Mapping[str, str] | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    fail_on: Severity | None = None,
    config: str | None = None,
    isolated: bool = False,
    matrix: bool = True,
    listener: Listener = SILENT,
) -> "CheckReport":
    """Check what runs, as `netdiag check-listeners --live` does: the engine is asked, every vantage is tried.

    `paths` are compose files whose projects run, `containers` single containers; with neither, everything on the engine
    is checked. `host` is the engine's URL, by default as docker finds it. `vantages` are containers to connect from
    that the check is not about, `all_vantages` stands for all of them. `timeout` is for one step, in seconds.
    `repeat` is how often to look, `why` adds the causes of what fails. MissingExtra without the extra `live`.
    """
    from netdiag.app.configuration import LiveOptions
    from netdiag.app.live_check import check_live as check_running
    from netdiag.io.extras import require_live

    require_live("check_live")
    options = _check_options(
        paths,
        environ=environ,
        select=select,
        ignore=ignore,
        fail_on=fail_on,
        config=config,
        isolated=isolated,
        matrix=matrix,
    )
    live = LiveOptions(
        containers=tuple(containers),
        host=host,
        netns=tuple(netns),
        vantages=tuple(vantages),
        all_vantages=all_vantages,
        timeout=timeout,
        repeat=repeat,
        client_properties=client_properties,
        warn_days=warn_days,
        why=why,
    )
    return CheckReport(check_running(options, live, listener))


def read_captures(
    paths: Paths,
    *,
    since: str | None = None,
    until: str | None = None,
    clients: str | Sequence[str] = (),
    brokers: str | Sequence[str] = (),
    topics: str | Sequence[str] = (),
    ports: Sequence[int] = (),
    all_sightings: bool = False,
    live_names: bool = False,
    host: str | None = None,
    project: str | None = None,
    listener: Listener = SILENT,
) -> "Captures":
    """Packet captures to read tables from, or to analyze, as `netdiag exchanges` and `netdiag analyze` do.

    `paths` are captures, folders or patterns. `since` and `until` are times as the commands take them; the other
    filters are one or several names, or numbers of ports, and let everything through when empty. `live_names` asks the
    engine what runs, and calls containers and listeners by name. Nothing is read before rows are asked for. UsageError
    for an invalid time or port.
    """
    from netdiag.app.address_names import live_names as names_of_what_runs
    from netdiag.app.captures import CaptureQuery, time_span
    from netdiag.traffic.native import NO_NAMES, ReadOptions

    since_ns, until_ns = time_span(since, until)
    for port in ports:
        if not 0 < port < 65536:
            raise UsageError(f"{port} is not a port")
    rows = ReadOptions(
        clients=_names(clients),
        brokers=_names(brokers),
        topics=_names(topics),
        ports=frozenset(ports),
        all_sightings=all_sightings,
        address_names=names_of_what_runs(host, project, listener) if live_names else NO_NAMES,
    )
    return Captures(
        CaptureQuery(files=_paths(paths), rows=rows, since_ns=since_ns, until_ns=until_ns), listener=listener
    )


def read_topology(
    *,
    networks: Sequence[str] = (),
    containers: Sequence[str] = (),
    services: Sequence[str] = (),
    host: str | None = None,
    engine: bool = True,
    reach: bool = True,
    captures: Paths = (),
    listener: Listener = SILENT,
) -> "TopologyReport":
    """The network of this machine as it is now, as `netdiag topology` shows it; nothing is sent, changed or run.

    With `networks`, `containers` or `services` only what hangs together with them; without `engine` only what the
    kernel says. As root everything is seen, otherwise a part.
    """
    from netdiag.app.topology import TopologyOptions, topology_report

    options = TopologyOptions(
        networks=tuple(networks),
        containers=tuple(containers),
        services=tuple(services),
        host=host,
        engine=engine,
        reach=reach,
        captures=_paths(captures),
    )
    found = topology_report(options, listener)
    return TopologyReport(found.topology, found.findings)


def read_registry(
    path: str | PathLike[str] | None = None,
    *,
    project_name: str | None = None,
    containers: Sequence[str] = (),
    host: str | None = None,
    zookeeper: str | None = None,
    zookeeper_digest: str | PathLike[str] | None = None,
    client_properties: str | PathLike[str] | None = None,
    timeout: float = 4.0,
    environ: Mapping[str, str] | None = None,
    listener: Listener = SILENT,
) -> "RegistryReport":
    """What brokers have registered with ZooKeeper or KRaft, as `netdiag registry` shows it; nothing is changed.

    `path` is a compose file whose project runs, `containers` single containers; with neither, every cluster on the
    engine is read. `zookeeper` is HOST:PORT[/PATH] and asked from here, without an engine; `zookeeper_digest` a file
    with user:password. `timeout` is for one step, in seconds. MissingExtra without the extra `live`.
    """
    from netdiag.app.configuration import CheckOptions
    from netdiag.app.registry import RegistryOptions
    from netdiag.app.registry import read_registry as read
    from netdiag.io.files.projects import ReadOptions

    read_as = ReadOptions(environ=os.environ if environ is None else environ, project_name=project_name)
    options = RegistryOptions(
        check=CheckOptions(files=() if path is None else (os.fspath(path),), read=read_as),
        containers=tuple(containers),
        host=host,
        zookeeper=zookeeper,
        digest_file=None if zookeeper_digest is None else os.fspath(zookeeper_digest),
        client_properties=None if client_properties is None else os.fspath(client_properties),
        timeout=timeout,
    )
    found = read(options, listener)
    return RegistryReport(found.clusters, found.findings)


class CheckReport:
    """What a check found: inputs, findings, and from where each address works."""

    def __init__(self, result: "CheckResult") -> None:
        self._result = result

    @property
    def inputs(self) -> "tuple[Input, ...]":
        """What was checked: `name`, `brokers`, and `error`, which is None for what could be read."""
        return self._report.inputs

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong: `rule`, `severity`, `message`, `location`, `why`, `hint`, `edits` and more."""
        return self._report.findings

    @property
    def matrices(self) -> "tuple[Matrix, ...]":
        """For each input its `cells`: what a client gets from a vantage at an address, predicted and observed."""
        return self._report.matrices

    @property
    def ok(self) -> bool:
        """Whether every input was read and no finding is as severe as `fail_on`: exit status 0 of the command."""
        read = all(item.error is None for item in self.inputs)
        return read and not any(finding.severity.at_least(self._result.fail_on) for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The report in the shape of `netdiag check-listeners --format json` (docs/output.md)."""
        from netdiag.render.formats.json import render

        return _loaded(render(self._report))

    def to_text(self) -> str:
        """The report as the command prints it, without colours."""
        from netdiag.render.formats.text import render

        return render(self._report, _SCREEN)

    @property
    def _report(self) -> "Report":
        return self._result.report

    def __repr__(self) -> str:
        from netdiag.render.report import summary

        return f"<CheckReport: {summary(self._report)}>"

    def _repr_html_(self) -> str:
        from netdiag.render.formats.text import report_lines
        from netdiag.render.html import lines_html

        return lines_html(report_lines(self._report, _SCREEN))


class Captures:
    """Packet captures, and which of their rows are wanted."""

    def __init__(self, query: "CaptureQuery", *, listener: Listener = SILENT) -> None:
        self._query = query
        self._listener = listener

    def rows(self, table: str = "exchanges", columns: Sequence[str] | None = None) -> "Rows":
        """A table of docs/tables.md, or some of its columns in their order; UsageError where there is none."""
        from netdiag.app.captures import table_columns
        from netdiag.traffic.tables import NAMES, RAW_NAMES

        if table not in (*NAMES, *RAW_NAMES):
            raise UsageError(f"there is no table '{table}'", hint=f"the tables are {', '.join((*NAMES, *RAW_NAMES))}")
        names = tuple(column.name for column in table_columns(table, columns))
        return Rows(self._query, table, names, listener=self._listener)

    def analyze(self, *, master: str = "local[*]") -> "AnalysisReport":
        """Findings and figures, with Spark; MissingExtra without the extra `spark`."""
        from netdiag.app.analyze import AnalyzeOptions
        from netdiag.app.analyze import analyze as analyze_captures

        topics = self._query.rows.topics
        query = replace(self._query, rows=replace(self._query.rows, topics=frozenset()))
        options = AnalyzeOptions(query=query, master=master, topics=topics)
        return AnalysisReport(analyze_captures(options, self._listener))

    def __repr__(self) -> str:
        return f"<Captures: {', '.join(self._query.files)}>"


class Rows:
    """The rows of a table, read anew each time they are asked for."""

    def __init__(
        self, query: "CaptureQuery", table: str, columns: tuple[str, ...], *, listener: Listener = SILENT
    ) -> None:
        self.table = table
        self.columns = columns
        self._query = query
        self._listener = listener

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each row in the shape of `netdiag exchanges --format json`."""
        for batch in self._batches():
            yield from map(json.loads, batch.to_json().splitlines())

    def to_dicts(self) -> list[dict[str, Any]]:
        """The same as a list."""
        return list(self)

    def to_arrow(self) -> "pyarrow.Table":
        """The rows as a table of Arrow; MissingExtra without pyarrow."""
        try:
            import pyarrow as pa
        except ImportError as error:
            raise cannot_import("to_arrow", error, extra="spark") from error
        from netdiag.traffic.native import arrow_stream

        stream = arrow_stream(self.table, self.columns)
        schema = pa.ipc.open_stream(stream.end()).schema
        return pa.Table.from_batches((pa.record_batch(batch) for batch in self._batches()), schema)

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas; MissingExtra without it."""
        table = self.to_arrow()
        try:
            return table.to_pandas()
        except ImportError as error:
            raise cannot_import("to_pandas", error, extra="spark") from error

    def to_spark(self, spark: Any) -> Any:
        """The rows as a DataFrame of a Spark session, which reads them with as many tasks as it needs."""
        rows = self._query.rows
        if rows.all_sightings or rows.address_names.hosts or rows.address_names.endpoints:
            raise UsageError(
                "Spark does not support all_sightings and live_names", hint="leave them out, or use to_arrow()"
            )
        from netdiag.io.spark import register

        register(spark)
        options = {
            "level": self.table,
            "columns": ",".join(self.columns),
            "since": _seconds(self._query.since_ns),
            "until": _seconds(self._query.until_ns),
            "ports": ",".join(map(str, sorted(rows.ports))),
            "clients": ",".join(sorted(rows.clients)),
            "brokers": ",".join(sorted(rows.brokers)),
            "topics": ",".join(sorted(rows.topics)),
        }
        reader = spark.read.format("kafka_pcap").options(**{name: value for name, value in options.items() if value})
        return reader.load(list(self._query.files))

    def _batches(self) -> Iterator[Any]:
        from netdiag.app.captures import read_table

        return read_table(self._query, self.table, self.columns, self._listener)

    def __repr__(self) -> str:
        return f"<Rows of {self.table}: {', '.join(self._query.files)}>"

    def _repr_html_(self) -> str:
        from netdiag.render.html import table_html

        shown = list(islice(self, _ROWS_SHOWN + 1))
        note = f"the first {_ROWS_SHOWN} rows" if len(shown) > _ROWS_SHOWN else f"{len(shown)} rows"
        rows = ([row.get(name) for name in self.columns] for row in shown[:_ROWS_SHOWN])
        return table_html(self.columns, rows, f"{self.table}: {note}")


class AnalysisReport:
    """What captures show: findings, and the figures of docs/tables.md."""

    def __init__(self, analysis: "CaptureAnalysis") -> None:
        self._analysis = analysis

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong, worst first."""
        return tuple(self._analysis.findings)

    def to_dict(self) -> dict[str, Any]:
        """The analysis in the shape of `netdiag analyze --format json` (docs/output.md)."""
        from netdiag.render.analysis.tables import analysis_json

        return _loaded(analysis_json(self._analysis))

    def to_text(self) -> str:
        """The analysis as the command prints it, without colours."""
        from netdiag.render.analysis.tables import analysis_text

        return analysis_text(self._analysis, _SCREEN)

    def _repr_html_(self) -> str:
        from netdiag.render.html import lines_html
        from netdiag.render.screen import Run

        return lines_html([(Run(line),) for line in self.to_text().splitlines()])


class TopologyReport:
    """The network of a machine, and what is wrong with it."""

    def __init__(self, topology: "TopologyGraph", findings: tuple[Finding, ...]) -> None:
        self._topology = topology
        self.findings = findings

    def to_dict(self) -> dict[str, Any]:
        """The topology in the shape of `netdiag topology --format json` (docs/output.md)."""
        from netdiag.render.topology.json import json_text, topology_document

        return _loaded(json_text(topology_document(self._topology, self.findings)))

    def to_text(self) -> str:
        """The tree as the command prints it, without colours."""
        from netdiag.render.topology.tree import tree_text

        return tree_text(self._topology, _SCREEN, self.findings)

    def to_svg(self) -> str:
        """The picture of `netdiag topology --format svg`."""
        from netdiag.render.topology.svg import svg_text

        return svg_text(self._topology, findings=self.findings)

    def _repr_html_(self) -> str:
        return self.to_svg()


class RegistryReport:
    """What brokers have registered, and what is wrong with it."""

    def __init__(self, clusters: "tuple[Registered, ...]", findings: tuple[Finding, ...]) -> None:
        self.clusters = clusters
        self.findings = findings

    def to_dict(self) -> dict[str, Any]:
        """The clusters in the shape of `netdiag registry --json` (docs/output.md)."""
        from netdiag.render.registry import registry_json

        return _loaded(registry_json(self.clusters, self.findings))

    def to_text(self) -> str:
        """The text as the command prints it, without colours."""
        from netdiag.render.registry import registry_text

        return registry_text(self.clusters, self.findings, _SCREEN)

    def _repr_html_(self) -> str:
        from netdiag.render.html import lines_html
        from netdiag.render.registry import registry_lines

        return lines_html(registry_lines(self.clusters, self.findings, _SCREEN))


def _check_options(
    paths: Paths,
    *,
    environ: Mapping[str, str] | None,
    select: Sequence[str] | None,
    ignore: Sequence[str],
    fail_on: Severity | None,
    config: str | None,
    isolated: bool,
    matrix: bool,
    project_files: Paths = (),
    project_directory: str | None = None,
    project_name: str | None = None,
    env_files: Paths = (),
    profiles: Sequence[str] | None = None,
    baseline: str | None = None,
    docker_host_ips: Sequence[str] = (),
    assume_resolves: Mapping[str, str] | None = None,
) -> "CheckOptions":
    from netdiag.app.configuration import CheckOptions
    from netdiag.io.files.projects import ReadOptions
    from netdiag.rules.selection import Choice, UnknownRule, expanded

    choice = Choice(select=None if select is None else tuple(select), ignore=tuple(ignore))
    for pattern in (*(choice.select or ()), *choice.ignore):
        try:
            expanded(pattern)
        except UnknownRule as error:
            raise UsageError(str(error)) from error
    files, chain = _paths(paths), _paths(project_files)
    if files and chain:
        raise UsageError("project_files names the files of one project, paths one project each: use one of them")
    return CheckOptions(
        files=files,
        project_files=chain,
        read=ReadOptions(
            environ=os.environ if environ is None else environ,
            env_files=_paths(env_files),
            project_directory=project_directory,
            project_name=project_name,
            profiles=None if profiles is None else tuple(profiles),
        ),
        host_addresses=tuple(docker_host_ips),
        resolves=_resolves(assume_resolves or {}),
        matrix=matrix,
        rules=choice,
        config_file=config,
        isolated=isolated,
        baseline=baseline,
        fail_on=fail_on,
    )


def _resolves(assumed: Mapping[str, str]) -> dict[str, str]:
    from netdiag.config import assumed_name

    found: dict[str, str] = {}
    for name, address in assumed.items():
        try:
            found.update([assumed_name(name, address)])
        except ValueError as error:
            raise UsageError(f'assume_resolves leads from a name to an address, not to "{address}"') from error
    return found


def _paths(paths: Paths) -> tuple[str, ...]:
    given: Iterable[str | PathLike[str]] = [paths] if isinstance(paths, str | PathLike) else paths
    return tuple(os.fspath(path) for path in given)


def _names(given: str | Sequence[str]) -> frozenset[str]:
    return frozenset([given] if isinstance(given, str) else given)


def _seconds(time_ns: int | None) -> str:
    return "" if time_ns is None else f"{time_ns // 10**9}.{time_ns % 10**9:09}"


def _loaded(text: str) -> dict[str, Any]:
    value = json.loads(text)
    assert isinstance(value, dict)
    return value
