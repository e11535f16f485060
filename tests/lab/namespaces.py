"""Command lines that run something from inside another network namespace, with its own name service.

A network namespace alone is half a machine: names are resolved through /etc/hosts and
/etc/resolv.conf of the mount namespace. So every entry pairs a network namespace with the two
files, laid over the originals in a private mount namespace that ends with the command.
`nsenter` rather than `ip netns exec`: the latter remounts /sys and hides the cgroups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_IN_PLACE = """
mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/resolv.conf || exit 125
shift 2
exec "$@"
"""

_IN_ROOT = """
root=$1
mount --rbind "$root" "$root" || exit 125
mount --bind "$2" "$root/etc/hosts" && mount --bind "$3" "$root/etc/resolv.conf" || exit 125
mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" || exit 125
mount -t tmpfs tmpfs "$root/tmp" || exit 125
shift 3
exec chroot "$root" "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a process can stand: a network namespace and the two files of its name service."""

    netns: Path
    hosts: Path
    resolv_conf: Path

    def argv(self, command: Sequence[str]) -> list[str]:
        """`command` of this machine, run from here."""
        return [
            *self._enter(_IN_PLACE),
            str(self.hosts),
            str(self.resolv_conf),
            *command,
        ]

    def argv_in_root(self, root: Path, command: Sequence[str]) -> list[str]:
        """`command` of the unpacked image `root`, run from here."""
        return [
            *self._enter(_IN_ROOT),
            str(root),
            str(self.hosts),
            str(self.resolv_conf),
            *command,
        ]

    def _enter(self, script: str) -> list[str]:
        return [
            "nsenter",
            f"--net={self.netns}",
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            script,
            "lab",
        ]
