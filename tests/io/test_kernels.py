"""Which engine is taken, and where compiled code lies. Nothing is compiled here."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from netdiag.errors import MissingExtra, UsageError
from netdiag.io import kernels
from netdiag.io.captures import Captures
from netdiag.io.kernels import (
    CACHE,
    VARIABLE,
    Kind,
    asked_for,
    chosen,
    folder,
    give_memory_back,
    is_ready,
    is_worth_it,
    prepare,
)
from netdiag.traffic.engine.sample import sample_pcap

LARGE = kernels.WORTH_COMPILING


@pytest.fixture
def captures(tmp_path: Path) -> Captures:
    path = tmp_path / "a.pcap"
    path.write_bytes(sample_pcap())
    return Captures([str(path)])


@pytest.fixture
def ready(tmp_path: Path) -> dict[str, str]:
    """An environment whose folder says that all is compiled."""
    place = tmp_path / "ready-made"
    place.mkdir()
    (place / "ready").touch()
    return {CACHE: str(place)}


def test_a_small_capture_is_for_the_plain_engine(captures: Captures, ready: dict[str, str]) -> None:
    assert chosen(captures, ready) is Kind.PYTHON


def test_a_large_one_is_worth_compiling_for(captures: Captures, tmp_path: Path) -> None:
    captures.files[0].size = LARGE
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert chosen(captures, environment) is Kind.COMPILED
    assert Path(environment[CACHE]).is_dir()
    assert environment[CACHE].startswith(f"{tmp_path}/cache/netdiag/kernels-")


def test_what_is_compiled_is_taken_earlier(ready: dict[str, str], tmp_path: Path) -> None:
    cold = {CACHE: str(tmp_path)}
    for total, with_code, without in ((19_999_999, False, False), (20_000_000, True, False), (LARGE, True, True)):
        assert is_worth_it([total - 5, 5], ready) is with_code
        assert is_worth_it([total - 5, 5], cold) is without


def test_what_comes_through_a_pipe_is_answered_at_once(ready: dict[str, str]) -> None:
    assert not is_worth_it([LARGE, None], ready)


def test_payloads_are_for_the_plain_engine(captures: Captures, tmp_path: Path) -> None:
    environment = {VARIABLE: "compiled", CACHE: str(tmp_path)}
    assert chosen(captures, environment, payloads=True) is Kind.PYTHON
    assert chosen(captures, environment) is Kind.COMPILED


def test_the_user_has_the_last_word(captures: Captures, ready: dict[str, str]) -> None:
    captures.files[0].size = LARGE
    assert chosen(captures, ready) is Kind.COMPILED
    assert chosen(captures, {**ready, VARIABLE: "python"}) is Kind.PYTHON
    assert asked_for({VARIABLE: " "}) is None
    with pytest.raises(UsageError, match="'rust' is no engine"):
        asked_for({VARIABLE: "rust"})


def test_without_numba_the_plain_engine_reads(
    captures: Captures, ready: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    captures.files[0].size = LARGE
    monkeypatch.setitem(sys.modules, "numba", None)
    assert chosen(captures, ready) is Kind.PYTHON
    with pytest.raises(MissingExtra, match="needs numba"):
        chosen(captures, {**ready, VARIABLE: "compiled"})
    with pytest.raises(MissingExtra, match="needs numba"):
        kernels.warm_up(ready)


def test_a_folder_that_cannot_be_made_leaves_the_plain_engine(captures: Captures, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = {CACHE: str(tmp_path / "file" / "below")}
    captures.files[0].size = LARGE
    assert not prepare(environment)
    assert chosen(captures, environment) is Kind.PYTHON
    with pytest.raises(UsageError, match="cannot be written"):
        kernels.warm_up(environment)


def test_every_state_of_the_sources_has_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    now = folder(environment)
    assert now == folder(environment)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "another")
    assert folder(environment) != now
    assert not is_ready(environment)
    assert folder({"HOME": "/nobody"}).startswith(str(Path.home()))


def test_without_the_library_there_is_a_folder_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    known = folder({"XDG_CACHE_HOME": str(tmp_path)})
    monkeypatch.setattr(metadata, "version", none)
    assert folder({"XDG_CACHE_HOME": str(tmp_path)}) != known


@pytest.mark.parametrize("is_shared", [True, False])
def test_threads_share_a_heap(is_shared: bool) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")
    }
    command = [sys.executable, "-c", _HEAPS, *["shared"] * is_shared]
    told = subprocess.run(command, capture_output=True, check=True, env=environment).stdout
    assert (told.count(b"<heap nr=") == 1) is is_shared


_HEAPS = """
import ctypes, sys, threading
from netdiag.io.kernels import share_memory
if "shared" in sys.argv:
    share_memory()
for _ in range(4):
    thread = threading.Thread(target=bytes, args=(100_000,))
    thread.start()
    thread.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, stream)
libc.fflush(stream)
"""


@pytest.mark.parametrize("collected", [True, False])
def test_memory_that_is_free_goes_back(*, collected: bool) -> None:
    held: list[bytes | None] = [b"x" * 40_000 for _ in range(2000)]
    # What lies between that is kept, so that no heap ends where the rest begins.
    held[::2] = [None] * 1000
    before = resident()
    give_memory_back(collected=collected)
    assert resident() < before - 20_000_000
    assert sum(len(each) for each in held if each is not None) == 40_000_000


def resident() -> int:
    """What this process has in memory, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
