"""Compose v2 at one pinned version, built from its Go module: it cannot be downloaded ready made.

The build takes a few minutes on two cores and is kept in the cache.
"""

from __future__ import annotations

from pathlib import Path

from tests.lab.cache import digest, entry
from tests.lab.go_module import build_module

VERSION = "v2.40.3"
_MODULE = f"github.com/docker/compose/v2@{VERSION}"
_FLAGS = ("-trimpath", "-tags=fsnotify")
_NAME_VERSION = f"-s -w -X github.com/docker/compose/v2/internal.Version={VERSION}"


def compose_binary(cache: Path, go: str | None = None) -> Path:
    """The `docker-compose` executable; `go` overrides the command found on PATH."""
    key = f"{VERSION}-{digest(_MODULE, *_FLAGS, _NAME_VERSION)}"

    def build(folder: Path) -> None:
        build_module(folder, _MODULE, {"docker-compose": "./cmd"}, _FLAGS, _NAME_VERSION, go=go)

    return entry(cache, "compose", key, build) / "docker-compose"
