"""actionlint at one pinned version, built from its Go module: the newest that the lab's other programs' Go builds.

The build takes half a minute on two cores and is kept in the cache.
"""

from __future__ import annotations

from pathlib import Path

from tests.lab.cache import digest, entry
from tests.lab.go_module import build_module

VERSION = "v1.7.11"
_MODULE = f"github.com/rhysd/actionlint@{VERSION}"
_FLAGS = ("-trimpath",)


def actionlint_binary(cache: Path) -> Path:
    """The `actionlint` executable."""

    def build(folder: Path) -> None:
        build_module(folder, _MODULE, {"actionlint": "./cmd/actionlint"}, _FLAGS, "-s -w")

    return entry(cache, "actionlint", f"{VERSION}-{digest(_MODULE, *_FLAGS)}", build) / "actionlint"
