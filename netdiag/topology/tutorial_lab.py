"""The steps of `netdiag lab up`, as data: what is made, why, and the `ip` command that would make it by hand.

Everything lives in namespaces of the lab's own; one of them plays the host. Devices that are made get numbers that are
known beforehand, so that what a lab owns can be written down before it is there.
"""

from typing import assert_never

from netdiag.values import dataclass

PREFIX = "netdiag"
PORT = 9092
# A device's name has at most 15 characters (IFNAMSIZ in linux/if.h).


@dataclass(frozen=True, slots=True, kw_only=True)
class AddNamespace:
    """A network namespace."""

    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddVeth:
    """A veth pair: `device` with number `index` in `space`, its other end `peer` in `peer_space`."""

    space: str
    device: str
    index: int
    peer_space: str
    peer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBridge:
    """A bridge."""

    space: str
    device: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AddVlan:
    """A VLAN device on top of `parent`."""

    space: str
    device: str
    index: int
    parent: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTap:
    """A tap device that stays without a program."""

    space: str
    device: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMaster:
    """Make a device a port of a bridge."""

    space: str
    device: str
    bridge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """Switch a device on."""

    space: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAddress:
    """Give a device an address."""

    space: str
    device: str
    address: str
    prefix_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AddDefaultRoute:
    """A default route."""

    space: str
    gateway: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnableForwarding:
    """Let a namespace hand on what is not for itself."""

    space: str


AddDevice = AddVeth | AddBridge | AddVlan | AddTap
Action = AddNamespace | AddDevice | SetMaster | SetUp | AddAddress | AddDefaultRoute | EnableForwarding


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Some actions with one thought. One that is `optional` is passed over where the kernel cannot do it."""

    title: str
    why: str
    actions: tuple[Action, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A connection between two namespaces of the lab that shows that `step` (by title, "" for the first ones) works."""

    what: str
    source: str
    target: str
    address: str
    step: str = ""


def namespace_name(lab: str, space: str) -> str:
    """The name of a namespace of a lab under /run/netns."""
    return f"{PREFIX}-{lab}-{space}"


def command(lab: str, action: Action) -> str:
    """The same by hand."""
    at = f"ip -n {namespace_name(lab, action.space)}"
    match action:
        case AddNamespace(space=space):
            return f"ip netns add {namespace_name(lab, space)}"
        case AddVeth(device=device, peer_space=other, peer=peer):
            return f"{at} link add {device} type veth peer name {peer} netns {namespace_name(lab, other)}"
        case AddBridge(device=device):
            return f"{at} link add {device} type bridge"
        case AddVlan(device=device, parent=parent, number=number):
            return f"{at} link add link {parent} name {device} type vlan id {number}"
        case AddTap(device=device):
            return f"{at} tuntap add {device} mode tap"
        case SetMaster(device=device, bridge=bridge):
            return f"{at} link set {device} master {bridge}"
        case SetUp(device=device):
            return f"{at} link set {device} up"
        case AddAddress(device=device, address=address, prefix_length=length):
            return f"{at} address add {address}/{length} dev {device}"
        case AddDefaultRoute(gateway=gateway):
            return f"{at} route add default via {gateway}"
        case EnableForwarding(space=space):
            return f"ip netns exec {namespace_name(lab, space)} sysctl -w net.ipv4.ip_forward=1"
        case _:
            assert_never(action)


def _member(space: str, index: int, address: str) -> tuple[Action, ...]:
    """A namespace on the bridge, as an engine connects a container."""
    outside, inside = f"{PREFIX}-p{index}", f"{PREFIX}-eth0"
    return (
        AddNamespace(space=space),
        AddVeth(space="host", device=outside, index=index, peer_space=space, peer=inside),
        SetMaster(space="host", device=outside, bridge=BRIDGE),
        SetUp(space="host", device=outside),
        SetUp(space=space, device="lo"),
        AddAddress(space=space, device=inside, address=address, prefix_length=24),
        SetUp(space=space, device=inside),
    )


