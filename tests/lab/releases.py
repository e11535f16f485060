"""Engines of other releases than the machine's own, unpacked into the cache and installed nowhere.

28 is Debian unstable's, with the containerd, runc and C library that it wants; 29 is built from its Go module and runs
with the former's containerd and runc. `usr_of` gives a folder that is laid over /usr in the private mount namespace
of the engine, and nowhere else. Where the packages come from is asked of this machine's apt; they are checked with
Debian's own keys.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests import debian
from tests.lab.cache import digest, entry
from tests.lab.errors import LabImpossible
from tests.lab.go_module import build_module
from tests.lab.processes import run

OWN = "20.10"
# The last one writes its rules with nftables, the others with iptables.
NFTABLES = "29 nftables"
RELEASES = (OWN, "28", "29", NFTABLES)
# Of this machine, too; not among the releases of Docker.
PODMAN = "podman"

_SUITE = "unstable"
_PACKAGES = ("docker.io", "containerd", "runc", "tini-static", "libc6", "libseccomp2", "libsystemd0", "libgcc-s1")
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_SOURCES = Path("/etc/apt")
_UNUSED = ("share", "lib/cni", "include")

_MODULE = "github.com/moby/moby/v2@v2.0.0-beta.24"
_GO = "1.26.3"
_BUILT = ("dockerd", "docker-proxy")
_NAME_VERSION = "-s -w -X github.com/moby/moby/v2/dockerversion.Version=29.0.0+v2.0.0-beta.24"


def usr_of(cache: Path, release: str) -> Path | None:
    """What to lay over /usr for this release, made first where it is absent; None for the machine's own."""
    if release in (OWN, PODMAN):
        return None
    if release not in RELEASES:
        raise LabImpossible(f"no engine {release!r}, there are {', '.join(RELEASES)}")
    packaged = entry(cache, "engine-28", digest(_SUITE, *_PACKAGES, *_UNUSED), _unpack) / "usr"
    if release == "28":
        return packaged
    # The same for either kind of rules.
    return entry(cache, "engine-29", digest(_MODULE, _NAME_VERSION), lambda folder: _build(folder, packaged)) / "usr"


def debian_mirrors(etc: Path = _SOURCES) -> list[str]:
    """The archives of Debian that apt on this machine uses, in the order of its files."""
    found: dict[str, None] = {}
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    for path in files:
        if path.suffix == ".sources":
            found |= dict.fromkeys(_of_stanzas(path.read_text()))
        elif path.suffix == ".list" and path.exists():
            found |= dict.fromkeys(_of_lines(path.read_text()))
    return list(found)


def _of_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match = re.match(r"deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+\S+\s+(.*)", line.strip())
        if match and "main" in match[2].split() and _is_debian(match[1]):
            yield match[1]


def _of_stanzas(text: str) -> Iterator[str]:
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(\w[\w-]*):[ \t]*(.*)$", stanza, re.MULTILINE))
        if "deb" in fields.get("Types", "").split() and "main" in fields.get("Components", "").split():
            yield from filter(_is_debian, fields.get("URIs", "").split())


def _is_debian(uri: str) -> bool:
    """By the last part of its path, as every mirror of Debian has it; that it is one is proved by the signature."""
    return uri.rstrip("/").rpartition("/")[2] == "debian"


def _unpack(folder: Path) -> None:
    mirrors = debian_mirrors()
    if not mirrors or debian.find("apt-get") is None or not _KEYS.exists():
        raise LabImpossible("engine 28 is a package of Debian, and apt on this machine knows no archive of Debian")
    apt = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial", "debs"):
        (apt / name).mkdir(parents=True)
    (apt / "status").touch()
    (apt / "sources.list").write_text(f"deb [signed-by={_KEYS}] {mirrors[0]} {_SUITE} main\n")
    options = {
        "Dir::State": apt,
        "Dir::State::lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::Etc::preferencesparts": "-",
        "APT::Sandbox::User": "root",
    }
    command = ["apt-get", "-q", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    run([*command, "update"], timeout=300)
    run([*command, "download", *_PACKAGES], timeout=600, cwd=apt / "debs")
    for package in sorted((apt / "debs").glob("*.deb")):
        run(["dpkg-deb", "--extract", package, folder])
    shutil.rmtree(apt)
    for name in _UNUSED:
        shutil.rmtree(folder / "usr" / name, ignore_errors=True)
    for other in folder.iterdir():
        if other.name != "usr":
            shutil.rmtree(other)


def _build(folder: Path, packaged: Path) -> None:
    """Linked to nothing, so the C library of the others does not matter."""
    built = folder / "built"
    built.mkdir()
    build_module(built, _MODULE, {name: f"./cmd/{name}" for name in _BUILT}, ("-trimpath",), _NAME_VERSION, needs=_GO)
    shutil.copytree(packaged, folder / "usr", symlinks=True)
    for name in _BUILT:
        shutil.copy2(built / name, folder / "usr/sbin" / name)
    shutil.rmtree(built)
