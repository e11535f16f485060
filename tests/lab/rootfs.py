"""The Debian file system under every image of the lab, made once by mmdebstrap."""

from __future__ import annotations

from pathlib import Path

from tests.lab.cache import digest, entry
from tests.lab.processes import run

PACKAGES = ("openjdk-17-jre-headless", "iproute2", "kcat", "python3", "procps")
_SUITE = "bookworm"
# By hand: the essential set has no useradd.
_ACCOUNT = (
    'echo "appuser:x:1000:1000::/home/appuser:/bin/bash" >>"$1"/etc/passwd'
    ' && echo "appuser:x:1000:" >>"$1"/etc/group'
    ' && install -d -o 1000 -g 1000 "$1"/home/appuser'
)
# Removed afterwards, not excluded from the start: Java's package fails without /usr/share/man.
_TRIM = (
    'cd "$1" && rm -rf var/lib/apt/lists/* var/cache/apt/* tmp/*'
    " usr/share/locale usr/share/doc usr/share/man usr/share/info"
)


def rootfs_tar(cache: Path) -> Path:
    """The tar of the base file system; 20 s the first time."""
    key = digest(_SUITE, *PACKAGES, _ACCOUNT, _TRIM)
    return entry(cache, "rootfs", key, _build) / "rootfs.tar"


def _build(folder: Path) -> None:
    run(
        [
            "mmdebstrap",
            "--variant=essential",
            f"--include={','.join(PACKAGES)}",
            f"--customize-hook={_ACCOUNT}",
            f"--customize-hook={_TRIM}",
            _SUITE,
            str(folder / "rootfs.tar"),
        ],
        timeout=900,
    )
