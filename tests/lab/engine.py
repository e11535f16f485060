"""A Docker Engine sealed in a network namespace of its own, with a LAN machine beside it.

The namespace is the docker host of the tests: only lo, the veth to the LAN machine and what the engine makes; no route
out. dockerd brings its own containerd. It runs in a private mount namespace, so its mounts end with it. Every process
carries the run's mark (run_record), and the warden ends everything when this process is gone.

A data folder that already holds the images is lent to one engine at a time: loading half a gigabyte of layers takes
longer than starting the engine. It is keyed by the images' content, and engines side by side each get their own. One
whose engine could not be emptied properly is deleted by the teardown, never repaired.
"""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.lab.cache import cache_root
from tests.lab.errors import LabError, LabImpossible
from tests.lab.image_set import image_key, images
from tests.lab.layers import Image, write_archive
from tests.lab.namespaces import Place
from tests.lab.podman import PRIVATE, configure, qualified
from tests.lab.prerequisites import missing
from tests.lab.processes import run, start_time, tail
from tests.lab.releases import NFTABLES, OWN, PODMAN, usr_of
from tests.lab.run_record import MARK, Record, read_records
from tests.lab.teardown import leftovers, tear_down

_LOADED = "images-loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One data folder and the open lock file that keeps it ours (inherited by the warden)."""

    folder: Path
    lock: int

    @property
    def data(self) -> Path:
        """dockerd's --data-root."""
        return self.folder / "data"

    @property
    def has_images(self) -> bool:
        """Whether an earlier run has loaded the images."""
        return (self.folder / _LOADED).exists()

    def mark_loaded(self) -> None:
        """Say that the images are in."""
        (self.folder / _LOADED).touch()


def borrow_slot(cache: Path, key: str, release: str = "") -> Slot:
    """A free data folder for the images of `key`; a new one when all are lent. No release reads another's."""
    home = cache / f"engines{release and '-'}{release}"
    home.mkdir(parents=True, exist_ok=True)
    _drop_outdated(home, key)
    number = 0
    while True:
        folder = home / f"{key}.{number}"
        lock = _try_lock(folder)
        if lock is not None:
            folder.mkdir(exist_ok=True)
            return Slot(folder=folder, lock=lock)
        number += 1


