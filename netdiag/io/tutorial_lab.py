"""Builds, shows and removes the tutorial lab: the steps of `netdiag.topology.tutorial_lab`, done with pyroute2.

Whatever is made is written down before, in a file that `netdiag lab down` finds, with what it can be known by
afterwards: namespaces by inode and mark, devices by number and mark. `tear_down` removes what is still that, and names
what is something else by now. So it does not matter where `build` was interrupted, or what others did meanwhile. The
root namespace is never entered.

Namespaces are anonymous first, marked, named under /run/netns last, and removed by what they are: one is ours if its
inode is the one that was written down and its loopback device bears our mark, because inodes are given out again.
Sources: ip-netns(8), mount_namespaces(7), linux/nsfs.h.
"""

import ctypes
import dataclasses
import fcntl
import json
import os
import secrets
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, field
from enum import Enum
from pathlib import Path
from typing import Any, assert_never

from pyroute2 import IPRoute
from pyroute2.netlink import NetlinkError

from netdiag.errors import InputError, MissingRight, NetdiagError
from netdiag.io.kernel.netns import NAMED, RIGHTS, Namespace, Vanished, open_namespace
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

VERSION = 1
RUN = "/run"
_FOLDER = "netdiag"
_LONGEST = 64 * 1024
_PATIENCE, _PAUSE = 20.0, 0.05
_VANISHINGS = 1000


@dataclasses.dataclass(slots=True, kw_only=True)
class OwnedDevice:
    """A device by the number that it was given; `marked` once it bears the lab's mark."""

    space: str
    name: str
    index: int
    marked: bool = False


@dataclasses.dataclass(slots=True, kw_only=True)
class State:
    """A lab: its namespaces with their inodes (None before they have one), its devices, the steps that are done.

    `mark` is a word that nobody else has: namespaces bear it at their loopback device, devices as their alias.
    """

    lab: str
    mark: str
    spaces: dict[str, int | None] = field(default_factory=dict)
    devices: list[OwnedDevice] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    finished: bool = False
    made_folder: bool = False


def new_state(lab: str) -> State:
    """The state of a lab of which nothing is there yet."""
    return State(lab=lab, mark=f"netdiag lab {lab} {secrets.token_hex(8)}")


class StateFile:
    """Where the state of one lab is kept."""

    def __init__(self, folder: Path, lab: str) -> None:
        self._folder = folder
        self.path = folder / f"lab-{lab}.json"

    def read(self) -> State | None:
        """The state, None where there is no lab; NetdiagError for what is none of ours."""
        try:
            with open(self.path, "rb") as file:
                data = file.read(_LONGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NetdiagError(os.strerror(error.errno or 0), where=str(self.path)) from error
        try:
            return _state(json.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            hint = "check the namespaces in it with `ip netns`, then delete it"
            raise NetdiagError("not the state of a lab", where=str(self.path), hint=hint) from error

    def write(self, state: State) -> None:
        """Put it in the place of what was there, at once or not at all."""
        fresh = self.path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, **asdict(state)}, file)
        os.replace(fresh, self.path)

    def delete(self) -> None:
        """Nothing is owned any more."""
        self.path.with_suffix(".new").unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


@contextmanager
def state_file(lab: str, environ: Mapping[str, str]) -> Iterator[StateFile]:
    """The file of a lab, which nobody else of us changes meanwhile; its folder goes when nothing is left in it."""
    folder, descriptor = _locked(lab, environ)
    try:
        yield StateFile(folder, lab)
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()
        os.close(descriptor)


def _locked(lab: str, environ: Mapping[str, str]) -> tuple[Path, int]:
    """The folder and a descriptor that locks it; another of us may remove it while we wait, then it is made anew."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        folder, descriptor = _folder(lab, environ)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink > 0:
                return folder, descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                hint = "wait for it"
                raise NetdiagError("another netdiag works on a lab here", where=str(folder), hint=hint) from None
            time.sleep(_PAUSE)
        os.close(descriptor)


def _folder(lab: str, environ: Mapping[str, str]) -> tuple[Path, int]:
    """/run/netdiag, or that of the user's session where /run is not to be written, with a descriptor of it."""
    own = environ.get("XDG_RUNTIME_DIR", "")
    found = [Path(RUN), *([Path(own)] if os.path.isabs(own) else [])]
    begun = [base / _FOLDER for base in found if (base / _FOLDER / f"lab-{lab}.json").exists()]
    for folder in (*begun, *(base / _FOLDER for base in found)):
        descriptor = _opened(folder)
        if descriptor is not None:
            return folder, descriptor
    raise MissingRight("no folder to write down what a lab owns", where=f"{RUN}/{_FOLDER}")


def _opened(folder: Path) -> int | None:
    """A descriptor of a folder, made where it is missing; None where it is not ours to write.

    Another of us may remove it at any moment: what is asked is asked of the descriptor, not of the path.
    """
    for _ in range(_VANISHINGS):
        try:
            with suppress(FileExistsError):
                os.mkdir(folder, mode=0o700)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if os.fstat(descriptor).st_uid == os.geteuid() and os.access(".", os.W_OK | os.X_OK, dir_fd=descriptor):
            return descriptor
        os.close(descriptor)
        return None
    return None


