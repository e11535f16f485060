"""Programs built from a Go module, where nothing ready made can be downloaded.

A module may want a newer Go than the machine has; an older `go` is only used to fetch the right toolchain, which Go
publishes as a module too, and that one builds.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.debian import find
from tests.lab.errors import LabError
from tests.lab.processes import run


def build_module(
    folder: Path,
    module: str,
    programs: Mapping[str, str],
    flags: Sequence[str],
    link_flags: str,
    *,
    needs: str = "1.24.9",
    go: str | None = None,
) -> None:
    """Build the packages of `module@version` into `folder` under the names given, with this Go or a newer one."""
    found = go or find("go")
    if found is None:
        raise LabError(f"no command 'go' to build {module} with")
    source = folder / "source"
    shutil.copytree(_download(found, module), source)
    _make_writable(source)
    builder = found if _is_new_enough(found, needs) else _newer_go(found, needs, folder)
    for name, package in programs.items():
        run(
            [builder, "build", *flags, f"-ldflags={link_flags}", "-o", folder / name, package],
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


def _is_new_enough(go: str, needs: str) -> bool:
    said = run([go, "version"], env={"GOTOOLCHAIN": "local"}).stdout
    found = re.search(r"go(\d+)\.(\d+)(?:\.(\d+))?", said)
    if found is None:
        return False
    have = tuple(int(part or 0) for part in found.groups())
    return have >= tuple(int(part) for part in needs.split("."))


def _newer_go(go: str, version: str, folder: Path) -> Path:
    """The toolchain module, copied out of the read-only cache and made executable."""
    home = folder / "go"
    shutil.copytree(_download(go, f"golang.org/toolchain@v0.0.1-go{version}.linux-amd64"), home)
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
