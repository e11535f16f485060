"""A docker host in miniature for rules about topologies: real namespaces, devices, sockets and NAT rules.

The engine's words are literals, the kernel's are read. `break_it` runs a command in one of the namespaces; then the
topology is looked at again. Everything ends with the processes that hold the namespaces.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from netdiag.deployment.model.deployment import Platform
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import Container, ContainerState, EndpointSettings, EngineNetwork, PortBinding, Status
from netdiag.findings import Finding
from netdiag.io.kernel.inventory import read_inventory
from netdiag.rules.topology import check_topology
from netdiag.topology.graph import Topology
from netdiag.topology.join import join
from tests.io.namespaces import needs_root
from tests.tools import tool

BRIDGE, SUBNET, GATEWAY = "br-kafka", "172.20.0.0/16", "172.20.0.1"
ADDRESSES = {"kafka-1": "172.20.0.2", "kafka-2": "172.20.0.3"}
PORT = 9092
MACS = {"kafka-1": "02:42:ac:14:00:02", "kafka-2": "02:42:ac:14:00:03"}
NETWORK = EngineNetwork(
    id="aa" * 32,
    name="kafka",
    driver="bridge",
    internal=False,
    subnets=(SUBNET,),
    gateways=(GATEWAY,),
    default_bridge=False,
    bridge_name=BRIDGE,
)
_LISTEN = """
import socket, sys, time
held = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("up", flush=True)
time.sleep(1e6)
"""
_WAIT = "import time; print('up', flush=True); time.sleep(1e6)"
# Puts a device into a namespace that nobody can find: all that holds it is a socket on its way between two others.
_LOSE = """
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
near, far = socket.socketpair()
home = os.open("/proc/self/ns/net", os.O_RDONLY)
assert libc.unshare(0x40000000) == 0
print("up", flush=True)
sys.stdin.readline()
held = socket.socket()
socket.send_fds(near, [b"x"], [held.fileno()])
held.close()
assert libc.setns(home, 0x40000000) == 0
print("lost", flush=True)
time.sleep(1e6)
"""


@dataclass(slots=True, kw_only=True)
class Scene:
    """The host, two brokers on a bridge and a machine outside. `folder` is for programs under names of their own."""

    folder: Path
    holders: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    servers: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    others: list[subprocess.Popen[str]] = field(default_factory=list)
    containers: dict[str, Container] = field(default_factory=dict)
    network: EngineNetwork = NETWORK

    def run(self, place: str, *words: str) -> None:
        """A command in a namespace."""
        command = [tool(words[0]), *words[1:]] if words[0] in ("ip", "bridge", "iptables-nft") else list(words)
        done = subprocess.run([*self._enter(place), *command], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, (words, done.stderr)

    def switch(self, name: str, value: str) -> None:
        """A switch of the host under /proc/sys; one that this kernel does not have is off anyway."""
        path = f"/proc/sys/{name}"
        self.run("host", "sh", "-c", f"[ ! -e {path} ] || echo {value} > {path}")

    def listen(self, place: str, port: int, address: str = "0.0.0.0", name: str = "server") -> subprocess.Popen[str]:
        """A process called `name` that listens."""
        return self._start(place, name, ["-I", "-S", "-c", _LISTEN, address, str(port)])

    def proxy(self, address: str, port: int) -> subprocess.Popen[str]:
        """A process that looks like a docker-proxy for a container's address."""
        said = ["-proto", "tcp", "-host-ip", "0.0.0.0", "-host-port", str(port)]
        said += ["-container-ip", address, "-container-port", str(port)]
        return self._start("host", "docker-proxy", ["-I", "-S", "-c", _WAIT, *said])

    def lose(self, device: str) -> None:
        """Move a device of the host into a namespace that nobody can find."""
        loser = self._start("host", "loser", ["-I", "-S", "-c", _LOSE])
        self.run("host", "ip", "link", "set", device, "netns", str(loser.pid))
        assert loser.stdin is not None
        assert loser.stdout is not None
        loser.stdin.write("\n")
        loser.stdin.flush()
        assert loser.stdout.readline() == "lost\n"

    def end(self, process: subprocess.Popen[str]) -> None:
        """End a process and wait until it is gone."""
        process.kill()
        process.wait(timeout=30)

    def topology(self) -> Topology:
        """What is there now, with what the engine would say."""
        inodes = {name: os.stat(f"/proc/{holder.pid}/ns/net").st_ino for name, holder in self.holders.items()}
        inventory = read_inventory(only=set(inodes.values()))
        # The other namespaces of this machine are no part of the scene.
        own = {inode: facts for inode, facts in inventory.namespaces.items() if facts.entered}
        containers = tuple(self.containers.values())
        return join(
            replace(inventory, namespaces=own),
            containers=containers,
            networks=(self.network,),
            deployment=from_engine(
                containers,
                (self.network,),
                name="scene",
                host_addresses=("192.0.2.1",),
                platform=Platform(userland_proxy=True),
            ),
            docker_host=inodes["host"],
            engine="the scene",
            userland_proxy=True,
        )

    def findings(self) -> tuple[Finding, ...]:
        """What the rules say of it."""
        return check_topology(self.topology())

    def add_container(
        self, name: str, *, ports: tuple[int, ...] = (), asked: tuple[int, ...] = (), **state: object
    ) -> None:
        """A container as the engine would tell it; one without a namespace here has not been started."""
        holder = self.holders.get(name)
        made = ContainerState(
            status=Status.CREATED if holder is None else Status.RUNNING,
            pid=0 if holder is None else holder.pid,
            exit_code=0,
            oom_killed=False,
            error=str(state.get("error", "")),
        )
        self.containers[name] = Container(
            id=name.encode().hex().ljust(64, "0"),
            name=name,
            image="apache/kafka:3.9.1",
            image_id="",
            state=made,
            entrypoint=(),
            command=("/etc/kafka/docker/run",),
            environment=_environment(name),
            labels={},
            hostname=name,
            domainname="",
            network_mode="kafka",
            extra_hosts=(),
            networks=(
                EndpointSettings(
                    network="kafka",
                    network_id=self.network.id,
                    aliases=(name,),
                    ipv4_address=ADDRESSES.get(name, ""),
                    ipv6_address="",
                    gateway=GATEWAY,
                ),
            ),
            ports=tuple(_binding(port) for port in ports),
            requested_ports=tuple(_binding(port) for port in (*ports, *asked)),
            restart_count=0,
        )

    def build(self) -> None:
        """All of it, in order."""
        for name in ("host", "outside", *ADDRESSES):
            self._hold(name)
            self.run(name, "ip", "link", "set", "lo", "up")
        self.run("host", "ip", "link", "add", BRIDGE, "type", "bridge")
        self._cable("eth0", "192.0.2.1/24", "outside", "192.0.2.254/24")
        self.run("host", "ip", "route", "add", "default", "via", "192.0.2.254")
        self.run("host", "ip", "address", "add", f"{GATEWAY}/16", "dev", BRIDGE)
        self.run("host", "ip", "link", "set", BRIDGE, "up")
        self.switch("net/ipv4/ip_forward", "1")
        for number, (name, address) in enumerate(ADDRESSES.items(), 1):
            self._cable(f"veth{number}", "", name, f"{address}/16", mac=MACS[name])
            self.run(name, "ip", "route", "add", "default", "via", GATEWAY)
            self.servers[name] = self.listen(name, PORT, name="java")
        self.run("host", "iptables-nft", "-t", "nat", "-N", "DOCKER")
        self.dnat(PORT, f"{ADDRESSES['kafka-1']}:{PORT}")
        self.servers["proxy"] = self.proxy(ADDRESSES["kafka-1"], PORT)
        self.add_container("kafka-1", ports=(PORT,))
        self.add_container("kafka-2")

    def dnat(self, port: int, target: str) -> None:
        """A NAT rule as the engine writes it."""
        rule = ("-p", "tcp", "--dport", str(port), "-j", "DNAT", "--to-destination", target)
        self.run("host", "iptables-nft", "-t", "nat", "-A", "DOCKER", "!", "-i", BRIDGE, *rule)

    def _cable(self, device: str, address: str, place: str, far: str, mac: str = "") -> None:
        near = str(self.holders[place].pid)
        peer = ("peer", "name", "eth0", *(("address", mac) if mac else ()), "netns", near)
        self.run("host", "ip", "link", "add", device, "type", "veth", *peer)
        given = ("address", "add", address, "dev", device) if address else ("link", "set", device, "master", BRIDGE)
        self.run("host", "ip", *given)
        self.run("host", "ip", "link", "set", device, "up")
        self.run(place, "ip", "address", "add", far, "dev", "eth0")
        self.run(place, "ip", "link", "set", "eth0", "up")

    def _hold(self, name: str) -> None:
        words = ["unshare", "--net", sys.executable, "-I", "-S", "-c", _WAIT]
        self.holders[name] = _started(words)

    def _enter(self, place: str) -> list[str]:
        return ["nsenter", f"--net=/proc/{self.holders[place].pid}/ns/net"]

    def _start(self, place: str, name: str, words: list[str]) -> subprocess.Popen[str]:
        program = self.folder / name
        if not program.exists():
            program.symlink_to(os.path.realpath(sys.executable))
        process = _started([*self._enter(place), str(program), *words])
        self.others.append(process)
        return process


@contextmanager
def scene(folder: Path) -> Iterator[Scene]:
    """One in working order, ended afterwards."""
    needs_root()
    made = Scene(folder=folder)
    try:
        made.build()
        yield made
    finally:
        for process in (*made.others, *made.holders.values()):
            process.kill()
        for process in (*made.others, *made.holders.values()):
            process.communicate(timeout=30)


def _started(words: list[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n", words
    return process


def _binding(port: int) -> PortBinding:
    return PortBinding(target=PORT, protocol="tcp", host_ip="0.0.0.0", published=port)


def _environment(name: str) -> dict[str, str]:
    return {
        "KAFKA_NODE_ID": name[-1] if name[-1].isdecimal() else "9",
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_LISTENERS": f"PLAINTEXT://:{PORT}",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://{name}:{PORT}",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": f"1@kafka-1:{PORT}",
    }
