"""Repositories at one commit, read with git: what is foreign is never checked out, run or followed.

A folder of snapshots has a git directory for each repository: `OWNER+NAME`, or `repo` or `repo/.git` below that.
"""

import os
import posixpath
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ENVIRONMENT = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
TIMEOUT = 300
MOST_BYTES = 256 * 1024
MOST_FILES = 4000
# The first user of most machines.
USER = 1000
# What a Compose file can name and netdiag reads: everything else of a repository stays where it is.
READ_WITH_IT = frozenset(
    {
        ".yml",
        ".yaml",
        ".env",
        ".properties",
        ".conf",
        ".cnf",
        ".cfg",
        ".config",
        ".toml",
        ".json",
        ".sh",
        ".xml",
        ".jaas",
    }
)
READ_BY_NAME = ("dockerfile", "containerfile", ".env")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file of a commit, or a symbolic link: its contents are where it leads."""

    path: str
    oid: str
    size: int
    is_link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One repository."""

    repository: str
    git_dir: Path

    def head(self) -> str:
        """The commit that the snapshot was taken of."""
        return self._git("rev-parse", "HEAD").decode("ascii").strip()

    def has(self, commit: str) -> bool:
        """Whether this commit is in it."""
        return _run(self.git_dir, "cat-file", "-e", f"{commit}^{{tree}}").returncode == 0

    def entries(self, commit: str) -> Iterator[Entry]:
        """The files whose contents the snapshot has, in git's order."""
        for line in self._git("ls-tree", "-r", "-l", "-z", commit).split(b"\0"):
            about, _, path = line.partition(b"\t")
            words = about.split()
            if len(words) != 4 or words[1] != b"blob" or not words[3].isdigit():
                continue
            try:
                name = path.decode("utf-8")
            except UnicodeDecodeError:
                continue
            oid = words[2].decode("ascii")
            yield Entry(path=name, oid=oid, size=int(words[3]), is_link=words[0] == b"120000")

    def contents(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Each of these files with its bytes."""
        wanted = list(entries)
        if not wanted:
            return
        asked = "".join(f"{one.oid}\n" for one in wanted).encode("ascii")
        answer = self._git("cat-file", "--batch", given=asked)
        at = 0
        for one in wanted:
            end = answer.index(b"\n", at)
            words = answer[at:end].split()
            at = end + 1
            if words[-1] == b"missing":
                continue
            size = int(words[2])
            yield one, answer[at : at + size]
            at += size + 1

    def _git(self, *arguments: str, given: bytes | None = None) -> bytes:
        done = _run(self.git_dir, *arguments, given=given)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise SystemExit(f"{self.repository}: git {arguments[0]}: {said}")
        return done.stdout


def snapshots(folder: Path) -> Iterator[Snapshot]:
    """All snapshots of a folder, by name."""
    for home in sorted(folder.iterdir()):
        owner, plus, name = home.name.partition("+")
        git_dir = _git_dir(home)
        if plus and git_dir:
            yield Snapshot(repository=f"{owner}/{name}", git_dir=git_dir)


def snapshot(folder: Path, repository: str) -> Snapshot | None:
    """That of one repository."""
    git_dir = _git_dir(folder / repository.replace("/", "+", 1))
    return Snapshot(repository=repository, git_dir=git_dir) if git_dir else None


def download(folder: Path, repository: str, commit: str) -> Snapshot | None:
    """Fetch one commit from GitHub into the folder; None if it is no longer there."""
    home = folder / repository.replace("/", "+", 1)
    if _git_dir(home) is None:
        home.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "--quiet", "--bare", home], check=True, env=ENVIRONMENT, timeout=TIMEOUT)
    fetched = _run(home, "fetch", "--quiet", "--depth=1", f"https://github.com/{repository}.git", commit)
    return Snapshot(repository=repository, git_dir=home) if fetched.returncode == 0 else None


def is_read_with_it(entry: Entry) -> bool:
    """Whether it is a file that a Compose file can refer to, of a size that people write."""
    path = PurePosixPath(entry.path)
    if entry.size > MOST_BYTES or path.is_absolute() or {"..", ".git"} & set(path.parts):
        return False
    name = path.name.lower()
    return path.suffix.lower() in READ_WITH_IT or name.startswith(READ_BY_NAME) or name.endswith(READ_BY_NAME)


def write_tree(one: Snapshot, commit: str, folder: Path, always: Iterable[str] = ()) -> None:
    """Write the configuration files of a commit below a folder, those that are named, and all folders.

    A link becomes a copy of the file in the repository that it leads to; any other is left out. Run as root, the tree
    belongs to the user whom most machines have: who owns a folder decides whether a broker can write to it.
    """
    named = set(always)
    entries = {entry.path: entry for entry in one.entries(commit)}
    kept = [entry for path, entry in entries.items() if is_read_with_it(entry) or path in named]
    # The files that are asked about come first, in case that a repository has more than anybody reads.
    kept.sort(key=lambda entry: entry.path not in named)
    links = [entry for entry in kept if entry.is_link]
    for entry, data in one.contents(entry for entry in kept[:MOST_FILES] if not entry.is_link):
        _write(folder / entry.path, data)
    for entry, data in one.contents(links[:MOST_FILES]):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), data.decode("utf-8", "replace")))
        found = entries.get(target)
        if found is not None and not found.is_link and is_read_with_it(found):
            for _, bytes_of_target in one.contents([found]):
                _write(folder / entry.path, bytes_of_target)
    for parent in sorted({posixpath.dirname(path) for path in entries})[:MOST_FILES]:
        if not {"..", ".git"} & set(PurePosixPath(parent).parts) and not PurePosixPath(parent).is_absolute():
            (folder / parent).mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, USER, follow_symlinks=False)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _git_dir(home: Path) -> Path | None:
    return next((at for at in (home / "repo" / ".git", home / "repo", home) if (at / "objects").is_dir()), None)


def _run(git_dir: Path, *arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", "--git-dir", git_dir, *arguments],
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        env=ENVIRONMENT,
    )
