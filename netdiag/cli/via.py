"""`--via container`: the very same command, carried out by a helper container on the engine's machine.

The command class adds the options to every command that looks into namespaces; the commands do not know of it.
"""

import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperOption

from netdiag import __version__
from netdiag.cli.command import Command, console_of
from netdiag.cli.console import Colour, Console, report_error, write_bytes
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import NetdiagError, cannot_import

if TYPE_CHECKING:
    from netdiag.cli.via_files import Along
    from netdiag.engine.helper_container import Right
    from netdiag.io.engine_address import EngineAddress
    from netdiag.machine.helper_talk import Kind

_WORDS = "netdiag.cli.via.words"
_OURS = ("--via", "--image")
CONTAINER = "container"
# Where a step of a playbook may need room for a while.
_TEMPORARY = "/tmp"
IMAGE = f"netdiag:{__version__}"


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
                raise typer.BadParameter("--image goes with --via container", ctx=ctx)
            return super().run(ctx)
        if via != CONTAINER:
            raise typer.BadParameter(f"'{via}' is no way to look: --via container is", ctx=ctx)
        name = ctx.info_name or ""
        because = refused(name, ctx.params)
        if because:
            raise typer.BadParameter(because, ctx=ctx)
        words = forwarded(ctx.meta[_WORDS], taking_values(self.params))
        return _carried_out(name, words, ctx.params, image or IMAGE, console_of(ctx))


def _via() -> TyperOption:
    told = "Look from a helper container on the engine's machine: needs no rights here, and works from afar."
    return TyperOption(param_decls=["--via"], type=str, metavar=CONTAINER, help=told)


def _image() -> TyperOption:
    return TyperOption(
        param_decls=["--image"], type=str, metavar="NAME", help=f"With --via: an image of netdiag. Default: {IMAGE}."
    )


def taking_values(params: Sequence[Any]) -> frozenset[str]:
    """The options that take the next word."""
    found = (one for one in params if not getattr(one, "is_flag", True))
    return frozenset(word for one in found for word in one.opts)


def forwarded(words: Sequence[str], valued: Collection[str], instead: Mapping[str, str] | None = None) -> list[str]:
    """The words without --via and --image; the values of options in `instead` are replaced."""
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
        return "--via container keeps the paths of files, and those of Windows mean nothing there: run netdiag in WSL"
    what = params.get("what")
    if name == "playbook" and getattr(what, "value", what) != "run":
        return "--via container is for `playbook run --live`: nothing is looked at"
    if params.get("replay") is not None:
        return "--replay looks at nothing that runs: leave out --via"
    if "live" in params and not params["live"]:
        return "--via container looks at what runs: it goes with --live"
    if params.get("no_engine"):
        return "--via container needs the engine: leave out --no-engine"
    if params.get("capture"):
        return "captures do not go along to the helper container: leave out --capture or --via"
    return ""


def _carried_out(name: str, words: list[str], params: Mapping[str, Any], image: str, console: Console) -> ExitStatus:
    try:
        from netdiag.io.helper_container import Setting, carry_out
    except ImportError as error:
        raise cannot_import("--via container", error, extra="live") from error
    from pathlib import Path

    from netdiag.cli.via_files import along_of
    from netdiag.engine.helper_container import SOCKET, Helper, in_memory
    from netdiag.io.engine_address import find_engine
    from netdiag.machine.helper_talk import Order, Terminal

    address = find_engine(params.get("host"), os.environ, Path.home())
    along = along_of(name, params)
    shown_as = address.unix_socket or SOCKET
    helper = Helper(
        image=image,
        socket=shown_as,
        shown_as=shown_as,
        rights=_rights(name, params),
        folders=in_memory([_TEMPORARY, along.folder, *along.folders, *map(os.path.dirname, along.files)]),
    )
    order = Order(
        words=(*_common(console), name, *_at_socket(words, address, shown_as)),
        folder=along.folder,
        container="",
        socket=shown_as,
        environment={**along.environment, **_streams(), "DOCKER_HOST": f"unix://{shown_as}"},
        files=along.files,
        folders=along.folders,
        links=along.links,
        results=tuple(along.results),
        stdin=along.stdin,
        terminal=Terminal(
            out=_is_terminal(sys.stdout),
            errors=_is_terminal(sys.stderr),
            encoding=getattr(sys.stdout, "encoding", None) or "utf-8",
        ),
    )
    console.detail(f"a helper container of {image} looks, on the engine at {address.url}")
    passing = _Passing(along, console)
    status = carry_out(Setting(address=address, helper=helper), order, passing.take)
    return passing.outcome(status)


class _Passing:
    """What the helper prints, printed; what it wrote, written."""

    def __init__(self, along: "Along", console: Console) -> None:
        self._along = along
        self._console = console
        self._failed = False

    def take(self, kind: "Kind", data: bytes) -> None:
        from netdiag.io.files import write_file
        from netdiag.machine.helper_talk import Kind, decode_file

        if kind is Kind.OUT:
            write_bytes(data)
        elif kind is Kind.ERRORS:
            _write_errors(data)
        elif kind is Kind.FILE:
            path, content = decode_file(data)
            if path not in self._along.results:
                return
            try:
                write_file(self._along.results[path], content)
            except NetdiagError as error:
                report_error(error, self._console.error_screen)
                self._failed = True

    def outcome(self, status: int) -> ExitStatus:
        if self._failed or status not in {one.value for one in ExitStatus}:
            return ExitStatus.COULD_NOT_LOOK
        return ExitStatus(status)


def _write_errors(data: bytes) -> None:
    stream = getattr(sys.stderr, "buffer", None)
    try:
        if stream is not None:
            stream.write(data)
            stream.flush()
    except OSError:
        return


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


def _at_socket(words: list[str], address: "EngineAddress", shown_as: str) -> list[str]:
    """With the engine where the helper has it; one that is reached by a socket has the same name there."""
    if address.unix_socket is not None:
        return words
    return forwarded(words, ("--host",), {"--host": f"unix://{shown_as}"})


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def _streams() -> dict[str, str]:
    if not (_is_terminal(sys.stdout) or _is_terminal(sys.stderr)):
        return {}
    size = shutil.get_terminal_size()
    return {"COLUMNS": str(size.columns), "LINES": str(size.lines)}
