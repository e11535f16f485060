"""Looking for the configuration of a folder: the nearest file upwards, no further than the repository."""

from collections.abc import Iterator
from pathlib import Path

from netdiag.io.files import read_file

OWN = "netdiag.toml"
SHARED = "pyproject.toml"
# Its parser, and the search for a line in it, are no match for larger ones.
LIMIT = 256 * 1024
_LIMIT_SHARED = 1024 * 1024


def config_candidates(folder: str) -> Iterator[tuple[str, bytes]]:
    """The files that may configure what is in a folder, the nearest first; the caller takes one and stops.

    The search ends at the folder that holds `.git`, or at the root. A `pyproject.toml` without our name is none.
    """
    try:
        here = Path(folder).absolute()
    except OSError:
        # The current folder is gone.
        return
    for place in (here, *here.parents):
        own, shared = place / OWN, place / SHARED
        if own.is_file():
            yield str(own), read_config(str(own))
        if shared.is_file():
            data = read_config(str(shared))
            if b"netdiag" in data:
                yield str(shared), data
        if (place / ".git").exists():
            return


def read_config(path: str) -> bytes:
    """The bytes of a configuration file."""
    return read_file(path, limit=_LIMIT_SHARED if Path(path).name == SHARED else LIMIT)
