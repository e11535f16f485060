"""Data directories in containers and volumes: read where the engine keeps them, or else in a copy that it gives.

Docker's archive API gives a path of a container, running or not, as a tar archive. Nothing runs in the container, and
nothing is created but a temporary folder here.
"""

import os
import posixpath
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from netdiag.deployment.scope import named
from netdiag.deployment.sources.engine import data_directories
from netdiag.engine.container import Container, Mount
from netdiag.errors import EngineError, InputError, NotThere
from netdiag.io.engine.address import EngineAddress, find_engine
from netdiag.io.engine.archives import Enough, Limit, Stream, first_file
from netdiag.io.engine.docker_sdk import Engine, connect
from netdiag.io.engine.same_kernel import SameKernel, locate
from netdiag.io.files import read_inside
from netdiag.kafka.storage import DEFAULT_DIRECTORIES, KNOWN_FILES, META_PROPERTIES
from netdiag.patterns import regex
from netdiag.values import dataclass

# Of a directory that the engine copies.
MOST_COPIED = 512 * 1024 * 1024
# Of a file that is read alone: meta.properties, or a broker's configuration.
_MOST_OF_FILE = 64 * 1024
_MOST_NAMES = 100_000
_PART = regex(r"[^/\x00]{1,255}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDirectory:
    """Where a data directory can be read on this machine; `is_cut` where that is a copy of a part of it."""

    path: str
    is_cut: bool = False


@contextmanager
def opened(
    name: str, host: str | None, *, most_bytes: int = MOST_COPIED, only: Sequence[str] = ()
) -> Iterator[OpenDirectory]:
    """The directory `container:NAME[:DIR]` or `volume:NAME`, for the block; InputError where there is none.

    A copy has these folders `only`, beside the files that tell whose directory it is; all where none is named.
    """
    kind, _, rest = name.partition(":")
    with connect(find_engine(host, os.environ, Path.home())) as engine, TemporaryDirectory() as folder:
        containers = engine.containers()
        if kind == "volume":
            container, inside, source = _of_volume(engine, rest, containers)
        else:
            container, inside = _of_container(engine, rest, containers)
            source = _on_host(engine.mounts(container), inside)
        is_here = isinstance(locate(engine.address, containers), SameKernel)
        if source is not None and is_here and os.access(source, os.R_OK | os.X_OK):
            yield OpenDirectory(path=source)
            return
        if container is None:
            raise InputError(
                "netdiag cannot read the volume, and no container mounts it",
                where=name,
                hint="run netdiag as root on the engine's machine",
            )
        copied = _Copy(folder=folder, left=most_bytes)
        try:
            copied.take(engine, container, inside, only)
        except NotThere as error:
            raise InputError(f"container {container.name} has no directory {inside}", where=name) from error
        yield OpenDirectory(path=folder, is_cut=copied.is_cut)


def directories_here(
    address: EngineAddress, containers: Sequence[Container], wanted: Iterable[Container]
) -> Iterator[tuple[Container, str]]:
    """The data directories of those wanted that can be read on this machine as they are: nothing is copied.

    `containers` are all of the engine.
    """
    if not isinstance(locate(address, containers), SameKernel):
        return
    with connect(address) as engine:
        for container in wanted:
            directories = data_directories(container)
            if len(directories) != 1:
                continue
            inside = posixpath.normpath(posixpath.join("/", directories[0]))
            # One that has gone since mounts nothing.
            with suppress(NotThere):
                source = _on_host(engine.mounts(container), inside)
                if source is not None and os.access(source, os.R_OK | os.X_OK):
                    yield container, source


def _of_container(engine: Engine, rest: str, containers: Iterable[Container]) -> tuple[Container, str]:
    name, _, inside = rest.partition(":")
    called = named(containers, [name])
    if len(called) != 1:
        says = "several containers have this name" if called else "no container has this name"
        raise InputError(says, where=f"container:{rest}", hint="list them with `docker ps -a`")
    (found,) = called
    if not inside:
        directories = data_directories(found) or tuple(
            each for each in DEFAULT_DIRECTORIES if _has(engine, found, posixpath.join(each, META_PROPERTIES))
        )
        if len(directories) != 1:
            known = f"it has {', '.join(directories)}" if directories else "no variable sets log.dirs"
            raise InputError(
                f"netdiag cannot tell which directory to read: {known}",
                where=f"container:{rest}",
                hint=f"name it: container:{found.name}:/var/lib/kafka/data",
            )
        (inside,) = directories
    return found, posixpath.normpath(posixpath.join("/", inside))


def _has(engine: Engine, container: Container, path: str) -> bool:
    try:
        return any(engine.archive(container, path))
    except NotThere:
        return False


def _of_volume(engine: Engine, name: str, containers: Iterable[Container]) -> tuple[Container | None, str, str | None]:
    """A container that mounts the volume, where in it, and where the engine keeps it."""
    try:
        source = engine.mountpoint(name)
    except NotThere as error:
        where = f"volume:{name}"
        raise InputError("no volume has this name", where=where, hint="list them with `docker volume ls`") from error
    for container in containers:
        # One that has gone since mounts nothing.
        with suppress(NotThere):
            for mount in engine.mounts(container):
                if mount.volume == name:
                    return container, mount.destination, source
    return None, "", source


def _on_host(mounts: Iterable[Mount], inside: str) -> str | None:
    """The path outside of a directory inside; None where it is no mount's, or a link leads out of the mount."""
    over = [mount for mount in mounts if posixpath.commonpath((inside, mount.destination)) == mount.destination]
    if not over:
        return None
    mount = max(over, key=lambda one: len(one.destination))
    whole = os.path.realpath(mount.source)
    path = os.path.realpath(os.path.join(whole, posixpath.relpath(inside, mount.destination)))
    return path if path == whole or path.startswith(f"{whole}/") else None


class VolumeFiles:
    """Small files in the volumes of an engine; `unread` says of which volumes none could be read, and why.

    The engine is asked when the first file is read.
    """

    def __init__(self, host: str | None, stack: ExitStack) -> None:
        self._host = host
        self._stack = stack
        self.unread: dict[str, str] = {}

    @cached_property
    def _engine(self) -> Engine:
        return self._stack.enter_context(connect(find_engine(self._host, os.environ, Path.home())))

    @cached_property
    def _containers(self) -> tuple[Container, ...]:
        return self._engine.containers()

    @cached_property
    def _is_here(self) -> bool:
        """Whether the engine's files are those of this machine; a container that ends meanwhile is no proof against."""
        again = (self._engine.containers() for _ in range(2))
        return any(
            isinstance(locate(self._engine.address, seen), SameKernel) for seen in chain((self._containers,), again)
        )

    def read(self, volume: str, path: str) -> bytes | None:
        """The bytes of a regular file; None where the engine has no such volume, or the volume no such file.

        EngineError where the engine cannot be asked.
        """
        try:
            container, inside, source = _of_volume(self._engine, volume, self._containers)
        except InputError:
            return None
        if source is not None and self._is_here and os.access(source, os.R_OK | os.X_OK):
            return read_inside(source, posixpath.join(source, path), limit=_MOST_OF_FILE)
        if container is None:
            self.unread[volume] = f"netdiag cannot read volume {volume}, and no container mounts it: run it as root"
            return None
        try:
            return first_file(self._engine.archive(container, posixpath.join(inside, path)), limit=_MOST_OF_FILE)
        except NotThere:
            return None


@contextmanager
def volume_files(host: str | None) -> Iterator[VolumeFiles]:
    """The files in the volumes of an engine, for the block."""
    with ExitStack() as stack:
        yield VolumeFiles(host, stack)


class _Copy:
    """A copy of a data directory in a folder, up to so many bytes: what tells whose it is comes first."""

    def __init__(self, *, folder: str, left: int) -> None:
        self.is_cut = False
        self._folder = Path(folder)
        self._limit = Limit(left)
        self._names = _MOST_NAMES

    def take(self, engine: Engine, container: Container, inside: str, only: Sequence[str]) -> None:
        """Copy; NotThere where the container has no such directory."""
        for name in (*KNOWN_FILES, *only):
            try:
                self._unpack(engine.archive(container, posixpath.join(inside, name)), depth=0)
            except NotThere:
                continue
        if not only:
            self._unpack(engine.archive(container, inside), depth=1)

    def _unpack(self, chunks: Iterator[bytes], depth: int) -> None:
        """Regular files of a data directory and of its folders; `depth` names lead each path."""
        try:
            with tarfile.open(fileobj=Stream(chunks, self._limit), mode="r|") as archive:
                for member in archive:
                    parts = member.name.split("/")[depth:]
                    if not 1 <= len(parts) <= 2 or not all(map(_is_name, parts)):
                        continue
                    path = self._folder.joinpath(*parts)
                    content = archive.extractfile(member) if member.isreg() and not member.issparse() else None
                    if content is not None:
                        self._write(path, content, member.mtime)
                    elif member.isdir() and len(parts) == 1:
                        self._make(path)
        except Enough:
            self.is_cut = True
        except tarfile.TarError as error:
            raise EngineError(f"the engine's archive cannot be read: {error}") from error

    def _make(self, folder: Path) -> None:
        if not folder.exists():
            self._name_one()
            folder.mkdir()

    def _write(self, path: Path, content: IO[bytes], written: float) -> None:
        if path.exists():
            return
        self._make(path.parent)
        self._name_one()
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
        # Whether a broker wrote it just now. A file system may not have such a time.
        with suppress(OSError, OverflowError, ValueError):
            os.utime(path, (written, written))

    def _name_one(self) -> None:
        self._names -= 1
        if self._names < 0:
            raise Enough


def _is_name(part: str) -> bool:
    return part not in (".", "..") and _PART.fullmatch(part) is not None
