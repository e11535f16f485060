"""What to check and how: the options of the user, with the configuration file of each input below them."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path

from netdiag.config import Configuration, Facts
from netdiag.deployment.model.deployment import PlatformOptions
from netdiag.errors import UsageError
from netdiag.findings import Severity
from netdiag.io.files import SHARED, config_candidates, read_config
from netdiag.io.files.projects import ReadOptions
from netdiag.kafka.security import WARN_DAYS
from netdiag.rules.selection import Choice, FileChoice, Selection, chosen, expanded
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What to check, and how. With `ci`, the CI files of the repository are checked, too.

    `files` are files or folders of a project each, `project_files` those of one project; with neither, the project that
    compose finds. `config_file` is read in the place of the nearest one; `isolated` reads none. `engine` is what the
    user says about the engine and its machine, `resolves` about names that no file declares, as in `Facts`. With
    `volumes`, the engine `host` is asked for what lies in the volumes of the projects. `gitlab_executor` runs the jobs
    of GitLab, where that is known. With `addresses`, the report has the addresses that stand in the files.
    """

    files: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()
    read: ReadOptions = field(default_factory=ReadOptions)
    host_addresses: tuple[str, ...] = ()
    resolves: Mapping[str, str] = field(default_factory=dict)
    engine: PlatformOptions = field(default_factory=PlatformOptions)
    matrix: bool = True
    rules: Choice = field(default_factory=Choice)
    ignore_comments: bool = True
    config_file: str | None = None
    isolated: bool = False
    baseline: str | None = None
    write_baseline: str | None = None
    fail_on: Severity | None = None
    volumes: bool = False
    host: str | None = None
    gitlab_executor: str | None = None
    ci: bool = False
    addresses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """Where to look, as which client, and how long to wait for one step, in seconds.

    `containers` are asked about. It is looked from them, from the docker host, from `netns` and from the containers
    `vantages` of their surroundings; with `all_vantages`, from everywhere. `repeat` is how often to look, to see what
    works only sometimes. `why` asks for the causes of what fails; `record` is a file for what is seen. `argv` is the
    command line that is proposed again with the rights that a vantage takes.
    """

    containers: tuple[str, ...] = ()
    host: str | None = None
    netns: tuple[str, ...] = ()
    vantages: tuple[str, ...] = ()
    all_vantages: bool = False
    timeout: float = 4.0
    repeat: int = 1
    client_properties: str | None = None
    warn_days: int = WARN_DAYS
    why: bool = False
    record: str | None = None
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What options and configuration say together about one input."""

    configuration: Configuration
    read: ReadOptions
    facts: Facts
    host_addresses: tuple[str, ...]
    selection: Selection


class Configurations:
    """The settings of inputs; each configuration file is read once."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._known: dict[str, Configuration] = {}

    def settings(self, folder: str) -> Settings:
        """What goes with an input that lies in a folder; UsageError where its configuration cannot be understood."""
        options, configuration = self._options, self._configuration(folder)
        facts = replace(configuration.facts, resolves={**configuration.facts.resolves, **options.resolves})
        home = os.path.dirname(configuration.path)
        env_files = tuple(os.path.normpath(os.path.join(home, name)) for name in configuration.env_files)
        return Settings(
            configuration=configuration,
            read=replace(
                options.read,
                env_files=options.read.env_files or env_files,
                profiles=configuration.profiles if options.read.profiles is None else options.read.profiles,
                images=facts.images,
            ),
            facts=facts,
            host_addresses=options.host_addresses or facts.host_addresses,
            selection=_selection(configuration, options.rules),
        )

    def _configuration(self, folder: str) -> Configuration:
        options = self._options
        if options.isolated:
            return Configuration()
        key = options.config_file if options.config_file is not None else folder
        if key not in self._known:
            self._known[key] = _nearest(folder) if options.config_file is None else _named(options.config_file)
        return self._known[key]


def fail_on(settings: Iterable[Settings], option: Severity | None) -> Severity:
    """The severity from which on findings count: the option's, else the configuration's, else an error."""
    if option is not None:
        return option
    said = {item.configuration.fail_on: item.configuration.path for item in settings}
    if len(said) > 1:
        names = " and ".join(path or "an input without configuration" for path in said.values())
        raise UsageError(
            f"{names} set different values for fail-on",
            hint="use --fail-on, or check the files one by one",
        )
    return next(iter(said), None) or Severity.ERROR


def _nearest(folder: str) -> Configuration:
    for path, data in config_candidates(folder):
        found = _parsed(_relative(path), data, shared=Path(path).name == SHARED)
        if found is not None:
            return found
    return Configuration()


def _named(path: str) -> Configuration:
    data = read_config(path)
    found = _parsed(path, data, shared=Path(path).name == SHARED)
    if found is None:
        raise UsageError("has no [tool.netdiag] table", where=path)
    return found


def _parsed(path: str, data: bytes, *, shared: bool) -> Configuration | None:
    # Whoever has no configuration does not pay for its parser.
    from netdiag.config.parse import TABLE, parse

    return parse(path, data, _must_be_known, table=TABLE if shared else ())


def _must_be_known(pattern: str) -> None:
    expanded(pattern)


def _selection(configuration: Configuration, choice: Choice) -> Selection:
    folder = os.path.dirname(configuration.path)
    own = Choice(select=configuration.select, ignore=configuration.ignore)
    return Selection(
        rules=chosen((own, choice)),
        elsewhere=tuple(
            FileChoice(glob=glob, folder=folder, rules=frozenset[str]().union(*map(expanded, patterns)))
            for glob, patterns in configuration.per_file_ignores.items()
        ),
        severities=_severities(configuration.severities),
    )


def _severities(given: Mapping[str, Severity]) -> dict[str, Severity]:
    """The severity of every id: of two patterns that match, the longer one's."""
    found: dict[str, Severity] = {}
    for pattern in sorted(given, key=len):
        found |= dict.fromkeys(expanded(pattern), given[pattern])
    return found


def _relative(path: str) -> str:
    """A path as seen from the current folder, where there is one."""
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):
        return path
