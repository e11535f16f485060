"""Bar: a bare Debian 12 (a chroot by mmdebstrap) with the README's prerequisites and nothing else.

A chroot has no namespaces, cgroups or devices of its own, so the lab and with it `make test` are left to `clean-clone`.
Needs root. `python -m tests.bars.bare_machine [SUITE]`, default bookworm.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bars.measuring import report, timed
from tests.house.tree import ROOT

PREREQUISITES = "git make python3-venv"
# The machine's own way to the package index, where it has one.
HANDED_ON = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
)
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def main(arguments: list[str]) -> int:
    """0 when `make demo` passed in the chroot and `make lint` after it."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        print("needs root and mmdebstrap")
        return 1
    suite = arguments[0] if arguments else "bookworm"
    with TemporaryDirectory(prefix="netdiag-bare-") as folder:
        root = Path(folder) / "root"
        make_root(root, suite)
        subprocess.run(["git", "clone", "--quiet", ROOT, root / "home" / "netdiag"], check=True)
        report("bare machine", f"{suite}, {python_of(root)}")
        demo = timed("make demo, first time", inside(root, "make demo"), ROOT)
        again = timed("make demo, again", inside(root, "make demo"), ROOT)
        return max(demo, again, timed("make lint", inside(root, "make lint"), ROOT))


def make_root(root: Path, suite: str) -> None:
    """The smallest system that has apt, with what the README asks for."""
    packages = ",".join([*PREREQUISITES.split(), "ca-certificates"])
    subprocess.run(["mmdebstrap", "--variant=apt", f"--include={packages}", "--quiet", suite, root], check=True)
    for name in ("etc/resolv.conf", "etc/hosts", "etc/pip.conf"):
        if (source := Path("/") / name).exists():
            shutil.copy(source, root / name)
    if CERTIFICATES.exists():
        shutil.copy(CERTIFICATES, root / CERTIFICATES.relative_to("/"))


def inside(root: Path, command: str) -> list[str]:
    """The command line that runs `command` in the clone inside the root, with a bare environment."""
    settings = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
    settings |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "PIP_CERT": str(CERTIFICATES)}
    words = [f"{name}={value}" for name, value in settings.items()]
    return ["chroot", str(root), "env", "-i", *words, "sh", "-c", f"cd /home/netdiag && {command}"]


def python_of(root: Path) -> str:
    """What the root's Python calls itself."""
    return subprocess.run(inside(root, "python3 --version"), check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
