"""A docker host in miniature for injected faults: real namespaces, bridges, rules of an engine, sockets and proxies.

Networks a and b are plain, i is internal, n forbids its containers to reach each other. The rules are those that engine
20.10 writes, made with iptables-nft; what the engine would say is a literal.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from netdiag.deployment.model.verdict import Address, Contact
from netdiag.deployment.observation.live_view import netns_vantage
from netdiag.engine.container import Container, ContainerState, EndpointSettings, EngineNetwork, PortBinding, Status
from netdiag.io.kernel.inventory import read_inventory
from netdiag.io.network.observation import observe
from netdiag.topology.graph import Topology
from netdiag.topology.join import join
from tests.real_connections.building import Built, Listening, World, bridge, built, on_bridge, pair
from tests.tools import tool

HOST, LAN = "192.0.2.1", "192.0.2.9"
KAFKA, SAME, OTHER, INNER = "172.30.1.2", "172.30.1.3", "172.30.2.2", "172.30.3.2"
QUIET, QUIET_TOO = "172.30.4.2", "172.30.4.3"
NETWORKS = {"a": "172.30.1", "b": "172.30.2", "i": "172.30.3", "n": "172.30.4"}
MEMBERS = {
    "kafka": ("a", KAFKA),
    "same": ("a", SAME),
    "other": ("b", OTHER),
    "inner": ("i", INNER),
    "quiet": ("n", QUIET),
    "quiet2": ("n", QUIET_TOO),
}
_STAGES = ("DOCKER-ISOLATION-STAGE-1", "DOCKER-ISOLATION-STAGE-2")
_PROXY = """
import socket, sys, threading
listen, port, to, target = sys.argv[4], int(sys.argv[6]), sys.argv[8], int(sys.argv[10])
held = socket.create_server((listen, port), backlog=16)
print("up", flush=True)
while True:
    near, _ = held.accept()
    far = socket.socket()
    far.settimeout(0.3)
    try:
        far.connect((to, target))
    except OSError:
        pass
    near.close()
    far.close()
