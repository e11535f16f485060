"""A bare Debian: the packages that README asks for and nothing else, made by mmdebstrap, with what is committed in it.

`python -m tests.bare_root COMMAND...` runs the command in a clone of HEAD inside such a root, in a mount namespace of
its own, and says how it ended and how long it took. The new root is entered by pivot_root: where chroot was called,
the kernel refuses user namespaces. Processes and networks are the machine's, as they are for any user. The machine
shares its caches of packages and of the lab, and tells how packages are fetched; the corpus beside the repository is
seen read-only. `--lacking` only tells why there can be no such root here. Needs nothing but Python itself.
"""

import argparse
import ctypes
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tests import debian
from tests.lab.cache import cache_root, digest, drop_unused, entry
from tests.lab.errors import LabError, LabImpossible
from tests.lab.processes import run

REPOSITORY = Path(__file__).parent.parent
SUITE = "bookworm"
# What README's "Try it" asks for.
PREREQUISITES = ("git", "make", "python3-venv")
# What reaches a command inside of the environment outside: how packages are fetched, and whether this is CI.
HANDED_ON = (
    *("CI", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT"),
    *("GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "MAVEN_OPTS"),
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
)
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
_HOME = "/root"
_PLACE = "/srv/netdiag"
_BARE = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": _HOME,
    # pip brings certificates of its own, and would not see those of the machine
    "PIP_CERT": _CERTIFICATES,
    "SSL_CERT_FILE": _CERTIFICATES,
}
# Files of the machine, and of its user, that lie at the same place inside.
_MACHINES = ("etc/hosts", "etc/resolv.conf", "etc/pip.conf")
_USERS = (".config/pip/pip.conf", ".pip/pip.conf", ".config/go/env", ".cargo/config.toml")
_LOCAL_CERTIFICATES = "usr/local/share/ca-certificates"
_SOURCES = ("etc/apt/sources.list", "etc/apt/sources.list.d/debian.sources")
_ARCHIVES = "var/cache/apt/archives"
_DAYS = 40.0
# How long what runs inside may take to end when it is told to.
_PATIENCE = 90.0

# "$1" is the root; then pairs of what is shared and where it lies inside, up to "--".
_ENTER = """
set -e
root=$1
shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir -m 1777 "$root/run/lock"
while [ "$1" != -- ]; do
    mkdir -p "$root$2"
    mount --bind "$1" "$root$2"
    case $3 in ro) mount -o remount,bind,ro "$root$2" ;; esac
    shift 3
done
mkdir -p "$root/mnt"
cd "$root"
exec pivot_root . mnt
"""
# Of Linux: MNT_DETACH of umount2, PR_SET_CHILD_SUBREAPER of prctl.
_DETACH, _SET_CHILD_SUBREAPER = 2, 36


@dataclass(frozen=True, slots=True, kw_only=True)
class BareRoot:
    """One such root with a clone in it; `lock` is held while somebody uses it."""

    folder: Path
    lock: int

    @property
    def clone(self) -> Path:
        """Where the clone lies, as seen from outside."""
        return self.folder / _PLACE.lstrip("/")

    def run(self, *words: str) -> int:
        """The status of a command in the clone; it and all that it started are gone afterwards."""
        enter = ["unshare", "--mount", "--propagation", "private"]
        first = [sys.executable, "-m", "tests.bare_root", "--first", str(self.folder), *words]
        # A session of its own, so that Ctrl-C reaches this process only; the end of the pipe tells the first process.
        inside = subprocess.Popen(
            [*enter, *first], cwd=REPOSITORY, stdin=subprocess.PIPE, pass_fds=(self.lock,), start_new_session=True
        )
        assert inside.stdin is not None
        try:
            return inside.wait()
        finally:
            inside.stdin.close()
            inside.wait()

    def said(self, *words: str) -> str:
        """What a command prints that needs no namespaces."""
        return run(["chroot", self.folder, *words]).stdout.strip()


def lacking() -> str | None:
    """Why there can be no such root here; None where there can."""
    if not debian.can_install():
        return "needs root and apt-get"
    with tempfile.TemporaryDirectory() as empty:
        probe = 'mount --bind "$1" "$1" && mkdir "$1/mnt" && cd "$1" && pivot_root . mnt'
        words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", probe, "sh", empty]
        try:
            tried = run(words, check=False, timeout=30)
        except LabError as error:
            return str(error)
    if tried.returncode != 0:
        return f"no rights or no kernel support for namespaces: {' '.join(tried.stderr.split())}"
    return None


@contextmanager
def bare_root(suite: str = SUITE) -> Iterator[BareRoot]:
    """A root for the block, with HEAD in it; the first of a month takes half a minute."""
    if reason := lacking():
        raise LabImpossible(reason)
    debian.install(debian.absent({"mmdebstrap": "mmdebstrap"}).values())
    cache = cache_root()
    made = _made(cache, suite)
    home = cache / "bare-roots"
    home.mkdir(exist_ok=True)
    sweep(home)
    folder = Path(tempfile.mkdtemp(dir=home))
    folder.chmod(0o755)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with ExitStack() as stack:
        stack.callback(os.close, lock)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(["tar", "-xf", made / "root.tar", "--numeric-owner", "-C", folder], timeout=300)
        _hand_on(folder)
        _link_new(made / "archives", folder / _ARCHIVES)
        stack.callback(_link_new, folder / _ARCHIVES, made / "archives")
        run(["git", "clone", "--quiet", "--no-hardlinks", REPOSITORY, folder / _PLACE.lstrip("/")])
        yield BareRoot(folder=folder, lock=lock)


def _made(cache: Path, suite: str) -> Path:
    """The folder with the tar of the bare file system, and the packages that were installed in such roots."""
    drop_unused(cache, ("bare",), _DAYS)
    packages = (*PREREQUISITES, "ca-certificates")
    sources = [path for name in _SOURCES if (path := Path("/", name)).is_file()] if suite == _own_suite() else []
    fetching = _fetching()

    def build(folder: Path) -> None:
        (folder / "archives").mkdir()
        options = folder / "apt.conf"
        options.write_text(fetching)
        smallest = ["mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(packages)}"]
        run([*smallest, f"--aptopt={options}", suite, folder / "root.tar", *sources], timeout=900)

    # Made anew every month, because a mirror keeps no old versions.
    return entry(cache, "bare", digest(suite, *packages, fetching, *sources, time.strftime("%Y-%m")), build)


def _own_suite() -> str:
    release = Path("/etc/os-release")
    lines = release.read_text().splitlines() if release.exists() else []
    return next((line.partition("=")[2].strip('"') for line in lines if line.startswith("VERSION_CODENAME=")), "")


def _fetching() -> str:
    """How apt of this machine fetches packages: its proxies and what it checks; nothing of its hooks."""
    dumped = run(["apt-config", "dump", "--format", '%F "%v";%n', "Acquire"]).stdout.splitlines()
    kept = ("Acquire::http", "Acquire::Check-", "Acquire::Retries")
    return "".join(f"{line}\n" for line in dumped if line.startswith(kept) and not line.endswith(' "";'))


def _hand_on(root: Path) -> None:
    """What lets clients of packages reach what they reach outside: names, certificates, configuration."""
    for name in _MACHINES:
        _copy(Path("/", name), root / name)
    for name in _USERS:
        _copy(Path.home() / name, root / _HOME.lstrip("/") / name)
    for path in Path("/", _LOCAL_CERTIFICATES).rglob("*.crt"):
        _copy(path, root / path.relative_to("/"))
    run(["chroot", root, "update-ca-certificates"])


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _link_new(source: Path, target: Path) -> None:
    """Every package that is in one folder and not yet in the other; linked, since nobody writes into one."""
    for path in source.glob("*.deb"):
        if not (target / path.name).exists():
            os.link(path, target / path.name)


def sweep(home: Path) -> None:
    """Remove the roots whose user was killed."""
    for folder in home.iterdir():
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def _shares() -> list[str]:
    """What of this machine is seen inside, where, and whether it can be written: three words each."""
    user = Path.home()
    caches = Path(os.environ.get("XDG_CACHE_HOME") or user / ".cache")
    pip = caches / "pip"
    pip.mkdir(parents=True, exist_ok=True)
    shared = [
        (pip, f"{_HOME}/.cache/pip", "rw"),
        (cache_root(), f"{_HOME}/.cache/netdiag-lab", "rw"),
        (user / ".m2", f"{_HOME}/.m2", "rw"),
        (user / "go" / "pkg" / "mod", f"{_HOME}/go/pkg/mod", "rw"),
        (user / ".cargo" / "registry", f"{_HOME}/.cargo/registry", "rw"),
        (REPOSITORY.parent / "shared", str(Path(_PLACE).parent / "shared"), "ro"),
    ]
    return [str(word) for share in shared if share[0].is_dir() for word in share]


def _first_process(root: str, words: Sequence[str]) -> int:
    """The first process inside: enters, runs the command, and ends all that came of it, also when the user is gone."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Whoever loses its parent becomes a child of this process, so that it is found again.
    if libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise LabError(f"cannot take in orphans: {os.strerror(ctypes.get_errno())}")
    run(["sh", "-c", _ENTER, "sh", root, *_shares(), "--"])
    # from here on nothing of the machine can be loaded any more
    os.chdir(_PLACE)
    if libc.umount2(b"/mnt", _DETACH) != 0:
        raise LabError(f"cannot leave the machine's root: {os.strerror(ctypes.get_errno())}")
    environment = {**{name: os.environ[name] for name in HANDED_ON if name in os.environ}, **_BARE}
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, env=environment)
    ended: int | None = None
    while ended is None and not _user_is_gone():
        ended = dict(_reaped()).get(child.pid)
    _end_descendants()
    # a signal as a shell tells it
    return ended if ended is not None and ended >= 0 else 128 - (ended or 0)


def _user_is_gone() -> bool:
    """Whether the pipe from outside has ended, after a moment's wait for it."""
    return bool(select.select([0], [], [], 0.1)[0])


def _reaped() -> Iterator[tuple[int, int]]:
    """The children that have ended, with their status."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def _end_descendants() -> None:
    """End whatever is left; those that clean up after others have time for it."""
    deadline = time.monotonic() + _PATIENCE
    told: set[int] = set()
    while (left := _descendants()) and time.monotonic() < deadline + _PATIENCE:
        number = signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL
        for pid in left:
            if number == signal.SIGKILL or pid not in told:
                told.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        time.sleep(0.05)
        list(_reaped())


def _descendants() -> set[int]:
    """The living processes that came of this one."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, _, rest = path.read_text(errors="replace").partition(" ")
            children.setdefault(int(rest.rpartition(")")[2].split()[1]), []).append(int(pid))
    found: set[int] = set()
    ahead = [os.getpid()]
    while ahead:
        born = children.get(ahead.pop(), [])
        found.update(born)
        ahead += born
    return found


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit("stopped")


def main(arguments: Sequence[str]) -> int:
    """What the command returned; 3 where there can be no such root."""
    parser = argparse.ArgumentParser(prog="python -m tests.bare_root")
    parser.add_argument("--suite", default=SUITE)
    parser.add_argument("--lacking", action="store_true", help="only tell why it cannot be made here, and return 3")
    parser.add_argument("--first", metavar="ROOT", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args(arguments)
    if asked.first:
        return _first_process(asked.first, asked.command)
    if asked.lacking:
        reason = lacking()
        print(reason or f"nothing: a bare {asked.suite} can be made here")
        return 3 if reason else 0
    signal.signal(signal.SIGTERM, _stop)
    began = time.monotonic()
    try:
        with bare_root(asked.suite) as root:
            made = time.monotonic()
            print(f"bare {asked.suite} with {' '.join(PREREQUISITES)}: {made - began:.0f} s", flush=True)
            status = root.run(*asked.command)
    except LabError as error:
        print(f"no bare root: {error}")
        return 3
    print(f"{' '.join(asked.command)}: exit {status}, {time.monotonic() - began:.0f} s in all", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
