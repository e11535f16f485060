"""Carry out a command from a helper container on the engine's machine: the same command, on the files it reads here.

The files are found by reading them as the command itself would, and nothing else goes along. Of the environment go
along the variables that those files name, and those that change how netdiag reads and prints. All of it travels on one
stream, and is kept in memory.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from netdiag.app.progress import Listener
from netdiag.deployment.sources.compose import from_compose
from netdiag.errors import InputError, NetdiagError, cannot_import
from netdiag.io.files import config_candidates, read_file, read_stdin, write_file
from netdiag.io.files.projects import (
    STDIN,
    STDIN_NAME,
    ProjectFiles,
    ProjectReader,
    ReadOptions,
    find_project,
    project_at,
)
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.engine.helper_container import Kind, Right, Terminal

LARGEST = 64 * 1024 * 1024
# Where a step of a playbook may need room for a while.
_TEMPORARY = "/tmp"
_NAME = rb"[A-Za-z_][A-Za-z0-9_]*"
_ALWAYS = ("PWD", "NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK", "COLUMNS", "LINES", "TERM", "CI", "TZ")
_ALWAYS_PREFIXES = ("COMPOSE_", "NETDIAG_")


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperOptions:
    """Which image to run on which engine, with no more rights than the command uses.

    `command` gives the words to carry out, by the URL that the engine has for the helper; `environment` holds variables
    besides those that the files name.
    """

    image: str
    command: Callable[[str | None], Sequence[str]]
    rights: Sequence["Right"]
    terminal: "Terminal"
    host: str | None = None
    environment: Mapping[str, str]


class HelperOutput(Protocol):
    """Takes what the helper prints."""

    def write(self, data: bytes) -> None:
        """Bytes for standard output."""

    def write_error(self, data: bytes) -> None:
        """Bytes for standard error."""


class HelperFiles:
    """Collects what goes along, under the paths of the helper, which are this machine's made absolute.

    `results` are the files that may come back: the path there, and the path as the user wrote it.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.files: dict[str, bytes] = {}
        self.folders: dict[str, None] = {os.getcwd(): None}
        self.results: dict[str, str] = {}
        self.stdin: bytes | None = None

    def environment(self) -> dict[str, str]:
        """The variables that some file names, and those that every command heeds."""
        texts = (*self.files.values(), self.stdin or b"")
        named = {word.decode() for text in texts for word in re.findall(_NAME, text)}
        return {
            name: value
            for name, value in self.environ.items()
            if name in named or name in _ALWAYS or name.startswith(_ALWAYS_PREFIXES)
        }

    def links(self) -> dict[str, str]:
        """The name by which the shell knows the current folder, where it is another."""
        here, named = os.getcwd(), self.environ.get("PWD", "")
        return {named: here} if named != here and _is_link_to(named, here) else {}

    def refuse_too_large(self) -> None:
        """InputError where there is more than goes along."""
        size = sum(map(len, self.files.values()))
        if size > LARGEST:
            largest = max(self.files, key=lambda path: len(self.files[path]))
            raise InputError(f"{size // 1024**2} MiB cannot go along to the helper container", where=largest)

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

    def client(self, path: str | None) -> None:
        """The settings of a client, and the stores that they name."""
        from netdiag.kafka.client_properties import parse_client_properties

        text = self.file(path).decode("utf-8", errors="replace")
        with suppress(NetdiagError):
            properties = parse_client_properties(text, where=path or "")
            for store in (properties.truststore, properties.keystore):
                self.file(store.location if store else None)

    def compose_files(self, files: Sequence[str]) -> None:
        """Compose files as a playbook takes them: those named, else the one of this folder."""
        options = ReadOptions(environ=self.environ)
        projects: list[ProjectFiles] = []
        with suppress(NetdiagError):
            here = None if files else find_project(options)
            projects = [project_at(path) for path in files if os.path.exists(path)] + ([here] if here else [])
        for project in projects:
            self.project(project, options)
        self.configuration("")


def carry_out(files: HelperFiles, options: HelperOptions, output: HelperOutput, listener: Listener) -> int | None:
    """Have a helper carry out a command; its status, None where a file that it wrote could not be put here."""
    try:
        from netdiag.io.helper_container.client import Setting
        from netdiag.io.helper_container.client import carry_out as have_carried_out
    except ImportError as error:
        raise cannot_import("--via container", error, extra="live") from error
    from netdiag.engine.helper_container import SOCKET, Helper, Order, in_memory
    from netdiag.io.engine.address import find_engine

    files.refuse_too_large()
    address = find_engine(options.host, os.environ, Path.home())
    socket, folder = address.unix_socket or SOCKET, os.getcwd()
    url = f"unix://{socket}"
    helper = Helper(
        image=options.image,
        socket=socket,
        shown_as=socket,
        rights=options.rights,
        folders=in_memory([_TEMPORARY, folder, *files.folders, *map(os.path.dirname, files.files)]),
    )
    order = Order(
        # An engine that is reached by a socket has the same name there.
        words=tuple(options.command(None if address.unix_socket is not None else url)),
        folder=folder,
        container="",
        socket=socket,
        environment={**files.environment(), **options.environment, "DOCKER_HOST": url},
        files=files.files,
        folders=tuple(files.folders),
        links=files.links(),
        results=tuple(files.results),
        stdin=files.stdin,
        terminal=options.terminal,
    )
    listener.detail(f"a helper container of {options.image} runs on the engine at {address.url}")
    receiver = _Receiver(files.results, output, listener)
    status = have_carried_out(Setting(address=address, helper=helper), order, receiver.take)
    return None if receiver.failed else status


class _Receiver:
    """What the helper prints, printed; what it wrote, written."""

    def __init__(self, results: Mapping[str, str], output: HelperOutput, listener: Listener) -> None:
        self._results = results
        self._output = output
        self._listener = listener
        self.failed = False

    def take(self, kind: "Kind", data: bytes) -> None:
        from netdiag.engine.helper_container import Kind, decode_file

        if kind is Kind.OUT:
            self._output.write(data)
        elif kind is Kind.ERRORS:
            self._output.write_error(data)
        elif kind is Kind.FILE:
            path, content = decode_file(data)
            if path not in self._results:
                return
            try:
                write_file(self._results[path], content)
            except NetdiagError as error:
                self._listener.warning(error)
                self.failed = True


def _is_link_to(path: str, folder: str) -> bool:
    try:
        return os.path.isabs(path) and os.path.samefile(path, folder)
    except OSError:
        return False
