"""Proof that a process is a container's."""

import pytest

from netdiag.linux.containment import proves_container

ID = "c84ae2429ac2" + "0" * 52
MOUNT = f"512 500 254:0 /data/containers/{ID}/hosts /etc/hosts rw,relatime - ext4 /dev/vda rw"


@pytest.mark.parametrize(
    ("cgroup", "mountinfo", "proven"),
    [
        (f"12:pids:/docker/{ID}\n", "", True),
        (f"0::/system.slice/docker-{ID}.scope\n", "", True),
        ("0::/\n", MOUNT, True),
        ("0::/\n", "", False),
        ("0::/user.slice\n", f"1 2 3 /data/containers/{ID}/hosts /mnt rw - ext4 x rw", False),
        ("0::/user.slice\n", "short line", False),
        (f"0::/docker/{'1' * 64}\n", "", False),
    ],
)
def test_proof(cgroup: str, mountinfo: str, proven: bool) -> None:
    assert proves_container(ID, cgroup=cgroup, mountinfo=mountinfo) is proven


def test_a_short_id_proves_nothing() -> None:
    assert not proves_container("", cgroup="0::/\n", mountinfo="")
    assert not proves_container("c84a", cgroup="0::/docker/c84a\n", mountinfo="")
