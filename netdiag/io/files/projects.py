"""The files of a compose project: which ones compose takes, and reading them as compose does.

Compose takes the files of `-f`, else those of COMPOSE_FILE, else what lies in this folder or in one above, with the
override beside it (compose-go, `ProjectOptions`). A file named as an argument is a project of its own, as pre-commit
hands files over; the one that compose would take in its folder brings its override, and an override its base.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import ALL_PROFILES, load, normalized_name
from netdiag.compose.positions import Source, Text
from netdiag.compose.project import Project
from netdiag.deployment.model.deployment import Folder
from netdiag.deployment.sources.compose import runs_kafka
from netdiag.deployment.sources.images import with_images
from netdiag.deployment.sources.secured import StoreTools
from netdiag.errors import InputError, NetdiagError
from netdiag.io.files import (
    BASE_NAMES,
    OVERRIDE_NAMES,
    files_of_folder,
    is_readable_here,
    peek_stdin,
    read_file,
    read_inside,
    read_optional,
    read_stdin,
)
from netdiag.patterns import regex
from netdiag.values import dataclass

STDIN = "-"
STDIN_NAME = "<stdin>"
# The largest file of a project's folder that is read because a container mounts it, in bytes.
LARGEST_MOUNTED = 1024 * 1024
_COMMANDS = (".sh", ".bash", ".md", ".markdown", ".mk")
_MAKEFILES = ("makefile", "gnumakefile")
_LOOKED_AT = 64 * 1024
_WORKFLOWS = [[".github", "workflows"], [".gitea", "workflows"], [".forgejo", "workflows"]]
_TOP_SERVICES = regex(rb"(?m)^services:[ \t]*(?:#.*)?\r?\n[ \t]+[^\s-]")
_TOP_JOBS = regex(rb"(?m)^jobs:")
_TOP_ON = regex(rb"(?m)^[\"']?(?:on|true)[\"']?:")
_TOP_OF_RESOURCE = regex(rb"(?m)^[\"']?(?:apiVersion|metadata|spec)[\"']?:")
_TOP_KIND = regex(rb"(?m)^[\"']?kind[\"']?:")
_SCRIPT = regex(rb"(?m)^[ \t]+(?:before_)?script:")
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFiles:
    """The files of one project in the order of `-f`, and the folder that its relative paths start from.

    The folder is empty when it is the current one; `start` is where the search began, whose `.env` counts, too.
    `alone` says that a file was named without the rest of its project, which is not known.
    """

    files: tuple[str, ...]
    folder: str = ""
    start: str | None = None
    alone: bool = False

    @property
    def name(self) -> str:
        """What the project is called in a report: its first file."""
        return display_name(self.files[0])

    @property
    def configuration_folder(self) -> str:
        """Where the search for the project's configuration begins."""
        return "" if self.files[0] == STDIN else os.path.dirname(self.files[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class NoProject:
    """An argument that leads to no project, and why."""

    path: str
    error: NetdiagError

    @property
    def name(self) -> str:
        """What it is called in a report."""
        return display_name(self.path)

    @property
    def configuration_folder(self) -> str:
        """Where the search for its configuration begins."""
        return self.path if os.path.isdir(self.path) else os.path.dirname(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleFile:
    """A file of jobs, of command lines or of manifests. `found`: the user has not named it, but asked to look for such.

    `folder` is the one from which the paths in it start: the repository of a workflow or a pipeline.
    """

    path: str
    kind: Literal["github", "gitlab", "commands", "kubernetes"]
    folder: str = ""
    found: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The file alone."""
        return (self.path,)

    @property
    def name(self) -> str:
        """What it is called in a report."""
        return display_name(self.path)

    @property
    def configuration_folder(self) -> str:
        """Where the search for its configuration begins."""
        return os.path.dirname(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the user says about reading compose files.

    `profiles` of None are those that compose would take. `images` leads from images of one's own to those that they are
    made from. The search for a project begins in the folder `start`, "" for the current one.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    env_files: tuple[str, ...] = ()
    project_directory: str | None = None
    project_name: str | None = None
    profiles: tuple[str, ...] | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    start: str = ""


def display_name(path: str) -> str:
    """A file as people read it."""
    return STDIN_NAME if path == STDIN else path


def project_at(path: str, project_directory: str | None = None) -> ProjectFiles:
    """The project that a file, a folder or `-` stands for; InputError where a folder holds none."""
    if path == STDIN:
        return ProjectFiles(files=(path,), folder=project_directory or "")
    if os.path.isdir(path):
        files = files_of_folder(path)
        if not files:
            raise InputError("no compose file in this folder", where=path, hint=f"name a {' or '.join(BASE_NAMES[:2])}")
        return ProjectFiles(files=files, folder=path if project_directory is None else project_directory)
    folder, name = os.path.split(path)
    start = folder if project_directory is None else project_directory
    files = files_of_folder(folder) if name in BASE_NAMES + OVERRIDE_NAMES else ()
    if os.path.join(folder, name) in files:
        return ProjectFiles(files=files, folder=start)
    return ProjectFiles(files=(path,), folder=start, alone=name not in BASE_NAMES)


def single_file_at(path: str, replaced: Mapping[str, bytes] | None = None) -> SingleFile | None:
    """The file of jobs, command lines or manifests that a path is by its name or its content; None for any other.

    `replaced` holds bytes that are taken in the place of what a file holds.
    """
    if path == STDIN:
        return SingleFile(path=path, kind="kubernetes") if _is_manifest(peek_stdin()) else None
    folder, name = os.path.split(path)
    if name.lower().endswith(_COMMANDS) or name.lower() in _MAKEFILES:
        return SingleFile(path=path, kind="commands", folder=folder)
    if name.endswith((".yml", ".yaml")):
        parts = os.path.abspath(folder).replace(os.sep, "/").split("/")
        if parts[-2:] in _WORKFLOWS:
            return SingleFile(path=path, kind="github", folder=os.path.normpath(os.path.join(folder, "..", "..")))
        if name.endswith((".gitlab-ci.yml", ".gitlab-ci.yaml")) or parts[-1] == ".gitlab":
            return SingleFile(path=path, kind="gitlab", folder=folder)
        if "compose" not in name:
            data = (replaced or {}).get(path)
            data = _first_bytes(path) if data is None else data[:_LOOKED_AT]
            return None if data is None else _by_content(path, folder, data)
    return None


def manifests_in(folder: str) -> tuple[SingleFile, ...]:
    """The manifests in a folder that compose takes nothing of."""
    if not os.path.isdir(folder) or files_of_folder(folder):
        return ()
    names: list[str] = []
    with suppress(OSError):
        names = sorted(name for name in os.listdir(folder) if name.endswith((".yml", ".yaml")))
    found = (single_file_at(os.path.join(folder, name)) for name in names)
    return tuple(file for file in found if file is not None and file.kind == "kubernetes")


def ci_files(start: str = "") -> tuple[SingleFile, ...]:
    """The CI files of the repository that a folder is in: workflows of GitHub, the pipeline of GitLab."""
    root = next((folder for folder in _upwards(start) if os.path.exists(os.path.join(folder, ".git"))), start)
    found = [os.path.join(root, name) for name in (".gitlab-ci.yml", ".gitlab-ci.yaml")]
    for parts in _WORKFLOWS:
        folder = os.path.join(root, *parts)
        with suppress(OSError):
            found += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    files = (single_file_at(path) for path in found if os.path.isfile(path))
    return tuple(replace(file, found=True) for file in files if file is not None and file.kind != "commands")


def is_compose_file(path: str, data: bytes) -> bool:
    """Whether compose would take a file by its name, or by the top level of its first lines."""
    name = os.path.basename(path)
    if not name.endswith((".yml", ".yaml")):
        return False
    return "compose" in name or _TOP_SERVICES.search(data[:_LOOKED_AT]) is not None


def _first_bytes(path: str) -> bytes | None:
    if not os.path.isfile(path) or not is_readable_here(path):
        return None
    try:
        with open(path, "rb") as stream:
            return stream.read(_LOOKED_AT)
    except OSError:
        return None


def _by_content(path: str, folder: str, data: bytes) -> SingleFile | None:
    """What the first lines of a file tell, one that compose would take by its top level excepted."""
    if _TOP_SERVICES.search(data):
        return None
    if _is_manifest(data):
        return SingleFile(path=path, kind="kubernetes", folder=folder)
    if _TOP_JOBS.search(data) and _TOP_ON.search(data):
        return SingleFile(path=path, kind="github", folder=folder)
    return SingleFile(path=path, kind="gitlab", folder=folder) if _SCRIPT.search(data) else None


def _is_manifest(data: bytes) -> bool:
    """Whether a file begins as the manifests of Kubernetes do, or as what becomes one."""
    return _TOP_OF_RESOURCE.search(data) is not None and _TOP_KIND.search(data) is not None


def base_beside(files: ProjectFiles) -> ProjectFiles | None:
    """A file on top of the one that compose takes in its folder; None where there is none."""
    (path,) = files.files
    base = files_of_folder(os.path.dirname(path))[:1] if path != STDIN else ()
    return ProjectFiles(files=(*base, path), folder=files.folder) if base else None


def projects_at(paths: Sequence[str], project_directory: str | None = None) -> tuple[ProjectFiles | NoProject, ...]:
    """The projects of arguments, each once, whichever of its files are named."""
    projects: dict[tuple[str, ...], ProjectFiles | NoProject] = {}
    for path in paths:
        try:
            project = project_at(path, project_directory)
        except InputError as error:
            projects.setdefault((path,), NoProject(path=path, error=error))
        else:
            projects.setdefault(tuple(os.path.abspath(file) for file in project.files), project)
    return tuple(projects.values())


def project_of(files: Sequence[str], project_directory: str | None = None) -> ProjectFiles:
    """The one project that files make together, as with `-f`."""
    first = next((os.path.dirname(path) for path in files if path != STDIN), "")
    return ProjectFiles(files=tuple(files), folder=first if project_directory is None else project_directory)


def find_project(options: ReadOptions) -> ProjectFiles | None:
    """The project that compose finds by itself; None when there is none."""
    directory = options.project_directory
    start = directory or options.start
    dotenv = _dotenv((start,), options, lambda _, data: data)
    variables = {name: text.value for name, text in dotenv.items()} | dict(options.environ)
    named = variables.get("COMPOSE_FILE")
    if named is not None:
        separator = variables.get("COMPOSE_PATH_SEPARATOR") or os.pathsep
        files = tuple(os.path.join(options.start, name) for name in named.split(separator) if name)
        if len(files) != named.count(separator) + 1:
            raise InputError("contains an empty name", where="COMPOSE_FILE", hint="unset it or name a file")
        return ProjectFiles(files=files, folder=project_of(files, directory).folder, start=start)
    for folder in _upwards(start):
        files = files_of_folder(folder)
        if files:
            return ProjectFiles(files=files, folder=folder if directory is None else directory, start=start)
    return None


def is_project_name(name: str) -> bool:
    """Whether compose takes this for the name of a project."""
    return bool(name) and normalized_name(name) == name


def bad_project_name(name: str) -> str:
    """Why it does not."""
    return f"{name!r} is not a project name: use lower-case letters, digits, - and _, and begin with a letter or digit"


def store_tools() -> StoreTools:
    """What opens key stores and trust stores; most projects have none."""
    from netdiag.io.files import keystores

    return keystores


class ProjectReader:
    """Reads one project; `contents` holds every file that was read, under the path that the user can open.

    `replaced` holds bytes that are taken in the place of what a file holds.
    """

    def __init__(self, files: ProjectFiles, options: ReadOptions, replaced: Mapping[str, bytes] | None = None) -> None:
        self.files = files
        self.contents: dict[str, bytes] = {}
        self._options = options
        self._replaced = replaced or {}

    def read(self) -> Project:
        """The project with its profiles chosen: those asked for, else those of COMPOSE_PROFILES, else none.

        Where that leaves no broker although profiles hold some, all are taken: a file is checked for what is in it.
        """
        options = self._options
        first, *others = (Source(display_name(path), self._content(path)) for path in self.files.files)
        dotenv = self._project_dotenv()
        default_name = _default_name(self.files, options.environ, dotenv)

        def loaded(profiles: tuple[str, ...]) -> Project:
            project = load(
                first,
                overrides=tuple(others),
                dotenv=dotenv,
                environ=options.environ,
                profiles=profiles,
                read=self._read_named,
                name=options.project_name,
                default_name=default_name,
                folder=self.files.folder,
            )
            return with_images(project, options.images)

        if options.profiles is not None:
            return loaded(options.profiles)
        chosen = options.environ.get("COMPOSE_PROFILES")
        if chosen is None:
            chosen = str(dotenv.get("COMPOSE_PROFILES", ""))
        project = loaded(tuple(word.strip() for word in chosen.split(",") if word.strip()))
        if project.disabled and not any(map(runs_kafka, project.services.values())):
            return loaded(ALL_PROFILES)
        return project

    def read_mounted(self, path: str) -> bytes | None:
        """The bytes of a file below the project's folder, whatever links say; None when there is none."""
        data = read_inside(self.files.folder, path, limit=LARGEST_MOUNTED)
        return None if data is None else self._keep(path, data)

    def folder(self, path: str) -> Folder | None:
        """A folder below the project's own, as it is or as the engine creates it; None elsewhere and for a file."""
        root, real = os.path.realpath(self.files.folder or os.curdir), os.path.realpath(path)
        if os.name != "posix" or not _is_below(real, root) or self.files.files[0] == STDIN:
            return None
        try:
            found = os.stat(real)
        except FileNotFoundError:
            return Folder(exists=False)
        except OSError:
            return None
        if not stat.S_ISDIR(found.st_mode):
            return None
        return Folder(exists=True, uid=found.st_uid, gid=found.st_gid, mode=found.st_mode)

    def named_sources(self) -> tuple[Source, ...]:
        """The files that the user named, or that were found by their names, once the project is read."""
        return tuple(Source(path, self.contents[path]) for path in map(display_name, self.files.files))

    def sources(self) -> dict[str, bytes]:
        """The files whose lines may be shown: those named by the user, and those below the folders one stands in.

        A compose file may name any file of the machine, or a link to one; its text is nobody's business.
        """
        named = {*map(display_name, self.files.files), *self._options.env_files}
        roots = {os.path.realpath(folder or os.curdir) for folder in ("", self.files.folder, self.files.start)}
        below = {path for path in self.contents if any(_is_below(os.path.realpath(path), root) for root in roots)}
        return {path: data for path, data in self.contents.items() if path in named or path in below}

    def _project_dotenv(self) -> dict[str, Text]:
        """The variables of --env-file, a later file before an earlier one, else those of the project's `.env`."""
        folder, start = self.files.folder, self.files.start
        folders = (folder,) if start in (None, folder) else (start or "", folder)
        return _dotenv(folders, self._options, self._keep)

    def _content(self, path: str) -> bytes:
        if path in self._replaced:
            return self._keep(path, b"")
        return self._keep(display_name(path), read_stdin() if path == STDIN else read_file(path))

    def _read_named(self, path: str) -> bytes | None:
        """The bytes of a file that the project names."""
        data = b"" if path in self._replaced else read_optional(path)
        return None if data is None else self._keep(path, data)

    def _keep(self, path: str, data: bytes) -> bytes:
        self.contents[path] = self._replaced.get(path, data)
        return self.contents[path]


def _default_name(files: ProjectFiles, environ: Mapping[str, str], dotenv: Mapping[str, Text]) -> str:
    """The name of a project that neither its files nor the user give one: its folder's; InputError for a bad name."""
    given = environ.get("COMPOSE_PROJECT_NAME")
    if given is None and "COMPOSE_PROJECT_NAME" in dotenv:
        given = dotenv["COMPOSE_PROJECT_NAME"].value
    if given and not is_project_name(given):
        raise InputError(bad_project_name(given), where="COMPOSE_PROJECT_NAME")
    return os.path.basename(os.path.abspath(files.folder or _current_folder(environ)))


def _dotenv(folders: Sequence[str], options: ReadOptions, keep: Callable[[str, bytes], bytes]) -> dict[str, Text]:
    variables: dict[str, Text] = {}
    for path in options.env_files:
        variables = load_dotenv(Source(path, keep(path, read_file(path))), options.environ, variables)
    if options.env_files or _dotenv_disabled(options.environ):
        return variables
    for folder in folders:
        path = os.path.normpath(os.path.join(folder, ".env"))
        data = read_optional(path)
        if data is not None:
            variables = load_dotenv(Source(path, keep(path, data)), _over(options.environ, variables)) | variables
    return variables


def _over(environ: Mapping[str, str], variables: Mapping[str, Text]) -> Callable[[str], Text | str | None]:
    return lambda name: environ.get(name, variables.get(name))


def _dotenv_disabled(environ: Mapping[str, str]) -> bool:
    word = environ.get("COMPOSE_DISABLE_ENV_FILE")
    if word is not None and word not in _TRUE + _FALSE:
        raise InputError(f"{word!r} is neither true nor false", where="COMPOSE_DISABLE_ENV_FILE")
    return word in _TRUE


def _upwards(start: str) -> list[str]:
    """The folder and those above it, each as seen from the current one."""
    above = len(Path(os.path.abspath(start)).parents)
    names = [start, *(os.path.join(start, *[os.pardir] * steps) for steps in range(1, above + 1))]
    return [os.path.normpath(name) if name else "" for name in names]


def _current_folder(environ: Mapping[str, str]) -> str:
    """The current folder under the name by which the shell knows it."""
    named = environ.get("PWD", "")
    try:
        return named if os.path.isabs(named) and os.path.samefile(named, os.curdir) else os.curdir
    except OSError:
        return os.curdir


def _is_below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)
