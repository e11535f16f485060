"""Builds, shows and removes the tutorial lab: the steps of `netdiag.topology.tutorial_lab`, done with pyroute2.

Whatever is made is written down before, with what it can be known by afterwards: namespaces by inode and mark, devices
by number and mark. `tear_down` removes what is still that, and names what is something else by now. So it does not
matter where `build` was interrupted, or what others did meanwhile. The root namespace is never entered.
"""

import fcntl
import os
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, assert_never

from pyroute2 import IPRoute
from pyroute2.netlink import NetlinkError

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel.netns import RIGHTS, Namespace, open_namespace
from netdiag.io.lab.namespaces import FOLDER, LOOPBACK, Found, fresh_namespace, in_namespace, look, name_it, take_name
from netdiag.io.lab.state import OwnedDevice, State, StateFile
from netdiag.linux.netns import NamedNamespace
from netdiag.topology.tutorial_lab import (
    PORT,
    Action,
    AddAddress,
    AddBridge,
    AddDefaultRoute,
    AddDevice,
    AddNamespace,
    AddTap,
    AddVeth,
    AddVlan,
    EnableForwarding,
    SetMaster,
    SetUp,
    Step,
    Trial,
    namespace_name,
)
from netdiag.values import dataclass

_NOT_SUPPORTED, _NO_DEVICE = 95, 19
_TUNSETIFF, _TUNSETPERSIST, _TUNSETIFINDEX = 0x400454CA, 0x400454CB, 0x400454DA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_SECONDS = 5.0
# Devices that some kernels put into every new namespace (net.core.fb_tunnels_only_for_init_net).
_FALLBACKS = frozenset(
    {"tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0"}
    | {"ip6gre0", "ip6gretap0", "ip6erspan0"}
)


class CannotShow(NetdiagError):
    """This kernel cannot do what a step is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something under a name of the lab that is not what the lab made: `what`, and one line of reason."""

    what: str
    because: str


