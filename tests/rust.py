"""`python -m tests.rust`: form, lints, crates and tests of native/, with the cargo that make test found or installed.

With `--build` the tests are compiled only: the summary of make test tells that time apart.
What cannot run here is noted for the summary, with the reason.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests import debian
from tests.lab.errors import LabError

NATIVE = Path(__file__).parent.parent / "native"
# What is checked: with which part of cargo, and the Debian package of it where Debian 12 has one.
CHECKS: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("cargo-fmt", "rustfmt-web", ("fmt", "--check")),
    ("cargo-clippy", None, ("clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings")),
    # Licences, versions and origins of crates; advisories come from a database elsewhere.
    ("cargo-deny", None, ("deny", "--locked", "--all-features", "check", "licenses", "bans", "sources")),
    ("cargo", "cargo-web", ("test", "--locked", "--workspace", "--quiet")),
)


def main(arguments: Sequence[str]) -> int:
    """0 when nothing that could run here failed."""
    if "--build" in arguments:
        return _run((*CHECKS[-1][2], "--no-run")) if shutil.which("cargo") or _installed(CHECKS[-1][1]) else 0
    failed = False
    for command, package, words in CHECKS:
        if shutil.which(command) is None and not _installed(package):
            where = f"Debian package {package}" if package else "no package of Debian 12 has it"
            note(f"cargo {words[0]} of native/: there is no {command} ({where})")
            continue
        failed |= _run(words) != 0
    return int(failed)


def _installed(package: str | None) -> bool:
    if package is None or not debian.can_install():
        return False
    try:
        debian.install([package])
    except LabError as error:
        print(f"could not install: {error}", flush=True)
        return False
    return True


def _run(words: Sequence[str]) -> int:
    print(f"cargo {' '.join(words)}", flush=True)
    return subprocess.run(["cargo", *words], cwd=NATIVE, check=False).returncode


def note(line: str) -> None:
    """Say what cannot run here, now and in the summary."""
    print(line, flush=True)
    if notes := os.environ.get("NETDIAG_NOT_RUN"):
        with open(notes, "a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
