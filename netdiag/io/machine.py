"""Look at the machine that netdiag runs on: what is installed, what this process may do, which engine answers.

Each look is one that a command would take itself: a namespace is entered (our own), a packet socket is opened and
closed at once, the engine is asked for its version. Nothing is installed and nothing is changed.
"""

import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import metadata, util
from pathlib import Path

import netdiag
from netdiag.distribution import install_line
from netdiag.errors import NetdiagError
from netdiag.machine import Found, Machine, Trouble
from netdiag.traffic import native

TOOLS = ("tcpdump", "dumpcap", "tshark", "docker")
LIBRARIES = {
    "docker": "docker",
    "pyroute2": "pyroute2",
    "cryptography": "cryptography",
    "scapy": "scapy",
    "pyspark": "pyspark",
    "pyarrow": "pyarrow",
    "pandas": "pandas",
    "networkx": "networkx",
}
"""Module -> distribution."""

_CAPABILITIES = {12: "NET_ADMIN", 13: "NET_RAW", 19: "SYS_PTRACE", 21: "SYS_ADMIN"}
_ENGINE_TIMEOUT = 5.0


def read_machine(host: str | None, environment: Mapping[str, str]) -> Machine:
    """Everything; what could not be looked at is a fact as well. `host`: the engine that is meant."""
    folder = tempfile.gettempdir()
    return Machine(
        system=platform.system(),
        kernel=platform.release(),
        families=_families(),
        python=platform.python_version(),
        netdiag=netdiag.__version__,
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        rights=own_rights(),
        engine=_engine(host, environment),
        namespaces=_namespaces(),
        packet_socket=_packet_socket(),
        java=_java(environment),
        capture_engine=_capture_engine(),
        tools={name: shutil.which(name) for name in TOOLS},
        libraries={name: _version(name, distribution) for name, distribution in LIBRARIES.items()},
        temporary=folder,
        free_bytes=_number(lambda: shutil.disk_usage(folder).free),
        memory_bytes=_memory(),
    )


def _families() -> tuple[str, ...]:
    if sys.platform == "darwin":
        return ("darwin",)
    try:
        told = platform.freedesktop_os_release()
    except OSError:
        return ()
    return tuple(dict.fromkeys([told.get("ID", ""), *told.get("ID_LIKE", "").split()]))


def own_rights() -> frozenset[str]:
    """Of the capabilities that matter here, those in force."""
    try:
        status = Path("/proc/thread-self/status").read_text(encoding="ascii", errors="replace")
        effective = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
        mask = int(effective, 16)
    except (OSError, StopIteration, ValueError, IndexError):
        return frozenset()
    return frozenset(name for bit, name in _CAPABILITIES.items() if mask >> bit & 1)


def _engine(host: str | None, environment: Mapping[str, str]) -> Found:
    try:
        from netdiag.io.engine.address import find_engine
        from netdiag.io.engine.docker_sdk import connect  # an extra
    except ImportError:
        return Found(why_not="the library docker is not installed", fix=install_line("live"))
    try:
        address = find_engine(host, environment, Path.home())
        with connect(address, timeout=_ENGINE_TIMEOUT) as engine:
            version, machine = engine.version(), engine.host()
    except NetdiagError as error:
        return Found(why_not=str(error), trouble=_trouble(error))
    name = "" if machine.is_podman else "Docker Engine "
    what = f"{name}{version.release}, API {version.api_version}, at {address.url} ({address.said_by})"
    return Found(what=f"{what}, on {machine.system}" if machine.system else what)


def _trouble(error: BaseException) -> Trouble:
    """By the innermost error: libraries wrap it several times."""
    cause: BaseException | None = error
    while cause is not None:
        inner = next((arg for arg in cause.args if isinstance(arg, BaseException)), None)
        if isinstance(cause, PermissionError):
            return Trouble.FORBIDDEN
        if isinstance(cause, FileNotFoundError | ConnectionRefusedError):
            return Trouble.NOBODY
        cause = cause.__cause__ or cause.__context__ or inner
    return Trouble.OTHER


def _namespaces() -> Found:
    if sys.platform != "linux":
        return Found(why_not="there are none on this system")
    try:
        from netdiag.io.kernel.netns import RIGHTS, open_namespace
        from netdiag.linux.netns import ProcessNamespace

        open_namespace(ProcessNamespace(pid=os.getpid(), container_id=None)).close()
    except NetdiagError as error:
        return Found(why_not=error.message, fix="run netdiag as root: sudo netdiag …")
    return Found(what=f"entered one, so {RIGHTS.partition(' ')[0]} is there")


def _packet_socket() -> Found:
    if not hasattr(socket, "AF_PACKET"):
        return Found(why_not="this system has no packet sockets", fix="capture on the machine where containers run")
    try:
        # Protocol 0 receives nothing.
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except PermissionError:
        return Found(why_not="opening a packet socket needs CAP_NET_RAW", fix="run netdiag as root: sudo netdiag …")
    except OSError as error:
        return Found(why_not=f"no packet socket can be opened: {error.strerror}")
    return Found(what="a packet socket can be opened")


def _java(environment: Mapping[str, str]) -> Found:
    from netdiag.io.java import java_home

    try:
        return Found(what=f"Java in {java_home(environment)}")
    except NetdiagError as error:
        return Found(why_not=error.message, fix=error.hint or "")


def _capture_engine() -> Found:
    try:
        return Found(what=f"{native.MODULE} {native.version()}")
    except NetdiagError as error:
        return Found(why_not=error.message, fix=error.hint or "")


def _version(module: str, distribution: str) -> str | None:
    """The version of a library, without importing it."""
    try:
        if util.find_spec(module) is None:
            return None
        return metadata.version(distribution)
    except (ImportError, ValueError):
        return None


def _memory() -> int:
    """What can be used now: what the kernel has, or less where the control group has a limit."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
        free = next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return _number(lambda: os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(free, _number(lambda: int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))) or free)


def _number(look: Callable[[], int]) -> int:
    try:
        return look()
    except (OSError, ValueError):
        return 0
