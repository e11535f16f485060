"""A teaching lab: built, interrupted anywhere, meddled with, and removed wholly."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.kernel.inventory import read_inventory
from netdiag.io.tutorial_lab import Builder, CannotShow, State, StateFile, attempt, missing, new_state, tear_down
from netdiag.rules.topology import check_topology
from netdiag.topology.graph import PathEnd
from netdiag.topology.join import join
from netdiag.topology.path.prediction import predict_path
from netdiag.topology.tutorial_lab import STEPS, TRIALS, AddTap, AddVlan, Step, namespace_name
from tests.io.lab.test_state import all_names, cleared, fresh_name, ip, links, names_of
from tests.io.namespaces import needs_root


@pytest.fixture
def lab() -> Iterator[str]:
    needs_root()
    name = fresh_name()
    with cleared(name):
        yield name


def build(lab: str, file: StateFile, pause: Callable[[str], None] = lambda _: None) -> State:
    state = new_state(lab)
    builder = Builder(state, file, pause)
    for step in STEPS:
        try:
            builder.do(step)
        except CannotShow:
            assert step.optional
    builder.finish()
    return state


def read(file: StateFile) -> State:
    state = file.read()
    assert state is not None
    return state


def test_a_lab_works_and_goes_without_a_trace(lab: str, tmp_path: Path) -> None:
    before, file = links(), StateFile(tmp_path, lab)
    descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    state = build(lab, file)
    assert names_of(lab) == all_names(lab)
    results = {trial.what: attempt(lab, trial) for trial in TRIALS if trial.step in ("", *state.steps)}
    assert set(results.values()) == {"connected"}
    assert len(results) >= 2
    assert missing(read(file)) == ()
    assert tear_down(read(file), file) == ()
    assert names_of(lab) == set()
    assert file.read() is None
    assert os.listdir(tmp_path) == []
    assert links() == before
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == (descriptors, threads)


def test_what_ip_shows_of_a_lab_is_what_was_written_down(lab: str, tmp_path: Path) -> None:
    file = StateFile(tmp_path, lab)
    state = build(lab, file)
    for space in state.spaces:
        shown = json.loads(ip("-n", namespace_name(lab, space), "-j", "-d", "link"))
        marked = {(link["ifindex"], link["ifname"]) for link in shown if link.get("ifalias") == state.mark}
        owned = {(each.index, each.name) for each in state.devices if each.space == space}
        assert marked - {(1, "lo")} == owned
    (bridge,) = json.loads(ip("-n", namespace_name(lab, "host"), "-j", "address", "show", "dev", "netdiag-br0"))
    assert bridge["addr_info"][0]["local"] == "10.123.0.1"
    tear_down(state, file)


def test_the_rules_find_nothing_wrong_with_it_and_trace_sees_its_way(lab: str, tmp_path: Path) -> None:
    file = StateFile(tmp_path, lab)
    state = build(lab, file)
    inodes = {inode for inode in state.spaces.values() if inode is not None}
    inventory = read_inventory(only=inodes)
    own = {inode: facts for inode, facts in inventory.namespaces.items() if inode in inodes}
    assert len(own) == 4
    seen = join(replace(inventory, namespaces=own))
    assert check_topology(seen) == ()
    path = predict_path(
        seen, next(p.netns for p in seen.places if p.name == namespace_name(lab, "outside")), "10.123.0.12", 9092
    )
    assert (path.end, path.target) == (PathEnd.REFUSED, state.spaces["two"])
    tear_down(state, file)


@pytest.mark.slow
def test_killed_after_any_change_it_is_removed_wholly(lab: str, tmp_path: Path) -> None:
    before, file = links(), StateFile(tmp_path, lab)
    killed = 0
    for number in range(1, 200):
        child = os.fork()
        if child == 0:
            _ends(partial(build, lab, file, _killer(number)))
        _, status = os.waitpid(child, 0)
        state = file.read()
        if state is not None:
            assert tear_down(state, file) == (), number
        assert names_of(lab) == set(), number
        assert os.listdir(tmp_path) == []
        if os.WIFEXITED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            break
        killed += 1
    assert killed > 40
    assert links() == before


@pytest.mark.slow
def test_killed_while_it_is_removed_it_is_removed_by_the_next(lab: str, tmp_path: Path) -> None:
    file = StateFile(tmp_path, lab)
    for number in range(1, 100):
        build(lab, file)
        child = os.fork()
        if child == 0:
            _ends(partial(tear_down, read(file), file, _killer(number)))
        _, status = os.waitpid(child, 0)
        assert not os.WIFEXITED(status) or os.waitstatus_to_exitcode(status) == 0
        state = file.read()
        assert state is None or tear_down(state, file) == ()
        assert names_of(lab) == set()
        if os.WIFEXITED(status):
            break
    assert 5 < number < 99


def _ends(work: Callable[[], object]) -> NoReturn:
    """What a child does, and no more: whatever happens, it does not go on as a second run of the tests."""
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def _killer(number: int) -> Callable[[str], None]:
    left = [number]

    def kill(_: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return kill


def test_what_was_removed_by_hand_is_told_and_no_obstacle(lab: str, tmp_path: Path) -> None:
    file = StateFile(tmp_path, lab)
    state = build(lab, file)
    ip("-n", namespace_name(lab, "host"), "link", "delete", "netdiag-br0")
    ip("netns", "delete", namespace_name(lab, "two"))
    # The cable of a namespace goes with it, a moment later.
    assert {f"netdiag-br0 in {namespace_name(lab, 'host')}", namespace_name(lab, "two")} <= set(missing(state))
    assert tear_down(read(file), file) == ()
    assert names_of(lab) == set()


def test_another_namespace_of_the_name_is_left(lab: str, tmp_path: Path) -> None:
    file, name = StateFile(tmp_path, lab), namespace_name(lab, "one")
    build(lab, file)
    ip("netns", "delete", name)
    ip("netns", "add", name)
    left = tear_down(read(file), file)
    assert [(each.what, each.because) for each in left] == [(name, "it is another one than the lab made")]
    assert names_of(lab) == {name}
    ip("netns", "delete", name)
    assert tear_down(read(file), file) == ()
    assert file.read() is None


def test_devices_of_others_are_left_with_their_namespace(lab: str, tmp_path: Path) -> None:
    file, name = StateFile(tmp_path, lab), namespace_name(lab, "host")
    build(lab, file)
    ip("-n", name, "link", "delete", "netdiag-br0")
    ip("-n", name, "link", "add", "netdiag-br0", "type", "bridge")
    left = tear_down(read(file), file)
    assert [(each.what, each.because) for each in left] == [(name, "others have devices in it: netdiag-br0")]
    assert names_of(lab) == {name}
    assert [line.split()[0] for line in ip("-n", name, "-brief", "link").splitlines()] == ["lo", "netdiag-br0"]
    ip("-n", name, "link", "delete", "netdiag-br0")
    assert tear_down(read(file), file) == ()
    assert names_of(lab) == set()


def test_a_name_that_somebody_has_stops_the_lab(lab: str, tmp_path: Path) -> None:
    file, name = StateFile(tmp_path, lab), namespace_name(lab, "one")
    ip("netns", "add", name)
    inode = os.stat(f"/run/netns/{name}").st_ino
    with pytest.raises(NetdiagError, match="is there already"):
        build(lab, file)
    assert tear_down(read(file), file) == ()
    assert os.stat(f"/run/netns/{name}").st_ino == inode
    assert names_of(lab) == {name}


def test_what_this_kernel_cannot_make_is_not_owned(lab: str, tmp_path: Path) -> None:
    file, state = StateFile(tmp_path, lab), new_state(lab)
    builder = Builder(state, file)
    builder.do(STEPS[0])
    taken = 1
    tap = AddTap(space="host", device="netdiag-tap9", index=taken)
    with pytest.raises(CannotShow, match="/dev/net/tun"):
        builder.do(Step(title="t", why="w", actions=(tap,)))
    vlan = AddVlan(space="host", device="netdiag-v", index=110, parent="nothing", number=1)
    with pytest.raises(NetdiagError, match="the device is gone"):
        builder.do(Step(title="t", why="w", actions=(vlan,)))
    assert read(file).devices == []
    tear_down(state, file)


def test_a_connection_to_nobody_is_told(lab: str, tmp_path: Path) -> None:
    file, state = StateFile(tmp_path, lab), new_state(lab)
    builder = Builder(state, file)
    for step in STEPS[:4]:
        builder.do(step)
    ip("-n", namespace_name(lab, "one"), "link", "set", "netdiag-eth0", "down")
    assert attempt(lab, TRIALS[0]) == "Network is unreachable"
    tear_down(state, file)
