"""Which files make a project, and in what folder: as compose takes them, or as they are named one by one.

Compose takes the files of `-f`, else those of COMPOSE_FILE, else what lies in this folder or in one above, with the
override beside it (compose-go, `ProjectOptions`). A file named as an argument is a project of its own, as pre-commit
hands files over; the one that compose would take in its folder brings its override, and an override its base.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import normalized_name
from netdiag.compose.positions import Source, Text
from netdiag.errors import InputError
from netdiag.io.files import BASE_NAMES, OVERRIDE_NAMES, files_of_folder, read_file, read_optional

STDIN = "-"
STDIN_NAME = "<stdin>"
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")

Keep = Callable[[str, bytes], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A project that is to be looked at: its files in the order of `-f`, and the folder its paths start from.

    The folder is empty when it is the current one; `start` is where the search began, whose `.env` counts, too.
    `alone` says that a file was named without the rest of its project, which nobody knows.
    """

    files: tuple[str, ...]
    folder: str = ""
    start: str | None = None
    alone: bool = False

    @property
    def name(self) -> str:
        """What the project is called in a report: its first file."""
        return shown(self.files[0])


def shown(path: str) -> str:
    """A file as people read it."""
    return STDIN_NAME if path == STDIN else path


def asked_for(path: str, project_directory: str | None = None) -> Asked:
    """The project that an argument means: a file, a folder, or standard input."""
    if path == STDIN:
        return Asked(files=(path,), folder=project_directory or "")
    if os.path.isdir(path):
        chain = files_of_folder(path)
        if not chain:
            raise InputError("no compose file in this folder", where=path, hint=f"name a {' or '.join(BASE_NAMES[:2])}")
        return Asked(files=chain, folder=path if project_directory is None else project_directory)
    folder, name = os.path.split(path)
    where = folder if project_directory is None else project_directory
    chain = files_of_folder(folder) if name in BASE_NAMES + OVERRIDE_NAMES else ()
    if os.path.join(folder, name) in chain:
        return Asked(files=chain, folder=where)
    return Asked(files=(path,), folder=where, alone=name not in BASE_NAMES)


def distinct(paths: Sequence[str], project_directory: str | None = None) -> tuple[str | Asked, ...]:
    """The projects of arguments, each once whichever of its files are named; an argument that means none stays."""
    projects: dict[tuple[str, ...], str | Asked] = {}
    for path in paths:
        try:
            asked = asked_for(path, project_directory)
        except InputError:
            projects.setdefault((path,), path)
        else:
            projects.setdefault(tuple(os.path.abspath(file) for file in asked.files), asked)
    return tuple(projects.values())


def chained(files: Sequence[str], project_directory: str | None = None) -> Asked:
    """The project of the files given with -f."""
    first = next((os.path.dirname(path) for path in files if path != STDIN), "")
    return Asked(files=tuple(files), folder=first if project_directory is None else project_directory)


def found(environ: Mapping[str, str], env_files: Sequence[str], project_directory: str | None = None) -> Asked | None:
    """The project that compose finds by itself; None when there is none."""
    start = project_directory or ""
    dotenv = _dotenv((start,), environ, env_files, lambda _, data: data)
    variables = {name: text.value for name, text in dotenv.items()} | dict(environ)
    named = variables.get("COMPOSE_FILE")
    if named is not None:
        separator = variables.get("COMPOSE_PATH_SEPARATOR") or os.pathsep
        files = tuple(named.split(separator))
        if not all(files):
            raise InputError("holds an empty name", where="COMPOSE_FILE", hint="unset it or name a file")
        asked = chained(files, project_directory)
        return Asked(files=files, folder=asked.folder, start=start)
    for folder in _upwards(start):
        chain = files_of_folder(folder)
        if chain:
            return Asked(files=chain, folder=folder if project_directory is None else project_directory, start=start)
    return None


def dotenv_of(asked: Asked, environ: Mapping[str, str], env_files: Sequence[str], keep: Keep) -> dict[str, Text]:
    """The variables of --env-file, a later file before an earlier one, else those of the project's `.env`."""
    folders = (asked.folder,) if asked.start in (None, asked.folder) else (asked.start or "", asked.folder)
    return _dotenv(folders, environ, env_files, keep)


def name_of(asked: Asked, environ: Mapping[str, str], dotenv: Mapping[str, Text]) -> str:
    """The name of a project that neither its files nor the user give one: its folder's; InputError for a bad name."""
    given = environ.get("COMPOSE_PROJECT_NAME")
    if given is None and "COMPOSE_PROJECT_NAME" in dotenv:
        given = dotenv["COMPOSE_PROJECT_NAME"].value
    if given and not is_name(given):
        raise InputError(bad_name(given), where="COMPOSE_PROJECT_NAME")
    return os.path.basename(os.path.abspath(asked.folder or _here(environ)))


def is_name(name: str) -> bool:
    """Whether compose takes this for the name of a project."""
    return bool(name) and normalized_name(name) == name


def bad_name(name: str) -> str:
    """Why it does not."""
    return f"{name!r} is no project name: lower-case letters, digits, - and _ only, a letter or digit first"


def _dotenv(
    folders: Sequence[str], environ: Mapping[str, str], env_files: Sequence[str], keep: Keep
) -> dict[str, Text]:
    variables: dict[str, Text] = {}
    for path in env_files:
        variables = load_dotenv(Source(path, keep(path, read_file(path))), environ, variables)
    if env_files or _disabled(environ):
        return variables
    for folder in folders:
        path = os.path.normpath(os.path.join(folder, ".env"))
        data = read_optional(path)
        if data is not None:
            variables = load_dotenv(Source(path, keep(path, data)), _over(environ, variables)) | variables
    return variables


def _over(environ: Mapping[str, str], variables: Mapping[str, Text]) -> Callable[[str], Text | str | None]:
    return lambda name: environ.get(name, variables.get(name))


def _disabled(environ: Mapping[str, str]) -> bool:
    word = environ.get("COMPOSE_DISABLE_ENV_FILE")
    if word is not None and word not in _TRUE + _FALSE:
        raise InputError(f"{word!r} is neither true nor false", where="COMPOSE_DISABLE_ENV_FILE")
    return word in _TRUE


def _upwards(start: str) -> list[str]:
    """The folder and those above it, each as seen from the current one."""
    above = len(Path(os.path.abspath(start)).parents)
    names = [start, *(os.path.join(start, *[os.pardir] * steps) for steps in range(1, above + 1))]
    return [os.path.normpath(name) if name else "" for name in names]


def _here(environ: Mapping[str, str]) -> str:
    """The current folder under the name by which the shell knows it."""
    named = environ.get("PWD", "")
    try:
        return named if os.path.isabs(named) and os.path.samefile(named, os.curdir) else os.curdir
    except OSError:
        return os.curdir
