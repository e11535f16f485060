"""`--via container`: the very same command, carried out by a helper container on the engine's machine.

The command class adds the options to every command that looks into namespaces; the commands do not know of it.
"""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperOption

from netdiag import __version__
from netdiag.cli.command import Command, console_of
from netdiag.cli.console import Colour, Console, write_bytes
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import UsageError

if TYPE_CHECKING:
    from netdiag.app.helper_container import HelperFiles
    from netdiag.engine.helper_container import Right

_WORDS = "netdiag.cli.via.words"
_OURS = ("--via", "--image", "--context")
CONTAINER = "container"
IMAGE = f"netdiag:{__version__}"
_LARGEST_LOG = 8 * 1024 * 1024


class ViaCommand(Command):
    """A command that can be carried out elsewhere."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        where = max(0, len(self.params) - 3)
        self.params[where:where] = [_via(), _image()]

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse them as ever; they are kept for the helper."""
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)

    def run(self, ctx: typer.Context) -> ExitStatus:
        """Do it, here or there."""
        via, image = ctx.params.pop("via"), ctx.params.pop("image")
        if via is None:
            if image is not None:
                raise typer.BadParameter("--image requires --via container", ctx=ctx)
            return super().run(ctx)
        if via != CONTAINER:
            raise typer.BadParameter(f"'{via}' is unknown: use --via container", ctx=ctx)
        name = ctx.info_name or ""
        because = refused(name, ctx.params)
        if because:
            raise typer.BadParameter(because, ctx=ctx)
        words = forwarded(ctx.meta[_WORDS], taking_values(self.params))
        return _carried_out(name, words, ctx.params, image or IMAGE, console_of(ctx))


def _via() -> TyperOption:
    told = "Run in a helper container on the engine's machine: works remotely, and without root here."
    return TyperOption(param_decls=["--via"], type=str, metavar=CONTAINER, help=told)


def _image() -> TyperOption:
    return TyperOption(
        param_decls=["--image"], type=str, metavar="NAME", help=f"With --via: the image of netdiag. Default: {IMAGE}."
    )


def taking_values(params: Sequence[Any]) -> frozenset[str]:
    """The options that take the next word."""
    found = (one for one in params if not getattr(one, "is_flag", True))
    return frozenset(word for one in found for word in one.opts)


