"""The machine, as the page tells it: what a reader needs to compare, and neither its name nor a path."""

import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("numpy", "pyarrow", "pyspark")
_GIBI = 2**30


def described() -> tuple[str, ...]:
    """Line by line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIBI
    cores = len(os.sched_getaffinity(0))
    return (
        f"{cores} core{'s' if cores > 1 else ''}, {_processor()}, {memory:.0f} GiB of memory",
        f"Linux {platform.release()}, {_system()}",
        f"Python {platform.python_version()}, " + ", ".join(filter(None, map(_package, _PACKAGES))),
        *_java(),
    )


def load() -> float:
    """How many processes wanted to run in the last minute."""
    return round(os.getloadavg()[0], 1)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return sys.platform


def _package(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _java() -> tuple[str, ...]:
    if (java := shutil.which("java")) is None:
        return ()
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    return (told.splitlines()[0].replace('"', ""),) if told else ()
