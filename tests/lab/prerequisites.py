"""What the lab needs of this machine: what is missing, with the reason, and how to install it.

`python -m tests.lab.prerequisites` installs the missing Debian packages (as root);
`python -m tests.lab.prerequisites --list` only tells. Nothing is started by it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import debian
from tests.lab.errors import LabImpossible

# command -> Debian package. kcat, Java and the Kafka tools live in the lab's own images.
COMMANDS = {
    "dockerd": "docker.io",
    "docker": "docker.io",
    "docker-proxy": "docker.io",
    "podman": "podman",
    "/usr/lib/podman/netavark": "netavark",
    "/usr/lib/podman/aardvark-dns": "aardvark-dns",
    "catatonit": "catatonit",
    "podman-compose": "podman-compose",
    "iptables": "iptables",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "ping": "iputils-ping",
    "ps": "procps",
    "sysctl": "procps",
    "mmdebstrap": "mmdebstrap",
    "mvn": "maven",
    "java": "openjdk-17-jre-headless",
    "go": "golang-go",
}

_PROBE = """
ip link set lo up &&
ip link add lab0 type veth peer name lab1 &&
ip link add lab2 type bridge &&
iptables -t nat -A POSTROUTING -j MASQUERADE
"""


def missing() -> list[str]:
    """Why the lab cannot run here, one line each; empty when it can."""
    if not sys.platform.startswith("linux"):
        return [f"the lab needs Linux, this is {sys.platform}"]
    if os.geteuid() != 0:
        return ["not root: the lab makes network namespaces and runs its own docker engine"]
    absent = _absent()
    if absent:
        return absent
    return [*_kernel_lacks()]


def install() -> None:
    """Install the Debian packages of every absent command; services stay stopped."""
    absent = debian.absent(COMMANDS)
    if absent and shutil.which("apt-get") is None:
        raise LabImpossible("; ".join(missing()))
    debian.install(absent.values())


def _absent() -> list[str]:
    installable = shutil.which("apt-get") is not None
    reason = "install it with python -m tests.lab.prerequisites" if installable else "no apt-get"
    return [
        f"no command {name!r} (Debian package {package}): {reason}" for name, package in debian.absent(COMMANDS).items()
    ]


def _kernel_lacks() -> Iterator[str]:
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", _PROBE],
        capture_output=True,
        text=True,
        timeout=30,
    )
    if tried.returncode != 0:
        said = " ".join(tried.stderr.split())
        yield f"no rights or no kernel support for namespaces, veth, bridge or nat: {said}"
    if not os.path.ismount("/sys/fs/cgroup"):
        yield "no cgroup file system on /sys/fs/cgroup"
    if "overlay" not in Path("/proc/filesystems").read_text():
        yield "the kernel has no overlay file system"


def main(arguments: list[str]) -> int:
    """Install unless asked to list only; 0 when the lab can run afterwards."""
    if "--list" not in arguments and os.geteuid() == 0:
        install()
    lines = missing()
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
