"""Which engine reads captures: the compiled one, or the one in plain Python.

Compiling takes about a minute, once for a machine and a release: `warm_up` does it ahead, into a folder of the user's
that numba keeps by processor. What is small, or comes through a pipe, the plain engine answers at once; a large capture
is worth compiling for. NETDIAG_ENGINE=python or compiled says it outright.
"""

import ctypes
import gc
import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from importlib import metadata, resources, util
from pathlib import Path

from netdiag.errors import MissingExtra, UsageError
from netdiag.io.captures import Captures

VARIABLE = "NETDIAG_ENGINE"
CACHE = "NUMBA_CACHE_DIR"
WORTH_LOADING = 20 * 1000 * 1000
"""Bytes from which on compiled code is loaded."""
WORTH_COMPILING = 500 * 1000 * 1000
"""Bytes from which on it is compiled first."""
_SOURCES = "netdiag.traffic.engine"
_NEEDED = ("numba", "numpy", "pyarrow")
_READY = "ready"
_KEPT = 30 * 24 * 3600.0
# Options of malloc.h: how many heaps; from which size on memory goes back at once, and how much of a heap may be free.
_MALLOC = {-8: 1, -3: 1 << 20, -1: 1 << 23}


class Kind(StrEnum):
    """An engine."""

    PYTHON = "python"
    COMPILED = "compiled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmed:
    """What a warm-up did: where the compiled code lies, whether it was there before, how long it took."""

    folder: str
    was_ready: bool
    seconds: float


def chosen(captures: Captures, environment: MutableMapping[str, str] = os.environ, *, payloads: bool = False) -> Kind:
    """The engine for these captures; where it is the compiled one, its modules may be imported now."""
    asked = asked_for(environment)
    if asked is Kind.PYTHON or payloads:
        return Kind.PYTHON
    if asked is None and not is_worth_it([file.size for file in captures.files], environment):
        return Kind.PYTHON
    if not _is_installed():
        if asked is None:
            return Kind.PYTHON
        raise MissingExtra(f"{VARIABLE}=compiled needs numba", extra="spark")
    return Kind.COMPILED if prepare(environment) or asked is Kind.COMPILED else Kind.PYTHON


def asked_for(environment: Mapping[str, str]) -> Kind | None:
    """The engine that the user names, if any."""
    text = environment.get(VARIABLE, "").strip()
    if not text:
        return None
    try:
        return Kind(text)
    except ValueError:
        raise UsageError(f"{VARIABLE}='{text}' is no engine", hint="say python or compiled") from None


def is_worth_it(sizes: Iterable[int | None], environment: Mapping[str, str]) -> bool:
    """Whether files of these sizes are read sooner by compiled code, the time to load or to make it included."""
    total = 0
    for size in sizes:
        if size is None:
            return False
        total += size
    if total < WORTH_LOADING:
        return False
    return total >= WORTH_COMPILING or (_is_installed() and is_ready(environment))


def is_ready(environment: Mapping[str, str]) -> bool:
    """Whether the compiled code of this release is there."""
    return Path(folder(environment), _READY).exists()


def folder(environment: Mapping[str, str]) -> str:
    """Where compiled code lies: numba's own variable first; a folder for every state of the sources.

    numba itself looks at the file of a function only, not at those of the functions that it calls.
    """
    if environment.get(CACHE):
        return environment[CACHE]
    return str(Path(cache_folder(environment), f"kernels-{fingerprint()}"))


def prepare(environment: MutableMapping[str, str]) -> bool:
    """Have numba keep its code in that folder; whether it can. Before the first import of a kernel."""
    place = folder(environment)
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
    except OSError:
        return False
    if not os.access(place, os.W_OK | os.X_OK):
        return is_ready(environment)
    environment[CACHE] = place
    if "numba" in sys.modules:
        from numba.core import config

        config.CACHE_DIR = place  # type: ignore[attr-defined]
    return True


def share_memory() -> None:
    """Have threads take memory from the same heap, and give it back: each of its own keeps 10 MB and more."""
    # No other C library than GNU's has this, nor such heaps.
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        for option, value in _MALLOC.items():
            library.mallopt(option, value)


def give_memory_back(*, collected: bool = True) -> None:
    """Have what is free in the heap go back, of which a process that goes on to something else has no need.

    What waits for Python to collect it is collected first, which takes 50 ms and more.
    """
    if collected:
        gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def warm_up(environment: MutableMapping[str, str] = os.environ) -> Warmed:
    """Compile what is not compiled yet, by reading a capture that has everything in it."""
    if not _is_installed():
        raise MissingExtra("the compiled engine needs numba", extra="spark")
    begun = time.monotonic()
    was_ready = is_ready(environment)
    if not prepare(environment):
        raise UsageError(f"'{folder(environment)}' cannot be written", hint=f"name another folder: {CACHE}=...")
    from netdiag.io.compiled_tables import read_sample  # the kernels themselves

    read_sample()
    place = folder(environment)
    Path(place, _READY).touch()
    if Path(place).parent == Path(cache_folder(environment)):
        _drop_older(Path(place))
    return Warmed(folder=place, was_ready=was_ready, seconds=time.monotonic() - begun)


def _drop_older(place: Path) -> None:
    """Leave nothing of releases that nobody warmed up for long."""
    for other in place.parent.glob("kernels-*"):
        with suppress(OSError):
            if other != place and other.stat().st_mtime < time.time() - _KEPT:
                shutil.rmtree(other)


def cache_folder(environment: Mapping[str, str]) -> str:
    """Where what can be made anew is kept for this user."""
    named = environment.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path(os.path.expanduser("~"), ".cache")
    return str(base / "netdiag")


def fingerprint(sources: str = _SOURCES) -> str:
    """Of the modules below a package, and of what they are compiled by."""
    return _digest(sources, f"{sys.version_info[:2]} {_version('numba')} {_version('numpy')}")


@cache
def _digest(sources: str, compiler: str) -> str:
    digest = blake2b(compiler.encode(), digest_size=6)
    waiting = [resources.files(sources)]
    while waiting:
        for file in sorted(waiting.pop().iterdir(), key=lambda file: file.name):
            if file.name.endswith((".py", ".json")):
                digest.update(file.name.encode() + file.read_bytes())
            elif file.name.isidentifier() and file.is_dir():
                waiting.append(file)
    return digest.hexdigest()


def _version(distribution: str) -> str:
    """The version of a library, "" where it is not installed: then nothing is compiled either."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(distribution)
    return ""


def _is_installed() -> bool:
    return all(util.find_spec(name) is not None for name in _NEEDED)
