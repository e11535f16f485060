"""Labs of tests: names of their own, what `ip` says before and after, and an end whatever happens."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from netdiag.io.kernel.netns import NAMED
from netdiag.topology.tutorial_lab import namespace_name
from tests.tools import tool

_NUMBERS = count()
SPACES = ("host", "one", "two", "outside")


def fresh_name() -> str:
    """A name that no other test has."""
    return f"t{os.getpid()}-{next(_NUMBERS)}"


def ip(*words: str) -> str:
    """What `ip` prints."""
    return subprocess.run([tool("ip"), *words], capture_output=True, text=True, check=True).stdout


def names_of(lab: str) -> set[str]:
    """The namespaces of a lab that have a name."""
    folder = Path("/", NAMED)
    return {path.name for path in folder.glob(f"netdiag-{lab}-*")} if folder.exists() else set()


def links() -> list[str]:
    """The devices of this namespace, as they are called."""
    return [line.split()[0] for line in ip("-brief", "link").splitlines()]


@contextmanager
def cleared(lab: str) -> Iterator[None]:
    """Whatever a failed test left of its own lab is removed by name."""
    try:
        yield
    finally:
        for name in names_of(lab):
            subprocess.run([tool("ip"), "netns", "delete", name], capture_output=True, check=False)
            Path("/", NAMED, name).unlink(missing_ok=True)


def all_names(lab: str) -> set[str]:
    """The names that a whole lab has."""
    return {namespace_name(lab, space) for space in SPACES}
