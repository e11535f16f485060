"""Commands of this machine, and the Debian packages that bring them; services that come along stay stopped."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.lab.processes import run

_QUIET = {"DEBIAN_FRONTEND": "noninteractive"}
_POLICY = Path("/usr/sbin/policy-rc.d")


def find(command: str) -> str | None:
    """The path of a command, the system folders included (a user's PATH may lack sbin)."""
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    return shutil.which(command, path=path)


def absent(packages: Mapping[str, str]) -> dict[str, str]:
    """Of commands and their packages those that are not here."""
    return {command: package for command, package in packages.items() if find(command) is None}


def can_install() -> bool:
    """Whether this is a system of such packages, and the user may install them."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: Iterable[str]) -> None:
    """Install these, without a question; nothing is fetched where there are none."""
    wanted = sorted(set(packages))
    if not wanted:
        return
    with _one_at_a_time(), _no_service_starts():
        run(["apt-get", "update", "-q"], env=_QUIET, timeout=300)
        run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *wanted], env=_QUIET, timeout=1200)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """apt-get refuses to work beside another one."""
    folder = os.open("/var/lib/dpkg", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def _no_service_starts() -> Iterator[None]:
    """Debian's way to install a daemon without starting it; a policy already there is kept."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()
