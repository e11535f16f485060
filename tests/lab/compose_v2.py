"""Compose v2 at one pinned version, built from its Go module: it cannot be downloaded ready made.

The build takes a few minutes on two cores and is kept in the cache. Compose needs a newer Go than
Debian 12 has; an older `go` is only used to fetch the right toolchain, which Go publishes as a
module too, and that one builds.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from tests.debian import find
from tests.lab.cache import digest, entry
from tests.lab.errors import LabError
from tests.lab.processes import run

VERSION = "v2.40.3"
_MODULE = f"github.com/docker/compose/v2@{VERSION}"
_TOOLCHAIN_GO = "1.24.9"
_TOOLCHAIN = f"golang.org/toolchain@v0.0.1-go{_TOOLCHAIN_GO}.linux-amd64"
_FLAGS = ("-trimpath", "-tags=fsnotify")
_NAME_VERSION = f"-s -w -X github.com/docker/compose/v2/internal.Version={VERSION}"


def compose_binary(cache: Path, go: str | None = None) -> Path:
    """The `docker-compose` executable; `go` overrides the command found on PATH."""
    key = f"{VERSION}-{digest(_MODULE, *_FLAGS, _NAME_VERSION)}"
    return entry(cache, "compose", key, lambda folder: _build(folder, go)) / "docker-compose"


def _build(folder: Path, go: str | None) -> None:
    found = go or find("go")
    if found is None:
        raise LabError("no command 'go' to build compose with")
    source = folder / "source"
    shutil.copytree(_download(found, _MODULE), source)
    _make_writable(source)
    builder = found if _is_new_enough(found) else _newer_go(found, folder)
    run(
        [
            builder,
            "build",
            *_FLAGS,
            f"-ldflags={_NAME_VERSION}",
            "-o",
            folder / "docker-compose",
            "./cmd",
        ],
        cwd=source,
        env={"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"},
        timeout=1800,
    )
    for scratch in (source, folder / "go"):
        shutil.rmtree(scratch, ignore_errors=True)


def _download(go: str, module: str) -> Path:
    """The folder of a module in Go's own module cache."""
    # An empty folder: a go.mod above the current one would take part in the resolution.
    here = Path("/")
    done = run(
        [go, "mod", "download", "-json", module],
        cwd=here,
        env={"GOTOOLCHAIN": "local", "GO111MODULE": "on", "GOFLAGS": "-mod=mod"},
        timeout=900,
    )
    return Path(json.loads(done.stdout)["Dir"])


def _is_new_enough(go: str) -> bool:
    said = run([go, "version"], env={"GOTOOLCHAIN": "local"}).stdout
    found = re.search(r"go(\d+)\.(\d+)(?:\.(\d+))?", said)
    if found is None:
        return False
    have = tuple(int(part or 0) for part in found.groups())
    return have >= tuple(int(part) for part in _TOOLCHAIN_GO.split("."))


def _newer_go(go: str, folder: Path) -> Path:
    """The toolchain module, copied out of the read-only cache and made executable."""
    home = folder / "go"
    shutil.copytree(_download(go, _TOOLCHAIN), home)
    _make_writable(home)
    for tools in (home / "bin", home / "pkg" / "tool"):
        for path in tools.rglob("*"):
            if path.is_file():
                path.chmod(0o755)
    return home / "bin" / "go"


def _make_writable(folder: Path) -> None:
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(top, name)
            path.chmod(path.stat().st_mode | 0o200)
    folder.chmod(0o755)
