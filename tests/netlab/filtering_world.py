"""A client, a router with rules and a server, each in a namespace of its own, and what really becomes of connections.

The client dials addresses of server and router; who accepts sends the address and port that were reached and those
that it was dialled from, so that translations are seen, too. Nothing leaves the three namespaces.
"""

import contextlib
import errno
import secrets
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.linux.netns import NamedNamespace
from tests.io.namespaces import ip, needs_root
from tests.lab.processes import run

CLIENT, CLIENT_SIDE = "10.71.1.2", "10.71.1.1"
SERVER_SIDE, SERVER, SERVER_TOO = "10.71.2.1", "10.71.2.2", "10.71.2.3"
# Of nobody, but answers to it go by way of the router.
BORROWED = "10.71.9.9"
OPEN = (8001, 8002, 8003, 9092)
SHUT = (8009,)
IN, OUT = "c0", "s0"
# Less than the second after which a client asks again: rules may do something else with what they have seen before.
PATIENCE = 0.8
_FIRST_PORT, _PORTS = 20_000, 40_000
# A connection that is over says nothing any more: rules would count it beside a later one.
_ENDS_AT_ONCE = struct.pack("ii", 1, 0)
_TOLD_WITHIN_MS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What the client does: a source port, an address, a port."""

    source_port: int
    address: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """ "connected", "refused", "unreachable" or "dropped"; who was reached and from where, "" if nothing was said."""

    word: str
    reached: str = ""
    seen: str = ""


@dataclass(slots=True, kw_only=True)
class World:
    """The names of the namespaces."""

    client: str
    router: str
    server: str
    port: int = _FIRST_PORT
    opened: dict[str, Namespace] = field(default_factory=dict)

    def source_port(self) -> int:
        """One that was not used before."""
        self.port += 1
        return self.port

    def dial(self, attempts: Sequence[Attempt]) -> list[Outcome]:
        """All at once; what has not ended after a while has been dropped."""
        inside = self.opened[self.client]
        dialled = [inside.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in attempts]
        try:
            for one, attempt in zip(dialled, attempts, strict=True):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ENDS_AT_ONCE)
                one.bind((CLIENT, attempt.source_port))
                one.connect_ex((attempt.address, attempt.port))
            return _outcomes(dialled)
        finally:
            for one in dialled:
                one.close()


def _outcomes(dialled: Sequence[socket.socket]) -> list[Outcome]:
    outcomes = [Outcome(word="dropped")] * len(dialled)
    waiting = {one.fileno(): at for at, one in enumerate(dialled)}
    poll = select.poll()
    for number in waiting:
        poll.register(number, select.POLLOUT)
    end = time.monotonic() + PATIENCE
    while waiting and (left := end - time.monotonic()) > 0:
        for number, _ in poll.poll(left * 1000):
            at = waiting.get(number)
            if at is None:
                continue
            outcome = _outcome(dialled[at])
            if outcome is None:
                poll.modify(number, select.POLLIN)
                outcomes[at] = Outcome(word="connected")
                continue
            outcomes[at] = outcome
            poll.unregister(number)
            del waiting[number]
    return outcomes


def _outcome(one: socket.socket) -> Outcome | None:
    """None: connected, and nothing said yet."""
    number = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    with contextlib.suppress(OSError):
        # an error that came after the connection was made is about a later packet
        one.getpeername()
        number = 0
    if number == errno.ECONNREFUSED:
        return Outcome(word="refused")
    if number:
        return Outcome(word="unreachable")
    try:
        said = one.recv(200).decode()
    except BlockingIOError:
        return None
    except OSError:
        return Outcome(word="connected")
    reached, _, seen = said.partition(" ")
    return Outcome(word="connected", reached=reached, seen=seen)


@contextlib.contextmanager
def made_world() -> Iterator[World]:
    """For the block."""
    needs_root()
    token = secrets.token_hex(3)
    world = World(client=f"ndw-{token}-c", router=f"ndw-{token}-r", server=f"ndw-{token}-s")
    world.port += secrets.randbelow(_PORTS // 2)
    with contextlib.ExitStack() as stack:
        for name in (world.client, world.router, world.server):
            ip("netns", "add", name)
            stack.callback(ip, "netns", "delete", name)
            ip("-n", name, "link", "set", "lo", "up")
        _wired(world)
        for name in (world.client, world.router, world.server):
            world.opened[name] = stack.enter_context(open_namespace(NamedNamespace(name=name)))
        for name in (world.router, world.server):
            stack.enter_context(_served(world.opened[name]))
        yield world


def _wired(world: World) -> None:
    for device, here, there in ((IN, CLIENT_SIDE, CLIENT), (OUT, SERVER_SIDE, SERVER)):
        name = world.client if device == IN else world.server
        peer = ("type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "add", "name", device, "netns", world.router, *peer)
        ip("-n", world.router, "address", "add", f"{here}/24", "dev", device)
        ip("-n", name, "address", "add", f"{there}/24", "dev", "eth0")
        if name == world.server:
            ip("-n", name, "address", "add", f"{SERVER_TOO}/24", "dev", "eth0")
        ip("-n", world.router, "link", "set", device, "up")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "route", "add", "default", "via", here)
    for name in (world.router, world.server):
        run(["ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.tcp_synack_retries=0"])
    run(["ip", "netns", "exec", world.router, "sysctl", "-qw", "net.ipv4.ip_forward=1"])
    run(["ip", "netns", "exec", world.router, "sysctl", "-qw", "net.ipv4.icmp_ratelimit=0"])
    run(["ip", "netns", "exec", world.router, "sysctl", "-qw", "net.ipv4.icmp_msgs_per_sec=100000"], check=False)


@contextlib.contextmanager
def _served(namespace: Namespace) -> Iterator[None]:
    """Whoever connects to an open port is told where he came and from where."""
    listening = []
    poll = select.poll()
    sockets: dict[int, socket.socket] = {}
    for port in OPEN:
        one = namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("0.0.0.0", port))
        one.listen(128)
        poll.register(one, select.POLLIN)
        sockets[one.fileno()] = one
        listening.append(one)
    stop = threading.Event()

    def serve() -> None:
        held: list[socket.socket] = []
        while not stop.is_set():
            for number, _ in poll.poll(100):
                with contextlib.suppress(OSError):
                    accepted, peer = sockets[number].accept()
                    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _TOLD_WITHIN_MS)
                    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ENDS_AT_ONCE)
                    here = accepted.getsockname()
                    accepted.send(f"{here[0]}:{here[1]} {peer[0]}".encode())
                    held.append(accepted)
            while len(held) > 200:
                held.pop(0).close()
        for one in held:
            one.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        for one in listening:
            one.close()