class Builder:
    """Does the steps of one lab. `pause` is called between any two changes, with what was done last."""

    def __init__(self, state: State, file: StateFile, pause: Callable[[str], None] = lambda _: None) -> None:
        self._state, self._file, self._pause = state, file, pause

    def do(self, step: Step) -> None:
        """All actions of a step; CannotShow where the kernel cannot, or does not let us."""
        for action in step.actions:
            try:
                self._do(action)
            except NetlinkError as error:
                if error.code == _NOT_SUPPORTED:
                    raise CannotShow("this kernel has no such devices") from error
                if error.code == 1:
                    raise MissingRight(f"changing a network namespace needs {RIGHTS}") from error
                reason = os.strerror(error.code or 0)
                raise NetdiagError(reason, where=namespace_name(self._state.lab, action.space)) from error
            self._pause(f"{type(action).__name__} {action.space}")
        self._state.steps.append(step.title)
        self._write("step noted")

    def finish(self) -> None:
        """Everything is there."""
        self._state.finished = True
        self._write("lab noted")

    def _write(self, done: str) -> None:
        self._file.write(self._state)
        self._pause(done)

    def _do(self, action: Action) -> None:
        match action:
            case AddNamespace(space=space):
                self._make_space(space)
            case AddVeth() | AddBridge() | AddVlan() | AddTap():
                self._make_device(action)
            case EnableForwarding(space=space):
                with self._open(space) as namespace:
                    namespace.run(_forward)
            case _:
                with self._open(action.space) as namespace, in_namespace(namespace) as routes:
                    _change(routes, action)

    def _make_space(self, space: str) -> None:
        state, name = self._state, namespace_name(self._state.lab, space)
        if look(name, None, state.mark) is not Found.NOTHING:
            hint = f"look who made it; `ip netns delete {name}` removes it"
            raise NetdiagError("a namespace of that name is there already", where=name, hint=hint)
        fresh = fresh_namespace(state.mark)
        try:
            state.spaces[space] = fresh.inode
            state.made_folder = state.made_folder or not os.path.isdir(FOLDER)
            self._write("namespace noted")
            name_it(fresh, name, state.mark)
        finally:
            fresh.close()

    def _make_device(self, action: AddDevice) -> None:
        owned = OwnedDevice(space=action.space, name=action.device, index=action.index)
        self._state.devices.append(owned)
        self._write("device noted")
        with self._open(action.space) as namespace:
            try:
                self._make(namespace, action)
            except (NetdiagError, NetlinkError):
                self._state.devices.remove(owned)
                self._write("no device noted")
                raise
            self._pause("device made")
            with in_namespace(namespace) as routes:
                routes.link("set", index=action.index, ifalias=self._state.mark)
        self._pause("device marked")
        owned.marked = True
        self._write("mark noted")

    def _make(self, namespace: Namespace, action: AddDevice) -> None:
        if isinstance(action, AddTap):
            namespace.run(lambda: _make_tap(action))
        else:
            with in_namespace(namespace) as routes:
                self._make_link(routes, action)

    def _make_link(self, routes: IPRoute, action: AddVeth | AddBridge | AddVlan) -> None:
        given: dict[str, Any] = {"ifname": action.device, "index": action.index}
        match action:
            case AddBridge():
                routes.link("add", kind="bridge", **given)
            case AddVlan(parent=parent, number=number):
                routes.link("add", kind="vlan", link=_index(routes, parent), vlan_id=number, **given)
            case AddVeth(peer_space=other, peer=peer):
                target = os.open(f"{FOLDER}/{namespace_name(self._state.lab, other)}", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    routes.link("add", kind="veth", peer={"ifname": peer, "net_ns_fd": target}, **given)
                finally:
                    os.close(target)
            case _:
                assert_never(action)

    def _open(self, space: str) -> Namespace:
        return open_namespace(NamedNamespace(name=namespace_name(self._state.lab, space)))


def tear_down(state: State, file: StateFile, pause: Callable[[str], None] = lambda _: None) -> tuple[Left, ...]:
    """Remove what the lab made and is still what it made; the rest is named, and stays written down."""
    left: list[Left] = []
    names = {space: namespace_name(state.lab, space) for space in reversed(state.spaces)}
    found = {space: look(name, state.spaces[space], state.mark) for space, name in names.items()}
    for space, name in names.items():
        if found[space] is Found.OURS:
            _remove_devices(state, space, name, pause)
    for space, name in names.items():
        if found[space] is Found.FOREIGN:
            left.append(Left(what=name, because="it is another one than the lab made"))
            continue
        strangers = _strangers(name) if found[space] is Found.OURS else ()
        if strangers:
            left.append(Left(what=name, because=f"others have devices in it: {', '.join(strangers)}"))
            continue
        if found[space] is not Found.NOTHING:
            take_name(name, state.spaces[space], state.mark)
        del state.spaces[space]
        file.write(state)
        pause(f"{name} removed")
    state.devices = [each for each in state.devices if each.space in state.spaces]
    state.finished = False
    if left:
        file.write(state)
    else:
        if state.made_folder:
            with suppress(OSError):
                os.rmdir(FOLDER)
        file.delete()
    return tuple(left)


def missing(state: State) -> tuple[str, ...]:
    """What the lab made and is not there any more, or is something else: names of namespaces and devices."""
    gone: list[str] = []
    for space, inode in state.spaces.items():
        name = namespace_name(state.lab, space)
        if look(name, inode, state.mark) is not Found.OURS:
            gone.append(name)
            continue
        with _asking(name) as routes:
            there = {link["index"] for link in routes.get_links() if _is_ours(state, space, link)}
        gone += [f"{e.name} in {name}" for e in state.devices if e.space == space and e.index not in there]
    return tuple(gone)


def attempt(lab: str, trial: Trial) -> str:
    """What a connection of a trial comes to: "connected", or why not."""
    names = [NamedNamespace(name=namespace_name(lab, space)) for space in (trial.source, trial.target)]
    with (
        open_namespace(names[0]) as source,
        open_namespace(names[1]) as target,
        target.socket(socket.AF_INET, socket.SOCK_STREAM) as waiting,
        source.socket(socket.AF_INET, socket.SOCK_STREAM) as calling,
    ):
        waiting.bind((trial.address, PORT))
        waiting.listen(1)
        calling.settimeout(_SECONDS)
        try:
            calling.connect((trial.address, PORT))
        except TimeoutError:
            return "no answer"
        except OSError as error:
            return os.strerror(error.errno or 0)
        return "connected"


def _change(routes: IPRoute, action: SetMaster | SetUp | AddAddress | AddDefaultRoute) -> None:
    match action:
        case SetMaster(device=device, bridge=bridge):
            routes.link("set", index=_index(routes, device), master=_index(routes, bridge))
        case SetUp(device=device):
            routes.link("set", index=_index(routes, device), state="up")
        case AddAddress(device=device, address=address, prefix_length=length):
            routes.addr("add", index=_index(routes, device), address=address, prefixlen=length)
        case AddDefaultRoute(gateway=gateway):
            routes.route("add", dst="default", gateway=gateway)
        case _:
            assert_never(action)


def _index(routes: IPRoute, device: str) -> int:
    found: Sequence[int] = routes.link_lookup(ifname=device)
    if not found:
        raise NetdiagError("the device is gone", where=device)
    return found[0]


def _forward() -> None:
    try:
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
            file.write("1")
    except OSError as error:
        raise CannotShow(f"forwarding cannot be switched on: {os.strerror(error.errno or 0)}") from error


def _make_tap(action: AddTap) -> None:
    """A tap in the namespace of this thread, with a number of our choice (linux/if_tun.h)."""
    try:
        with open("/dev/net/tun", "rb+", buffering=0) as device:
            fcntl.ioctl(device, _TUNSETIFINDEX, struct.pack("I", action.index))
            fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", action.device.encode(), _IFF_TAP | _IFF_NO_PI))
            fcntl.ioctl(device, _TUNSETPERSIST, 1)
    except OSError as error:
        raise CannotShow(f"/dev/net/tun: {os.strerror(error.errno or 0)}") from error


@contextmanager
def _asking(name: str) -> Iterator[IPRoute]:
    with open_namespace(NamedNamespace(name=name)) as namespace, in_namespace(namespace) as routes:
        yield routes


def _remove_devices(state: State, space: str, name: str, pause: Callable[[str], None]) -> None:
    with _asking(name) as routes:
        for link in routes.get_links():
            if not _is_ours(state, space, link):
                continue
            try:
                routes.link("del", index=link["index"])
            except NetlinkError as error:
                # The other end of a cable goes with the one.
                if error.code != _NO_DEVICE:
                    raise NetdiagError(os.strerror(error.code or 0), where=name) from error
            pause(f"device {link['index']} of {name} removed")


def _is_ours(state: State, space: str, link: Any) -> bool:
    owned = next((each for each in state.devices if (each.space, each.index) == (space, link["index"])), None)
    if owned is None:
        return False
    alias = link.get_attr("IFLA_IFALIAS")
    # One without its mark yet is known by number and name: numbers are not given out by chance so high.
    return bool(alias == state.mark or (not owned.marked and not alias and link.get_attr("IFLA_IFNAME") == owned.name))


def _strangers(name: str) -> tuple[str, ...]:
    with _asking(name) as routes:
        links = [(link["index"], str(link.get_attr("IFLA_IFNAME"))) for link in routes.get_links()]
    return tuple(device for index, device in links if index != LOOPBACK and device not in _FALLBACKS)
