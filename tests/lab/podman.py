"""Podman as root in the place of dockerd: its own storage, networks and state, in a private mount namespace.

The service speaks Docker's API, so that the `docker` command, Compose and the rest of the lab work as they are. runc
starts the containers, as crun refuses cgroups of two versions side by side.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.lab.layers import Image

# What Podman and its network tools keep below /run whatever their configuration says; and the run's own cgroup in
# the place of the root, as every container goes into a group of one name. $1 is that cgroup, $2 resolv.conf.
PRIVATE = """
mkdir -p /run/containers /run/netns
for folder in /run/containers /run/netns; do mount -t tmpfs tmpfs $folder || exit 125; done
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mkdir -p /sys/fs/cgroup/$1 && echo $$ > /sys/fs/cgroup/$1/cgroup.procs || exit 125
    mount --bind /sys/fs/cgroup/$1 /sys/fs/cgroup || exit 125
else
    for folder in /sys/fs/cgroup/*/; do
        mkdir -p $folder/$1 || exit 125
        for name in cpuset.cpus cpuset.mems; do
            [ ! -e $folder/$name ] || cat $folder/$name > $folder/$1/$name || exit 125
        done
        echo $$ > $folder/$1/cgroup.procs && mount --bind $folder/$1 $folder || exit 125
    done
fi
mount --bind "$2" /etc/resolv.conf || exit 125
shift 2
exec unshare --cgroup "$@"
"""

_CONTAINERS = """
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
static_dir = "{data}/storage/libpod"
tmp_dir = "{home}/podman/tmp"
volume_path = "{data}/volumes"

[network]
network_backend = "netavark"
network_config_dir = "{home}/podman/networks"

[containers]
log_driver = "k8s-file"
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
"""
_STORAGE = """
[storage]
driver = "overlay"
runroot = "{home}/podman/run"
graphroot = "{data}/storage"
"""
# Podman lowers its own limit of processes to this.
_OWN_LIMIT = 32768
# As Podman installs it; nothing is ever fetched.
_REGISTRIES = 'unqualified-search-registries = ["docker.io"]\n'


def configure(home: Path, data: Path) -> list[str]:
    """Write the files that say where everything lies; the variables NAME=value that name them."""
    folder = home / "podman"
    # Where the command that cleans up after a container looks for it, whatever is configured. Of an earlier run nothing
    # may be left: it lay elsewhere.
    shutil.rmtree(data / "storage" / "libpod", ignore_errors=True)
    for name in ("networks", "scratch"):
        (folder / name).mkdir(parents=True)
    # Podman asks for more than this machine may allow.
    files, processes = (resource.getrlimit(which)[1] for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
    texts = {
        "CONTAINERS_CONF": _CONTAINERS.format(home=home, data=data, files=files, processes=min(processes, _OWN_LIMIT)),
        "CONTAINERS_STORAGE_CONF": _STORAGE.format(home=home, data=data),
        "CONTAINERS_REGISTRIES_CONF": _REGISTRIES,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [*(f"{name}={folder / name}" for name in texts), f"TMPDIR={folder / 'scratch'}", "XDG_RUNTIME_DIR="]


def qualified(images: Sequence[Image]) -> list[Image]:
    """The images under their full names: Podman looks for a short one on Docker Hub, and nowhere else."""
    return [replace(image, tags=tuple(f"docker.io/{tag}" for tag in image.tags)) for image in images]