def _state(document: Any) -> State:
    if document.pop("version") != VERSION:
        raise ValueError("another version")
    devices = [OwnedDevice(**each) for each in document.pop("devices")]
    state = State(**document, devices=devices)
    well = (
        isinstance(state.mark, str)
        and state.mark
        and all(inode is None or isinstance(inode, int) for inode in state.spaces.values())
        and all(isinstance(each.index, int) and isinstance(each.name, str) for each in devices)
    )
    if not well:
        raise ValueError("values of other types")
    return state


FOLDER = f"/{NAMED}"
LOOPBACK = 1
_CLONE_NEWNET = 0x40000000
_MS_BIND, _MNT_DETACH = 0x1000, 2
_TIMES = 8


class Found(Enum):
    """What is under a name."""

    NOTHING = "nothing"
    OURS = "ours"
    UNFINISHED = "a name of ours without a namespace"
    FOREIGN = "something else"


class Fresh:
    """A namespace that nobody has named yet; it is gone when this is closed, unless it got a name."""

    def __init__(self, descriptor: int, netlink: socket.socket) -> None:
        self.descriptor = descriptor
        self.inode = os.fstat(descriptor).st_ino
        self.netlink = netlink

    def close(self) -> None:
        """Let go of it."""
        self.netlink.close()
        os.close(self.descriptor)


def fresh_namespace(mark: str) -> Fresh:
    """A new namespace whose loopback device bears the mark; MissingRight without the rights."""
    made: list[Fresh] = []
    errors: list[OSError] = []

    def make() -> None:
        try:
            _called("unshare", ctypes.c_int(_CLONE_NEWNET))
            descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, socket.NETLINK_ROUTE)
            made.append(Fresh(descriptor, netlink))
        except OSError as error:
            errors.append(error)

    # The thread takes the way back out of its namespace by ending.
    thread = threading.Thread(target=make, name="new netns")
    thread.start()
    thread.join()
    if errors:
        if isinstance(errors[0], PermissionError):
            raise MissingRight(f"making a network namespace needs {RIGHTS}") from errors[0]
        raise NetdiagError(f"no network namespace can be made: {errors[0].strerror}") from errors[0]
    with asking(made[0].netlink) as routes:
        routes.link("set", index=LOOPBACK, ifalias=mark)
    return made[0]


def name_it(fresh: Fresh, name: str, mark: str) -> None:
    """Put it under a name that nobody has; InputError where somebody has it."""
    path = f"{FOLDER}/{name}"
    os.makedirs(FOLDER, mode=0o755, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    except FileExistsError as error:
        hint = f"find out who created it; `ip netns delete {name}` removes it"
        raise InputError(
            "a namespace with that name exists, which this lab did not create", where=name, hint=hint
        ) from error
    with open(descriptor, "wb") as file:
        file.write(mark.encode())
    try:
        source = f"/proc/self/fd/{fresh.descriptor}".encode()
        _called("mount", source, path.encode(), None, ctypes.c_ulong(_MS_BIND), None)
    except OSError as error:
        os.unlink(path)
        if isinstance(error, PermissionError):
            raise MissingRight("naming a network namespace needs CAP_SYS_ADMIN") from error
        raise NetdiagError(f"the namespace cannot be named: {error.strerror}", where=name) from error


def look(name: str, inode: int | None, mark: str) -> Found:
    """What is under a name now, compared with what was written down."""
    path = f"{FOLDER}/{name}"
    try:
        status = os.lstat(path)
    except OSError:
        return Found.NOTHING
    if not stat.S_ISREG(status.st_mode):
        return Found.FOREIGN
    if status.st_dev == os.lstat(FOLDER).st_dev:
        return Found.UNFINISHED if _content(path) in (b"", mark.encode()) else Found.FOREIGN
    if inode is None or status.st_ino != inode:
        return Found.FOREIGN
    try:
        with open_namespace(NamedNamespace(name=name)) as namespace, in_namespace(namespace) as routes:
            (loopback,) = routes.get_links(LOOPBACK)
            return Found.OURS if loopback.get_attr("IFLA_IFALIAS") == mark else Found.FOREIGN
    except (Vanished, NetlinkError, InputError, ValueError):
        return Found.FOREIGN


def take_name(name: str, inode: int | None, mark: str) -> None:
    """Take the name away from a namespace of ours, or remove an unfinished one; others stay."""
    path = f"{FOLDER}/{name}"
    # Whoever made /run/netns a mount point meanwhile has our mount twice, one over the other.
    for _ in range(_TIMES):
        if look(name, inode, mark) is not Found.OURS:
            break
        _called("umount2", path.encode(), ctypes.c_int(_MNT_DETACH))
    if look(name, inode, mark) is Found.UNFINISHED:
        with suppress(FileNotFoundError):
            os.unlink(path)


def in_namespace(namespace: Namespace) -> AbstractContextManager[IPRoute]:
    """Netlink questions in a namespace, on a socket that is made there by a thread of its own."""
    return asking(namespace.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, socket.NETLINK_ROUTE))


@contextmanager
def asking(netlink: socket.socket) -> Iterator[IPRoute]:
    """pyroute2 on a socket of ours, never on one that it would make in a namespace by itself; it closes the socket."""
    routes = IPRoute(fileno=netlink.detach())
    try:
        yield routes
    finally:
        routes.close()


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return b"?"


def _called(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


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
                    raise CannotShow("this kernel does not support these devices") from error
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
            hint = f"find out who created it; `ip netns delete {name}` removes it"
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
