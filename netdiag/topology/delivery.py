"""Who answers a packet that has arrived: the socket with the closest address (net/ipv4/inet_hashtables.c)."""

import ipaddress
from dataclasses import dataclass

from netdiag.linux.process import Process
from netdiag.linux.socket import Listener, Protocol
from netdiag.topology.inventory import Inventory
from netdiag.topology.terrain import Place, family_of, number

_DOCKER_PROXY = "docker-proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxied:
    """Where a docker-proxy connects to, and from which namespace."""

    pid: int
    netns: int
    address: str
    port: int


def find_listener(place: Place, protocol: str, address: str, port: int, iif: int) -> Listener | None:
    """The socket that takes a packet for this address, which came in by this device."""
    wanted = Protocol.UDP if protocol == "udp" else Protocol.TCP
    fitting = [
        listener
        for listener in place.facts.listeners
        if listener.port == port and listener.protocol is wanted and listener.ifindex in (None, iif)
    ]
    scored = [(score, index) for index, one in enumerate(fitting) if (score := _closeness(one, address)) is not None]
    return fitting[max(scored, key=lambda one: (one[0], -one[1]))[1]] if scored else None


def _closeness(listener: Listener, address: str) -> int | None:
    """None where the socket does not serve the address; more for an address of its own than for all."""
    bound = ipaddress.ip_address(listener.address.partition("%")[0])
    device = 4 if listener.ifindex is not None else 0
    mapped = bound.ipv4_mapped if isinstance(bound, ipaddress.IPv6Address) else None
    if family_of(address) == 4:
        if mapped is not None or bound.version == 4:
            closest = mapped or bound
            if int(closest) == number(address):
                return device + 3
            return device + 1 if int(closest) == 0 else None
        return device if int(bound) == 0 and not listener.v6only else None
    if bound.version == 4 or mapped is not None:
        return None
    if int(bound) == number(address):
        return device + 3
    return device + 1 if int(bound) == 0 else None


def described(inventory: Inventory, listener: Listener) -> str:
    """A socket with its program: "java (pid 17) on 0.0.0.0:9092"."""
    shown = f"[{listener.address}]" if ":" in listener.address else listener.address
    where = f"{shown}:{listener.port}"
    owners = [inventory.processes[pid] for pid in listener.pids if pid in inventory.processes]
    if owners:
        return f"{owners[0].comm} (pid {owners[0].pid}) on {where}"
    if listener.pids:
        return f"process {listener.pids[0]} on {where}"
    return f"the kernel on {where}" if not listener.inode else f"a socket on {where}"


def proxied(inventory: Inventory, listener: Listener) -> Proxied | None:
    """Where the connection goes on if it is a docker-proxy that listens."""
    for pid in listener.pids:
        process = inventory.processes.get(pid)
        if process is None or not process.comm.startswith(_DOCKER_PROXY[:15]) or process.netns is None:
            continue
        options = _options(process)
        port = options.get("container-port", "")
        if options.get("container-ip") and port.isdecimal():
            return Proxied(pid=pid, netns=process.netns, address=options["container-ip"], port=int(port))
    return None


def _options(process: Process) -> dict[str, str]:
    """`-name value` and `-name=value`, with one dash or two."""
    found: dict[str, str] = {}
    words = list(process.argv)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            found.setdefault(name, value if equals else following)
    return found
