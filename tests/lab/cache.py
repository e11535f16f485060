"""The lab's cache: built things that outlive a run, one folder per content hash, whole or absent.

`entry` builds into a temporary name and renames, so a killed build leaves nothing that looks
finished; a lock file per entry lets two runs start from nothing side by side and build once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def cache_root() -> Path:
    """`NETDIAG_LAB_CACHE`, else the user's cache folder; made if absent."""
    chosen = os.environ.get("NETDIAG_LAB_CACHE")
    if chosen:
        root = Path(chosen)
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        root = Path(base) / "netdiag-lab"
    root.mkdir(parents=True, exist_ok=True)
    return root.resolve()


def digest(*parts: str | bytes | Path) -> str:
    """Sixteen hex digits of the parts' content: a Path stands for its bytes, a folder for its tree."""
    total = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            total.update(len(piece).to_bytes(8, "big"))
            total.update(piece)
    return total.hexdigest()[:16]


def entry(root: Path, kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder `kind/key`; `build` fills it first if it is not there yet."""
    home = root / kind
    home.mkdir(parents=True, exist_ok=True)
    final = home / key
    with locked(home / f".{key}.lock"):
        if final.is_dir():
            os.utime(final)
            return final
        scratch = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=home))
        scratch.chmod(0o755)
        try:
            build(scratch)
            scratch.rename(final)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
    return final


def drop_unused(root: Path, kinds: Sequence[str], days: float) -> None:
    """Delete the entries of `kinds` that no run has asked for in `days`."""
    oldest = time.time() - days * 86_400
    for kind in kinds:
        for folder in (root / kind).glob("[!.]*"):
            with locked(folder.parent / f".{folder.name}.lock"):
                if folder.is_dir() and folder.stat().st_mtime < oldest:
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an advisory lock on `path` for the block."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _pieces(part: str | bytes | Path) -> Iterator[bytes]:
    if isinstance(part, str):
        yield part.encode()
    elif isinstance(part, bytes):
        yield part
    elif part.is_dir():
        for path in sorted(part.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield str(path.relative_to(part)).encode()
                yield path.read_bytes()
    else:
        yield part.read_bytes()
