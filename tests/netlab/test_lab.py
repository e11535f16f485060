"""A lab is what it says, and nothing is left of it."""

import os
import subprocess
from pathlib import Path

from tests.netlab.lab import needs_netlab, netlab
from tests.netlab.recipes import RECIPES, available


def test_every_room_is_its_own_and_can_be_entered() -> None:
    with netlab(5) as lab:
        assert [room.held_by for room in lab.rooms] == ["name", "process", "thread", "descriptor", "socket", "mount"]
        assert len({room.inode for room in lab.rooms}) == len(lab.rooms)
        for room in lab.rooms:
            descriptor = room.open()
            assert os.fstat(descriptor).st_ino == room.inode
            os.close(descriptor)
        names = [room.name for room in lab.rooms if room.name]
        holders = [room.holder.pid for room in lab.rooms if room.holder]
        assert all(Path(f"/run/netns/{name}").exists() for name in names)
        assert {"veth", "bridge"} <= set(lab.kinds)
    assert not any(Path(f"/run/netns/{name}").exists() for name in names)
    assert not any(Path(f"/proc/{pid}").exists() for pid in (*holders, lab.listener_pid))


def test_what_is_lacking_is_lacking_in_the_kernel_not_in_the_recipe() -> None:
    """A recipe with an error in it would look the same as a kernel without the kind."""
    needs_netlab()
    _, lacking = available()
    wrong = []
    for recipe in lacking:
        for kind in recipe.kinds:
            words = ["unshare", "--net", "ip", "link", "add", "name", "x0", "type", kind]
            said = subprocess.run(words, capture_output=True, text=True, timeout=30).stderr
            if recipe.name != "bridge VLANs" and "Unknown device type" not in said:
                wrong.append(f"{recipe.name}: {kind}: {said.strip()}")
    assert not wrong
    assert len(RECIPES) > len(lacking)
