"""Files that a service mounts out of its project: which file of the project stands at a path of the container."""

import posixpath
from collections.abc import Callable
from dataclasses import dataclass

from netdiag.compose.positions import Source
from netdiag.compose.project import Service, Volume

# The bytes of a file of the project; None where there is none, or it lies outside the project's folder.
Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounted:
    """The file at a path of the container, and the mount that brings it; `source` is None where nobody can read it."""

    volume: Volume
    source: Source | None


def nothing_to_read(path: str) -> bytes | None:
    """No file can be read."""
    return None


def mounted_file(service: Service, path: str, read: Read) -> Mounted | None:
    """What is mounted at `path`; None where the image's own file is there.

    A folder mounted further up need not hold the file; one that is mounted as the file's own folder is taken to.
    """
    path = posixpath.normpath(path)
    over = [v for v in service.volumes if _holds(posixpath.normpath(v.target), path)]
    if not over:
        return None
    volume = max(over, key=lambda v: len(posixpath.normpath(v.target)))
    target = posixpath.normpath(volume.target)
    rest = posixpath.relpath(path, target)
    if volume.type == "bind" and volume.host_path is not None:
        name = posixpath.normpath(volume.host_path if rest == "." else posixpath.join(volume.host_path, rest))
        data = read(name)
        if data is not None:
            return Mounted(volume=volume, source=Source(name, data))
    is_close = rest == "." or posixpath.dirname(path) == target
    return Mounted(volume=volume, source=None) if is_close else None


def _holds(target: str, path: str) -> bool:
    return path == target or path.startswith(target.rstrip("/") + "/")
