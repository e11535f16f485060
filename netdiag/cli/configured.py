"""The configuration that goes with an input: found, read, and put below what the options say."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from netdiag.cli.declared import Settings
from netdiag.cli.projects import STDIN, Asked
from netdiag.config.document import Configuration
from netdiag.errors import UsageError
from netdiag.findings import Severity
from netdiag.io.config_files import SHARED, config_candidates, read_config
from netdiag.rules.selection import Choice, FileChoice, Selection, chosen, expanded

ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="This configuration, instead of the nearest netdiag.toml."),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Read no configuration file.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """What options and configuration together say about one input."""

    configuration: Configuration
    settings: Settings
    selection: Selection


@dataclass(slots=True, kw_only=True)
class Configurations:
    """Finds the configuration of each input, each file read once."""

    file: str | None = None
    isolated: bool = False
    _known: dict[str, Configuration] = field(default_factory=dict)

    def afresh(self) -> "Configurations":
        """The same choice with nothing read yet."""
        return Configurations(file=self.file, isolated=self.isolated)

    def of(self, path: str | Asked) -> Configuration:
        """The configuration of an input; UsageError where it cannot be understood."""
        if self.isolated:
            return Configuration()
        folder = _folder(path)
        key = self.file if self.file is not None else folder
        if key not in self._known:
            self._known[key] = self._nearest(folder) if self.file is None else _named(self.file)
        return self._known[key]

    @staticmethod
    def _nearest(folder: str) -> Configuration:
        for path, data in config_candidates(folder):
            found = _parsed(_shown(path), data, shared=Path(path).name == SHARED)
            if found is not None:
                return found
        return Configuration()


def configured(
    paths: Sequence[str | Asked], files: Configurations, settings: Settings, choice: Choice
) -> dict[str | Asked, Configured]:
    """What goes with each input, all of it read before any input is; the options win."""
    found = {}
    for path in paths:
        configuration = files.of(path)
        found[path] = Configured(
            configuration=configuration,
            settings=_settings(settings, configuration),
            selection=_selection(configuration, choice),
        )
    return found


def fail_on_of(found: Mapping[str | Asked, Configured], asked: Severity | None) -> Severity:
    """The severity that makes the exit status 1: the option's, else the configuration's, else an error."""
    if asked is not None:
        return asked
    said = {item.configuration.fail_on: item.configuration.path for item in found.values()}
    if len(said) > 1:
        names = " and ".join(path or "an input without configuration" for path in said.values())
        raise UsageError(
            f"{names} do not agree on fail-on",
            hint="use --fail-on, or check the files one by one",
        )
    return next(iter(said), None) or Severity.ERROR


def _folder(path: str | Asked) -> str:
    """Where an input lies: the first file of a project, or the folder that is named."""
    if isinstance(path, Asked):
        return _folder(path.files[0])
    if path == STDIN:
        return ""
    return path if os.path.isdir(path) else os.path.dirname(path)


def _named(path: str) -> Configuration:
    data = read_config(path)
    found = _parsed(path, data, shared=Path(path).name == SHARED)
    if found is None:
        raise UsageError("there is no [tool.netdiag] in it", where=path)
    return found


def _parsed(path: str, data: bytes, *, shared: bool) -> Configuration | None:
    # Whoever has no configuration does not pay for its parser.
    from netdiag.config.parse import TABLE, parse

    return parse(path, data, _known, table=TABLE if shared else ())


def _known(pattern: str) -> None:
    expanded(pattern)


def _settings(settings: Settings, configuration: Configuration) -> Settings:
    folder = os.path.dirname(configuration.path)
    env_files = tuple(os.path.normpath(os.path.join(folder, name)) for name in configuration.env_files)
    return replace(
        settings,
        env_files=settings.env_files or env_files,
        profiles=configuration.profiles if settings.profiles is None else settings.profiles,
        host_addresses=settings.host_addresses or configuration.facts.host_addresses,
        facts=configuration.facts,
    )


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


def _shown(path: str) -> str:
    """A path as seen from the current folder, where there is a way."""
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):
        return path