"""


def _rules() -> str:
    """What engine 20.10 writes for the networks with its userland proxy on, for iptables-restore."""
    say = ["*filter", ":FORWARD DROP [0:0]"]
    say += [f":{chain} - [0:0]" for chain in ("DOCKER-USER", *_STAGES, "DOCKER")]
    say += [f"-A FORWARD -j {chain}" for chain in ("DOCKER-USER", _STAGES[0])]
    say.append(f"-A {_STAGES[0]} ! -s 172.30.3.0/24 -o br-i -j DROP")
    say.append(f"-A {_STAGES[0]} ! -d 172.30.3.0/24 -i br-i -j DROP")
    for name in NETWORKS:
        say.append(f"-A FORWARD -o br-{name} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT")
        say.append(f"-A FORWARD -o br-{name} -j DOCKER")
        say.append(f"-A FORWARD -i br-{name} ! -o br-{name} -j ACCEPT")
        say.append(f"-A FORWARD -i br-{name} -o br-{name} -j {'DROP' if name == 'n' else 'ACCEPT'}")
        say.append(f"-A {_STAGES[0]} -i br-{name} ! -o br-{name} -j {_STAGES[1]}")
        say.append(f"-A {_STAGES[1]} -o br-{name} -j DROP")
    say += ["-A DOCKER-USER -j RETURN", f"-A {_STAGES[0]} -j RETURN", "COMMIT", "*nat", ":DOCKER - [0:0]"]
    say.append("-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER")
    say.append("-A OUTPUT ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j DOCKER")
    say += [f"-A POSTROUTING -s {net}.0/24 ! -o br-{name} -j MASQUERADE" for name, net in NETWORKS.items()]
    return "\n".join([*say, "COMMIT", ""])


WORLD = World(
    name="faults",
    spaces=("host", "lan", *MEMBERS, "alone"),
    script=(
        *pair(f"lan eth0 {LAN}/24", f"host eth0 {HOST}/24"),
        "lan: ip route add 172.30.0.0/16 via 192.0.2.1",
        *(line for name, net in NETWORKS.items() for line in bridge("host", f"br-{name}", f"{net}.1/24")),
        *(line for name, (net, at) in MEMBERS.items() for line in on_bridge(name, "host", f"br-{net}", f"{at}/24")),
        *(
            f"{name}: ip route add default via {NETWORKS[net]}.1"
            for name, (net, _) in MEMBERS.items()
            if name != "inner"
        ),
        "host: echo 1 > /proc/sys/net/ipv4/ip_forward",
        "host: echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables",
        f"host: iptables-nft-restore <<RULES\n{_rules()}RULES",
    ),
    listening=(
        *(Listening(space=name, address="0.0.0.0", port=9092) for name in MEMBERS),
        Listening(space="kafka", address="127.0.0.1", port=9191),
        Listening(space="kafka", address="0.0.0.0", port=9300),
        Listening(space="lan", address="0.0.0.0", port=9092),
        Listening(space="host", address="127.0.0.1", port=9400),
    ),
    asked=(),
    tools=("ip", "iptables-nft", "bridge"),
)


@dataclass(slots=True, kw_only=True)
class Faulty:
    """The world while it stands; `folder` is for programs under names of their own."""

    made: Built
    folder: Path
    containers: dict[str, Container] = field(default_factory=dict)
    networks: dict[str, EngineNetwork] = field(default_factory=dict)
    proxies: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    extra: list[socket.socket] = field(default_factory=list)

    def run(self, line: str) -> None:
        """A line of shell in a space ("host: ip link set eth0 down"), or outside with {names}."""
        space, colon, command = line.partition(": ")
        for one, name in self.made.names.items():
            line, command = line.replace(f"{{{one}}}", name), command.replace(f"{{{one}}}", name)
        inside = ["ip", "netns", "exec", self.made.names[space]] if colon and space in self.made.names else []
        done = subprocess.run(
            [*inside, "sh", "-ec", command if inside else line], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, (line, done.stderr)

    def proxy(self, port: int, to: str = KAFKA, target: int = 9092, listen: str = "0.0.0.0") -> None:
        """A docker-proxy as the engine starts it."""
        program = self.folder / "docker-proxy"
        if not program.exists():
            program.symlink_to(os.path.realpath(sys.executable))
        said = ["-proto", "tcp", "-host-ip", listen, "-host-port", str(port)]
        said += ["-container-ip", to, "-container-port", str(target)]
        words = ["nsenter", f"--net=/run/netns/{self.made.names['host']}", str(program), "-I", "-S", "-c"]
        process = subprocess.Popen([*words, _PROXY, *said], stdout=subprocess.PIPE, text=True)
        self.proxies[port] = process
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"

    def publish(
        self, port: int, name: str = "kafka", target: int = 9092, host_ip: str = "0.0.0.0", *, proxy: bool = True
    ) -> None:
        """A published port: the engine's word for it, its rules and its proxy."""
        net, to = MEMBERS[name]
        on = "" if host_ip == "0.0.0.0" else f"-d {host_ip} "
        self.run(
            f"host: iptables-nft -w -t nat -A DOCKER {on}! -i br-{net} -p tcp --dport {port} "
            f"-j DNAT --to-destination {to}:{target}"
        )
        self.run(
            f"host: iptables-nft -w -A DOCKER -d {to}/32 ! -i br-{net} -o br-{net} -p tcp --dport {target} -j ACCEPT"
        )
        binding = PortBinding(target=target, protocol="tcp", host_ip=host_ip, published=port)
        one = self.containers[name]
        self.containers[name] = replace(
            one, ports=(*one.ports, binding), requested_ports=(*one.requested_ports, binding)
        )
        if proxy:
            self.proxy(port, to, target, host_ip)

    def listen(self, space: str, address: str, port: int, backlog: int = 16) -> socket.socket:
        """One more socket."""
        made = self.made.open[space].socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        made.bind((address, port))
        made.listen(backlog)
        self.extra.append(made)
        return made

    def topology(self) -> Topology:
        """What is there now, with what the engine would say."""
        inodes = self.made.inodes
        inventory = read_inventory(only=set(inodes.values()))
        own = {inode: facts for inode, facts in inventory.namespaces.items() if facts.entered}
        return join(
            replace(inventory, namespaces=own),
            containers=tuple(self.containers.values()),
            networks=tuple(self.networks.values()),
            docker_host=inodes["host"],
            engine="the world",
            userland_proxy=True,
        )

    def seen(self, space: str, address: str, port: int, *, timeout: float = 3.6) -> Contact:
        """What a client of Kafka really gets."""
        vantage = netns_vantage(self.made.names[space])
        found = observe((vantage,), (Address(host=address, port=port),), timeout=timeout)
        (cell,) = found.cells
        assert cell.observed is not None
        return cell.observed.bootstrap

    def close(self) -> None:
        """End what was started beside the namespaces."""
        for process in self.proxies.values():
            process.kill()
            process.communicate(timeout=30)
        for one in self.extra:
            one.close()

    def describe(self) -> None:
        """What the engine would say before anything is wrong."""
        for number, (name, net) in enumerate(NETWORKS.items(), 1):
            self.networks[name] = EngineNetwork(
                id=f"{number:02x}" * 32,
                name=name,
                driver="bridge",
                internal=name == "i",
                subnets=(f"{net}.0/24",),
                gateways=(f"{net}.1",),
                default_bridge=False,
                bridge_name=f"br-{name}",
                icc=name != "n",
            )
        pids = self._holders()
        for name in (*MEMBERS, "alone"):
            on = (MEMBERS[name],) if name in MEMBERS else ()
            self.add(name, pid=pids[name], on=on)

    def add(self, name: str, *, pid: int = 0, on: tuple[tuple[str, str], ...] = (), mode: str = "") -> None:
        """A container; without a pid it has ended."""
        self.containers[name] = Container(
            id=name.encode().hex().ljust(64, "0"),
            name=name,
            image="netdiag-lab/client:1",
            image_id="",
            state=ContainerState(
                status=Status.RUNNING if pid else Status.EXITED, pid=pid, exit_code=0, oom_killed=False, error=""
            ),
            entrypoint=(),
            command=(),
            environment={},
            labels={},
            hostname=name,
            domainname="",
            network_mode=mode or (on[0][0] if on else "none"),
            extra_hosts=(),
            networks=tuple(
                EndpointSettings(
                    network=net,
                    network_id=self.networks[net].id,
                    aliases=(name,),
                    ipv4_address=address if pid else "",
                    ipv6_address="",
                    gateway=f"{NETWORKS[net]}.1",
                )
                for net, address in on
            ),
            ports=(),
            requested_ports=(),
            restart_count=0,
        )

    def _holders(self) -> dict[str, int]:
        """A process in each container's namespace, as its first."""
        found: dict[str, int] = {}
        for name in (*MEMBERS, "alone"):
            words = ["nsenter", f"--net=/run/netns/{self.made.names[name]}", "sleep", "100000"]
            process = subprocess.Popen(words, text=True)
            self.proxies[-process.pid] = process
            found[name] = process.pid
        # nsenter has entered before it becomes sleep, not when it is started
        for name, pid in found.items():
            while os.stat(f"/proc/{pid}/ns/net").st_ino != self.made.inodes[name]:
                time.sleep(0.01)
        return found


@contextmanager
def faulty(folder: Path) -> Iterator[Faulty]:
    """The world in order, removed afterwards; its names are its own, so that two may stand side by side."""
    for name in WORLD.tools:
        tool(name)
    world = replace(WORLD, name=f"f{secrets.token_hex(2)}")
    with built(world) as made:
        one = Faulty(made=made, folder=folder)
        try:
            one.describe()
            yield one
        finally:
            one.close()