def _drop_outdated(home: Path, key: str) -> None:
    """Delete the folders of earlier image sets: they are big and nobody will ask for them."""
    for folder in home.glob("*.*"):
        if folder.is_dir() and not folder.name.startswith(f"{key}."):
            lock = _try_lock(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _try_lock(folder: Path) -> int | None:
    handle = os.open(folder.parent / f".{folder.name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


HOST_ADDRESS = "192.168.8.133"
LAN_ADDRESS = "192.168.8.50"
_TOP = Path(__file__).resolve().parents[2]
_HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"
_START_LIMIT = 60.0

# dockerd writes below /etc/docker and /run/docker whatever its flags say: give it its own.
# "$1" is the folder of another release to lay over /usr, or empty; "$2" what the machine is called, empty for as it is.
_PRIVATE = """
mkdir -p /etc/docker /run/docker
mount -t tmpfs tmpfs /etc/docker && mount -t tmpfs tmpfs /run/docker || exit 125
[ -z "$1" ] || mount -t overlay -o "lowerdir=$1:/usr" overlay /usr || exit 125
name=$2
shift 2
[ -z "$name" ] || exec unshare --uts sh -c 'echo "$0" > /proc/sys/kernel/hostname && exec "$@"' "$name" "$@"
exec "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One running engine; `address` and `lan_address` are those of its host and of the machine on its LAN."""

    record: Record
    cache: Path
    address: str = HOST_ADDRESS
    lan_address: str = LAN_ADDRESS
    release: str = OWN

    @property
    def docker_host(self) -> str:
        """What DOCKER_HOST must be to talk to it."""
        return f"unix://{self.record.socket}"

    @property
    def host(self) -> Place:
        """The docker host: vantage H."""
        return self._place(self.record.host_netns)

    @property
    def lan(self) -> Place:
        """Another machine on the docker host's LAN: vantage L."""
        return self._place(self.record.lan_netns)

    @property
    def environment(self) -> dict[str, str]:
        """For clients of the engine: where it is, and no configuration of the user's."""
        return {
            "DOCKER_HOST": self.docker_host,
            "DOCKER_CONFIG": str(self.record.home / "docker-config"),
            "DOCKER_CONTEXT": "",
            MARK: self.record.run_id,
        }

    def docker(self, *words: str, check: bool = True, timeout: float = 60) -> str:
        """What `docker WORDS` prints."""
        argv = ["docker", *words]
        return run(argv, check=check, timeout=timeout, env=self.environment).stdout

    def podman(self, *words: str) -> str:
        """What `podman WORDS` prints, of what Docker's API does not have: pods, networks by its own defaults."""
        return run(["podman", "--url", self.docker_host, *words], timeout=120).stdout

    def ask(self, path: str) -> Any:
        """What its API answers to GET PATH; for who looks again and again, as it takes no process of `docker`."""
        connection = _Connection(str(self.record.socket))
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            found = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise LabError(f"GET {path}: {error}") from error
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            raise LabError(f"GET {path}: {response.status} {found}")
        return found

    def _place(self, netns: str) -> Place:
        return Place(
            netns=Path("/run/netns", netns),
            hosts=self.record.home / "hosts",
            resolv_conf=self.record.home / "resolv.conf",
        )


class _Connection(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@contextmanager
def engine(
    cache: Path | None = None,
    *,
    userland_proxy: bool = True,
    flags: Sequence[str] = (),
    release: str = OWN,
    address: str = HOST_ADDRESS,
    lan_address: str = LAN_ADDRESS,
    hostname: str = "",
) -> Iterator[Engine]:
    """An engine of that release with the lab's images for the block; nothing of it is left afterwards.

    `hostname` is what it takes its machine to be called, by default what this one is.
    """
    reasons = missing()
    if reasons:
        raise LabImpossible("; ".join(reasons))
    sweep()
    root = cache or cache_root()
    usr = usr_of(root, release)
    slot = borrow_slot(root, image_key(), release="" if release == OWN else release.split()[0])
    # Built before anything is started, so a failing build leaves nothing to tear down.
    try:
        absent = [] if slot.has_images else images(root)
    except BaseException:
        os.close(slot.lock)
        raise
    record = Record(run_id=secrets.token_hex(4), slot=str(slot.folder))
    warden = _start_warden(record, slot)
    record = replace(record, warden=warden.pid, warden_started=start_time(warden.pid) or 0)
    try:
        record.write()
        made = Engine(record=record, cache=root, address=address, lan_address=lan_address, release=release)
        _make_network(made)
        _start_resolver(made)
        options = [f"--userland-proxy={str(userland_proxy).lower()}", *flags]
        if release == NFTABLES:
            # With nftables the engine wants forwarding to be on, and leaves the policy of FORWARD alone.
            run(made.host.argv(["sysctl", "-qw", "net.ipv4.ip_forward=1"]))
            options.append("--firewall-backend=nftables")
        if release == PODMAN:
            _start_podman(made, slot)
        else:
            _start_dockerd(made, slot, usr, hostname, options)
        if absent:
            load_images(made, absent)
            slot.mark_loaded()
        yield made
    finally:
        _dismiss(warden, record)


def sweep() -> None:
    """Tear down runs whose owner and warden were both killed."""
    for record in read_records():
        if not record.is_watched():
            tear_down(record)


def _start_warden(record: Record, slot: Slot) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "tests.lab.warden", record.run_id]
    warden = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        cwd=_TOP,
        pass_fds=(slot.lock,),
        start_new_session=True,
    )
    # From here on the lock lives and dies with the warden.
    os.close(slot.lock)
    return warden


def _dismiss(warden: subprocess.Popen[bytes], record: Record) -> None:
    assert warden.stdin is not None
    warden.stdin.close()
    try:
        warden.wait(timeout=120)
    except subprocess.TimeoutExpired:
        warden.kill()
        tear_down(record)
    left = leftovers(record)
    if left:
        raise LabError(f"the teardown left {'; '.join(left)}")


def _make_network(made: Engine) -> None:
    record = made.record
    host, lan = record.host_netns, record.lan_netns
    for name in (host, lan):
        run(["ip", "netns", "add", name])
        run(["ip", "-n", name, "link", "set", "lo", "up"])
    peer = ["type", "veth", "peer", "name", "eth0", "netns", lan]
    run(["ip", "link", "add", "name", "eth0", "netns", host, *peer])
    for name, address in ((host, made.address), (lan, made.lan_address)):
        run(["ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0"])
        run(["ip", "-n", name, "link", "set", "eth0", "up"])
    (record.home / "hosts").write_text(_HOSTS)
    (record.home / "resolv.conf").write_text(f"nameserver {made.address}\n")
    (record.home / "docker-config").mkdir()
    (record.home / "daemon.json").write_text("{}\n")


def _start_resolver(made: Engine) -> None:
    argv = made.host.argv([sys.executable, "-m", "tests.lab.resolver", made.address])
    log = made.record.home / "resolver.log"
    _spawn(made, argv, log)
    _wait_for(lambda: "listening" in log.read_text(), log, "the resolver")


def _start_dockerd(made: Engine, slot: Slot, usr: Path | None, hostname: str, options: Sequence[str]) -> None:
    record = made.record
    argv = made.host.argv(
        [
            "sh",
            "-c",
            _PRIVATE,
            "lab",
            str(usr or ""),
            hostname,
            "dockerd",
            f"--config-file={record.home}/daemon.json",
            f"--host=unix://{record.socket}",
            f"--data-root={slot.data}",
            f"--exec-root={record.home}/exec",
            f"--pidfile={record.home}/dockerd.pid",
            f"--cgroup-parent={record.cgroup}",
            f"--dns={made.address}",
            "--storage-driver=overlay2",
            # A killed JVM leaves nothing worth waiting for.
            "--shutdown-timeout=2",
            *options,
        ]
    )
    _start(made, argv, "dockerd")


def _start_podman(made: Engine, slot: Slot) -> None:
    """Its service, which speaks Docker's API."""
    record = made.record
    environment = configure(record.home, slot.data)
    argv = ["sh", "-c", PRIVATE, "lab", record.cgroup.lstrip("/"), str(record.home / "resolv.conf")]
    service = ["podman", "system", "service", "--time=0", f"unix://{record.socket}"]
    _start(made, ["env", *environment, *made.host.argv([*argv, *service])], "podman")


def _start(made: Engine, argv: Sequence[str], name: str) -> None:
    """Until it answers."""
    log = made.record.home / f"{name}.log"
    daemon = _spawn(made, argv, log)

    def answers() -> bool:
        if daemon.poll() is not None:
            raise LabError(f"{name} ended: {tail(log.read_text())}")
        return _pings(made.record.socket)

    _wait_for(answers, log, name)


def load_images(made: Engine, absent: Sequence[Image]) -> None:
    """Stream the images in: half a gigabyte that need not lie on the disk a second time."""
    log = made.record.home / "load.log"
    with log.open("wb") as output:
        loader = subprocess.Popen(
            ["docker", "load", "-q"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={**os.environ, **made.environment},
        )
        assert loader.stdin is not None
        try:
            with loader.stdin:
                write_archive(loader.stdin, qualified(absent) if made.release == PODMAN else absent)
        except BrokenPipeError:
            pass
    if loader.wait(timeout=300) != 0:
        raise LabError(f"docker load failed: {tail(log.read_text())}")


def _pings(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2)
            connection.connect(str(path))
            connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b" 200 " in connection.recv(64)
    except OSError:
        return False


def _spawn(made: Engine, argv: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    with log.open("wb") as output:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=_TOP,
            env={**os.environ, "PATH": path, MARK: made.record.run_id},
            start_new_session=True,
        )


def _wait_for(ready: Callable[[], bool], log: Path, what: str) -> None:
    deadline = time.monotonic() + _START_LIMIT
    while not ready():
        if time.monotonic() > deadline:
            raise LabError(f"{what} did not start: {tail(log.read_text())}")
        time.sleep(0.05)
