"""What goes along to a helper container: the files that a command would read here, and nothing else.

They are found by reading them as the command itself would. Of the environment go along the variables that those files
name, and those that change how netdiag reads and prints. All of it travels on one stream, and is kept in memory.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from netdiag.deployment.sources.compose import from_compose
from netdiag.errors import InputError, NetdiagError, UsageError
from netdiag.io.config_files import config_candidates
from netdiag.io.files import read_file, read_stdin
from netdiag.io.projects import (
    STDIN,
    STDIN_NAME,
    ProjectFiles,
    ProjectReader,
    ReadOptions,
    find_project,
    project_at,
    project_of,
    projects_at,
)

LARGEST = 64 * 1024 * 1024
_LARGEST_LOG = 8 * 1024 * 1024
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_ALWAYS = ("PWD", "NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK", "COLUMNS", "LINES", "TERM", "CI", "TZ")
_ALWAYS_PREFIXES = ("COMPOSE_", "NETDIAG_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Along:
    """What goes along; paths are those of the helper, which are this machine's made absolute.

    `results` are the files that may come back: the path there, and the path as the user wrote it.
    """

    folder: str
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    folders: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    stdin: bytes | None = field(default=None, repr=False)


def along_of(command: str, params: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Along:
    """What a command of these parameters needs; InputError where the user named what cannot be read or written."""
    environ = os.environ if environ is None else environ
    bag = _Bag(environ)
    gather: Mapping[str, Callable[[_Bag, Mapping[str, Any]], None]] = {
        "check-listeners": _for_check,
        "probe": _for_probe,
        "topology": _for_topology,
        "diagnose": _for_diagnose,
        "playbook": _for_playbook,
    }
    if command in gather:
        gather[command](bag, params)
    size = sum(map(len, bag.files.values()))
    if size > LARGEST:
        largest = max(bag.files, key=lambda path: len(bag.files[path]))
        raise InputError(f"{size // 1024**2} MiB cannot go along to the helper container", where=largest)
    here = os.getcwd()
    named = environ.get("PWD", "")
    return Along(
        folder=here,
        files=bag.files,
        folders=tuple(bag.folders),
        links={named: here} if named != here and _is_link_to(named, here) else {},
        results=bag.results,
        environment=_environment(environ, [*bag.files.values(), bag.stdin or b""]),
        stdin=bag.stdin,
    )


class _Bag:
    """Collects."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.files: dict[str, bytes] = {}
        self.folders: dict[str, None] = {os.getcwd(): None}
        self.results: dict[str, str] = {}
        self.stdin: bytes | None = None

    def file(self, path: str | None) -> bytes:
        """A file that the user named; one that is not there is missed there, too."""
        if not path or not os.path.isfile(path):
            return b""
        data = self.files[os.path.abspath(path)] = read_file(path, limit=LARGEST)
        return data

    def project(self, project: ProjectFiles, options: ReadOptions, *, stdin: bytes | None = None) -> None:
        """The files of a project, as far as they can be read, and the configuration beside them."""
        for path in project.files:
            if path != STDIN and os.path.isfile(path):
                self.file(path)
        reader = ProjectReader(project, options, {} if stdin is None else {STDIN_NAME: stdin})
        with suppress(NetdiagError):
            from_compose(reader.read(), read=reader.read_mounted)
        for path, data in reader.contents.items():
            if path != STDIN_NAME:
                self.files[os.path.abspath(path)] = data
        self.folders[os.path.abspath(project.folder or os.curdir)] = None
        self.configuration(project.configuration_folder)

    def configuration(self, folder: str) -> None:
        """The files that configure what is in a folder."""
        with suppress(NetdiagError):
            self.files |= dict(config_candidates(folder))

    def read_stdin(self, limit: int) -> bytes:
        """Standard input, once."""
        if self.stdin is None:
            self.stdin = read_stdin(limit=limit)
        return self.stdin

    def result(self, path: str | None) -> None:
        """A file that is to be written."""
        if not path or path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            return
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            return
        if not os.access(path if os.path.exists(path) else folder, os.W_OK):
            raise InputError("cannot be written: permission denied", where=path)
        self.folders[folder] = None
        self.results[os.path.abspath(path)] = path