BRIDGE = f"{PREFIX}-br0"
_INSIDE = f"{PREFIX}-eth0"
_ROUTER, _VLANS = "a machine outside, and a router", "a VLAN"
_VLAN = f"{PREFIX}-vlan7"

STEPS: tuple[Step, ...] = (
    Step(
        title="a namespace that plays the host",
        why="a network namespace has devices, addresses, routes and firewall rules of its own; a new one has loopback, "
        "switched off. The real host stays as it is: all that follows happens in namespaces of this lab",
        actions=(AddNamespace(space="host"), SetUp(space="host", device="lo")),
    ),
    Step(
        title="a bridge",
        why="a switch made of software: frames go from port to port by hardware address. docker0 and br-... are such "
        "bridges; the address makes the host a neighbour of everybody on it, and their gateway",
        actions=(
            AddBridge(space="host", device=BRIDGE, index=101),
            AddAddress(space="host", device=BRIDGE, address="10.123.0.1", prefix_length=24),
            SetUp(space="host", device=BRIDGE),
        ),
    ),
    Step(
        title="a first container by hand",
        why="a veth pair is a cable: what goes in at one end comes out at the other. One end is a port of the bridge, "
        "the other one the device of the namespace. A container is no more than that, with processes in it",
        actions=_member("one", 102, "10.123.0.11"),
    ),
    Step(
        title="a second one",
        why="both are on one bridge now, so they are neighbours: one asks who has 10.123.0.12 (ARP), the bridge learns "
        "behind which port the answer came from, and no route is needed",
        actions=_member("two", 103, "10.123.0.12"),
    ),
    Step(
        title=_ROUTER,
        why="the host has a second cable, to a machine that is not on the bridge. Between the two nets it forwards, "
        "which Linux does only with net.ipv4.ip_forward on; each side needs a route to the other, here the default one",
        actions=(
            AddNamespace(space="outside"),
            AddVeth(space="host", device=f"{PREFIX}-up", index=104, peer_space="outside", peer=_INSIDE),
            AddAddress(space="host", device=f"{PREFIX}-up", address="10.123.1.1", prefix_length=24),
            SetUp(space="host", device=f"{PREFIX}-up"),
            AddAddress(space="outside", device=_INSIDE, address="10.123.1.2", prefix_length=24),
            SetUp(space="outside", device=_INSIDE),
            EnableForwarding(space="host"),
            AddDefaultRoute(space="one", gateway="10.123.0.1"),
            AddDefaultRoute(space="two", gateway="10.123.0.1"),
            AddDefaultRoute(space="outside", gateway="10.123.1.1"),
        ),
        optional=True,
    ),
    Step(
        title=_VLANS,
        why="a second net over the same cables: its frames carry a number, and only devices of that number take them",
        actions=(
            AddVlan(space="one", device=_VLAN, index=105, parent=_INSIDE, number=7),
            AddAddress(space="one", device=_VLAN, address="10.123.7.11", prefix_length=24),
            SetUp(space="one", device=_VLAN),
            AddVlan(space="two", device=_VLAN, index=106, parent=_INSIDE, number=7),
            AddAddress(space="two", device=_VLAN, address="10.123.7.12", prefix_length=24),
            SetUp(space="two", device=_VLAN),
        ),
        optional=True,
    ),
    Step(
        title="a tap",
        why="a cable whose other end is a program: virtual machines and VPNs hold one. No program holds this one, so "
        "it has no carrier, and its port of the bridge does not forward",
        actions=(
            AddTap(space="host", device=f"{PREFIX}-tap0", index=107),
            SetMaster(space="host", device=f"{PREFIX}-tap0", bridge=BRIDGE),
            SetUp(space="host", device=f"{PREFIX}-tap0"),
        ),
        optional=True,
    ),
)

TRIALS: tuple[Trial, ...] = (
    Trial(what="over the bridge", source="one", target="two", address="10.123.0.12"),
    Trial(what="routed by the host", source="outside", target="one", address="10.123.0.11", step=_ROUTER),
    Trial(what="in VLAN 7", source="one", target="two", address="10.123.7.12", step=_VLANS),
)