def forwarded(words: Sequence[str], valued: Collection[str], instead: Mapping[str, str] | None = None) -> list[str]:
    """The words without what is of this process alone, as --via; the values of options in `instead` are replaced."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*found, word, *rest]
        name, sign, value = word.partition("=")
        if not word.startswith("--") or name not in valued:
            found.append(word)
            if word in valued:
                found += [next(rest, "")]
            continue
        value = value if sign else next(rest, "")
        if name in _OURS:
            continue
        value = (instead or {}).get(name, value)
        found += [f"{name}={value}"] if sign else [name, value]
    return found


def refused(name: str, params: Mapping[str, Any], *, system: str = os.name) -> str:
    """Why a command of these parameters cannot be carried out elsewhere; empty where it can."""
    if system == "nt":
        return "--via container does not support Windows paths: run netdiag in WSL"
    what = params.get("what")
    if name == "playbook" and getattr(what, "value", what) != "run":
        return "--via container requires `playbook run --live`"
    if params.get("replay") is not None:
        return "--replay excludes --via"
    if "live" in params and not params["live"]:
        return "--via container requires --live"
    if params.get("no_engine"):
        return "--via container and --no-engine exclude each other"
    if params.get("capture"):
        return "--via container and --capture exclude each other: captures are not copied to the helper container"
    return ""


def files_for(command: str, params: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> "HelperFiles":
    """What a command of these parameters reads and writes; InputError where the user named what cannot be."""
    from netdiag.app.helper_container import HelperFiles

    gather: Mapping[str, Callable[[HelperFiles, Mapping[str, Any]], None]] = {
        "check-listeners": _for_check,
        "probe": lambda files, params: files.client(params.get("client_properties")),
        "topology": _for_topology,
        "diagnose": _for_diagnose,
        "playbook": _for_playbook,
    }
    files = HelperFiles(os.environ if environ is None else environ)
    gather[command](files, params)
    return files


def _carried_out(name: str, words: list[str], params: Mapping[str, Any], image: str, console: Console) -> ExitStatus:
    from netdiag.app.helper_container import HelperOptions, carry_out
    from netdiag.engine.helper_container import Terminal

    def command(url: str | None) -> Sequence[str]:
        there = words if url is None else forwarded(words, ("--host",), {"--host": url})
        return (*_common(console), name, *there)

    options = HelperOptions(
        image=image,
        host=params.get("host"),
        command=command,
        rights=_rights(name, params),
        environment=_size(),
        terminal=Terminal(
            out=_is_terminal(sys.stdout),
            errors=_is_terminal(sys.stderr),
            encoding=getattr(sys.stdout, "encoding", None) or "utf-8",
        ),
    )
    status = carry_out(files_for(name, params), options, _Streams(), console)
    return ExitStatus(status) if status in {one.value for one in ExitStatus} else ExitStatus.COULD_NOT_LOOK


class _Streams:
    """The standard streams of this process."""

    def write(self, data: bytes) -> None:
        write_bytes(data)

    def write_error(self, data: bytes) -> None:
        stream = getattr(sys.stderr, "buffer", None)
        try:
            if stream is not None:
                stream.write(data)
                stream.flush()
        except OSError:
            return


def _for_check(files: "HelperFiles", params: Mapping[str, Any]) -> None:
    from netdiag.app.helper_container import LARGEST
    from netdiag.io.files.projects import STDIN, NoProject, ReadOptions, project_of, projects_at

    named, chain = tuple(params.get("files") or ()), tuple(params.get("chain") or ())
    directory = params.get("project_directory")
    stdin = files.read_stdin(LARGEST) if STDIN in named + chain else None
    options = ReadOptions(
        environ=files.environ,
        env_files=tuple(params.get("env_file") or ()),
        project_directory=directory,
        project_name=params.get("project_name"),
        profiles=tuple(params["profile"]) if params.get("profile") else None,
    )
    for path in (*options.env_files, params.get("config"), params.get("baseline")):
        files.file(path)
    for project in (project_of(chain, directory),) if chain else projects_at(named, directory):
        if not isinstance(project, NoProject):
            files.project(project, options, stdin=stdin)
        elif os.path.isdir(project.path):
            files.folders[os.path.abspath(project.path)] = None
    if not params.get("isolated"):
        files.configuration("")
    files.client(params.get("client_properties"))
    for path in (*(params.get("output") or ()), params.get("record"), params.get("write_baseline")):
        files.result(path)


def _for_topology(files: "HelperFiles", params: Mapping[str, Any]) -> None:
    files.file(params.get("diff"))
    files.configuration("")
    files.result(params.get("out"))


def _for_diagnose(files: "HelperFiles", params: Mapping[str, Any]) -> None:
    lines = tuple(params.get("lines") or ())
    if "-" in lines or not lines:
        if not lines and (sys.stdin is None or sys.stdin.isatty()):
            raise UsageError("no log lines to read", hint="pass a line in quotes or a file, or pipe a log in")
        files.read_stdin(_LARGEST_LOG)
    for word in lines:
        if word != "-" and " " not in word.strip():
            files.file(word)
    files.compose_files(params.get("files") or ())
    files.client(params.get("client_properties"))
    files.result(params.get("bundle"))


def _for_playbook(files: "HelperFiles", params: Mapping[str, Any]) -> None:
    files.file(params.get("name"))
    given = (word.partition("=") for word in params.get("told") or ())
    named = [path for name, _, value in given if name == "files" for path in value.split("\n")]
    files.compose_files((*(params.get("files") or ()), *named))
    files.client(params.get("client_properties"))
    files.result(params.get("bundle"))


def _rights(name: str, params: Mapping[str, Any]) -> "list[Right]":
    """No more than this very command uses."""
    from netdiag.engine.helper_container import Right

    rights = [Right.ENTER, Right.LOOK_INTO_PROCESSES]
    if name in ("topology", "diagnose", "playbook") or params.get("why"):
        rights += [Right.READ_DESCRIPTORS, Right.READ_RULES]
    return rights


def _common(console: Console) -> list[str]:
    """The options that may have been given before the command's name."""
    words = [word for word, on in (("--verbose", console.verbose), ("--debug", console.debug)) if on]
    return words + ([] if console.colour is Colour.AUTO else ["--color", console.colour.value])


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def _size() -> dict[str, str]:
    """Of the terminal, if there is one."""
    if not (_is_terminal(sys.stdout) or _is_terminal(sys.stderr)):
        return {}
    size = shutil.get_terminal_size()
    return {"COLUMNS": str(size.columns), "LINES": str(size.lines)}
