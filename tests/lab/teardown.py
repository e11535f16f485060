"""Ending one engine run so that nothing of it is left, whatever state it is in.

In order: through the engine while it answers (that keeps its store reusable), then its processes,
then what the kernel keeps without processes: namespaces, cgroups, the run's folder.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from tests.lab.errors import LabError
from tests.lab.processes import run
from tests.lab.run_record import Record, end_processes, processes_of

_BUILT_IN = ("bridge", "host", "none")


def tear_down(record: Record, spare: frozenset[int] = frozenset()) -> None:
    """End the run; `spare` are processes of it that end by themselves (the warden)."""
    store_is_clean = _empty_engine(record)
    _end_all_processes(record, spare)
    for name in (record.lan_netns, record.host_netns):
        if Path("/run/netns", name).exists():
            run(["ip", "netns", "delete", name], check=False)
    _remove_cgroups(record.cgroup)
    if not store_is_clean:
        shutil.rmtree(record.slot, ignore_errors=True)
    shutil.rmtree(record.home, ignore_errors=True)


def leftovers(record: Record) -> list[str]:
    """What of the run still exists, in words; empty after a good teardown."""
    left = [f"process {pid}" for pid in processes_of(record)]
    for name in (record.host_netns, record.lan_netns):
        if Path("/run/netns", name).exists():
            left.append(f"network namespace {name}")
    left += [f"cgroup {path}" for path in _cgroup_folders(record.cgroup)]
    marks = (str(record.home), record.slot)
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    left += [f"mount {line}" for line in mounts if any(mark in line for mark in marks)]
    if record.home.exists():
        left.append(f"folder {record.home}")
    return left


def _empty_engine(record: Record) -> bool:
    """Remove every container, network and volume; False when the engine could not be asked."""
    try:
        if _ask(record, "info", "--format", "{{.Swarm.LocalNodeState}}") != ["inactive"]:
            # It would start again what is removed, and its state would be the next run's.
            _ask(record, "swarm", "leave", "--force")
        _remove_containers(record)
        networks = [name for name in _ask(record, "network", "ls", "--format", "{{.Name}}") if name not in _BUILT_IN]
        if networks:
            _ask(record, "network", "rm", *networks)
        volumes = _ask(record, "volume", "ls", "-q")
        if volumes:
            _ask(record, "volume", "rm", "-f", *volumes)
    except LabError:
        return False
    return True


def _remove_containers(record: Record) -> None:
    """In several rounds: Podman does not remove a container whose network another one uses."""
    left: list[str] = []
    while containers := _ask(record, "ps", "-aq"):
        if containers == left:
            raise LabError(f"cannot remove {', '.join(left)}")
        left = containers
        _ask(record, "rm", "-f", "-v", *containers, check=False)


def _ask(record: Record, *words: str, check: bool = True) -> list[str]:
    argv = ["docker", "-H", f"unix://{record.socket}", *words]
    environment = {"DOCKER_CONFIG": str(record.home / "docker-config")}
    return run(argv, check=check, timeout=60, env=environment).stdout.split()


def _end_all_processes(record: Record, spare: frozenset[int]) -> None:
    found = {pid: inside for pid, inside in processes_of(record).items() if pid not in spare}
    # Containers first: a shim that loses its container ends by itself, the other way round not.
    end_processes([pid for pid, inside in found.items() if inside], signal.SIGKILL, 10)
    end_processes([pid for pid, inside in found.items() if not inside], signal.SIGTERM, 15)
    for _ in range(3):
        rest = [pid for pid in processes_of(record) if pid not in spare]
        if not rest:
            return
        end_processes(rest, signal.SIGKILL, 10)


def _cgroup_folders(cgroup: str) -> list[Path]:
    root = Path("/sys/fs/cgroup")
    name = cgroup.lstrip("/")
    return [path for path in (root / name, *sorted(root.glob(f"*/{name}"))) if path.is_dir()]


def _remove_cgroups(cgroup: str) -> None:
    for top in _cgroup_folders(cgroup):
        folders = [path for path in top.rglob("*") if path.is_dir()]
        for folder in sorted(folders, key=lambda path: -len(path.parts)):
            _rmdir(folder)
        _rmdir(top)


def _rmdir(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        # Still busy for an instant after the last process; `leftovers` reports what stays.
        return