def _for_check(bag: _Bag, params: Mapping[str, Any]) -> None:
    files, chain = tuple(params.get("files") or ()), tuple(params.get("chain") or ())
    directory = params.get("project_directory")
    stdin = bag.read_stdin(LARGEST) if STDIN in files + chain else None
    options = ReadOptions(
        environ=bag.environ,
        env_files=tuple(params.get("env_file") or ()),
        project_directory=directory,
        project_name=params.get("project_name"),
        profiles=tuple(params["profile"]) if params.get("profile") else None,
    )
    for path in (*options.env_files, params.get("config"), params.get("baseline")):
        bag.file(path)
    for project in (project_of(chain, directory),) if chain else projects_at(files, directory):
        if isinstance(project, ProjectFiles):
            bag.project(project, options, stdin=stdin)
        elif os.path.isdir(project.path):
            bag.folders[os.path.abspath(project.path)] = None
    if not params.get("isolated"):
        bag.configuration("")
    _client(bag, params.get("client_properties"))
    for path in (*(params.get("output") or ()), params.get("record"), params.get("write_baseline")):
        bag.result(path)


def _client(bag: _Bag, path: str | None) -> None:
    """The settings of a client, and the stores that they name."""
    from netdiag.kafka.client_properties import parse_client_properties

    text = bag.file(path).decode("utf-8", errors="replace")
    with suppress(NetdiagError):
        properties = parse_client_properties(text, where=path or "")
        for store in (properties.truststore, properties.keystore):
            bag.file(store.location if store else None)


def _for_probe(bag: _Bag, params: Mapping[str, Any]) -> None:
    _client(bag, params.get("client_properties"))


def _for_topology(bag: _Bag, params: Mapping[str, Any]) -> None:
    bag.file(params.get("diff"))
    bag.configuration("")
    bag.result(params.get("out"))


def _for_diagnose(bag: _Bag, params: Mapping[str, Any]) -> None:
    lines = tuple(params.get("lines") or ())
    if STDIN in lines or not lines:
        if not lines and (sys.stdin is None or sys.stdin.isatty()):
            raise UsageError("there is nothing to recognise", hint="give a line in quotes, a file, or pipe a log in")
        bag.read_stdin(_LARGEST_LOG)
    for word in lines:
        if word != STDIN and " " not in word.strip():
            bag.file(word)
    _composed(bag, params.get("files") or ())
    _client(bag, params.get("client_properties"))
    bag.result(params.get("bundle"))


def _for_playbook(bag: _Bag, params: Mapping[str, Any]) -> None:
    bag.file(params.get("name"))
    told = (word.partition("=") for word in params.get("told") or ())
    named = [path for name, _, value in told if name == "files" for path in value.split("\n")]
    _composed(bag, (*(params.get("files") or ()), *named))
    _client(bag, params.get("client_properties"))
    bag.result(params.get("bundle"))


def _composed(bag: _Bag, files: Sequence[str]) -> None:
    """Compose files as a playbook takes them: those named, else the one of this folder."""
    options = ReadOptions(environ=bag.environ)
    projects: list[ProjectFiles] = []
    with suppress(NetdiagError):
        here = None if files else find_project(options)
        projects = [project_at(path) for path in files if os.path.exists(path)] + ([here] if here else [])
    for project in projects:
        bag.project(project, options)
    bag.configuration("")


def _environment(environ: Mapping[str, str], texts: Sequence[bytes]) -> dict[str, str]:
    """The variables that some file names, and those that every command heeds."""
    named = {word.decode() for text in texts for word in _NAME.findall(text)}
    return {
        name: value
        for name, value in environ.items()
        if name in named or name in _ALWAYS or name.startswith(_ALWAYS_PREFIXES)
    }


def _is_link_to(path: str, folder: str) -> bool:
    try:
        return os.path.isabs(path) and os.path.samefile(path, folder)
    except OSError:
        return False
