"""The steps of the teaching lab: every command is one that `ip` takes, every name fits, nothing is made twice."""

import ipaddress

import pytest

from netdiag.topology.tutorial_lab import (
    PREFIX,
    STEPS,
    TRIALS,
    Action,
    AddAddress,
    AddBridge,
    AddNamespace,
    AddTap,
    AddVeth,
    AddVlan,
    command,
    namespace_name,
)

# linux/if.h, with the byte behind the name.
IFNAMSIZ = 16
ACTIONS = [action for step in STEPS for action in step.actions]
MADE = [action for action in ACTIONS if isinstance(action, AddVeth | AddBridge | AddVlan | AddTap)]


def test_every_device_is_ours_by_name_and_fits() -> None:
    names = [each.device for each in MADE] + [each.peer for each in MADE if isinstance(each, AddVeth)]
    assert names
    assert all(name.startswith(f"{PREFIX}-") and len(name) < IFNAMSIZ for name in names)
    assert len({each.index for each in MADE}) == len(MADE)


def test_nothing_is_used_before_it_is_made() -> None:
    spaces: set[str] = set()
    devices: set[tuple[str, str]] = set()
    for action in ACTIONS:
        if isinstance(action, AddNamespace):
            spaces.add(action.space)
            devices.add((action.space, "lo"))
            continue
        assert action.space in spaces, action
        if isinstance(action, AddVeth):
            assert action.peer_space in spaces
            devices.add((action.peer_space, action.peer))
        if action in MADE:
            devices.add((action.space, str(getattr(action, "device", ""))))
        named = getattr(action, "device", None)
        assert named is None or (action.space, named) in devices, action


def test_every_step_says_why() -> None:
    assert all(step.title and step.why and step.actions for step in STEPS)
    assert [step.title for step in STEPS if step.optional] == ["a machine outside, and a router", "a VLAN", "a tap"]


def test_trials_are_between_namespaces_with_these_addresses() -> None:
    given = {(each.space, each.address) for each in ACTIONS if isinstance(each, AddAddress)}
    assert {(trial.target, trial.address) for trial in TRIALS} <= given
    assert {trial.step for trial in TRIALS} - {""} <= {step.title for step in STEPS}
    nets = {
        ipaddress.ip_interface(f"{a.address}/{a.prefix_length}").network for a in ACTIONS if isinstance(a, AddAddress)
    }
    assert {str(net) for net in nets} == {"10.123.0.0/24", "10.123.1.0/24", "10.123.7.0/24"}


@pytest.mark.parametrize(
    ("action", "by_hand"),
    [
        (ACTIONS[0], "ip netns add netdiag-x-host"),
        (MADE[0], "ip -n netdiag-x-host link add netdiag-br0 type bridge"),
        (
            MADE[1],
            "ip -n netdiag-x-host link add netdiag-p102 type veth peer name netdiag-eth0 netns netdiag-x-one",
        ),
    ],
)
def test_the_command_by_hand(action: Action, by_hand: str) -> None:
    assert command("x", action) == by_hand


def test_labs_have_names_of_their_own() -> None:
    assert namespace_name("x", "host") != namespace_name("y", "host")
