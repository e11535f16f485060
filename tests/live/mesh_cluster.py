"""Two clusters of stand-in brokers on one network, one with a real ZooKeeper, one with a quorum; ways to harm them.

What is cut is known twice: from what was injected, and by plain sockets of the C library from inside each container.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from netdiag.deployment.prediction.mesh import Edge, Mesh, is_cut, mesh_edges
from netdiag.io.engine.live_deployment import read_live
from netdiag.io.network.observation import observe
from tests.lab.errors import LabError
from tests.lab.image_set import CP_KAFKA, CP_ZOOKEEPER
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.tools import tool
from tests.worlds import comparison
from tests.worlds.comparison import wait_until_listening

PATIENCE = 8.0
_START_LIMIT = 90.0
_BROKERS = (1, 2, 3)
_STUB = "stub"
_ORACLE = """
import json, socket, struct, sys
from concurrent.futures import ThreadPoolExecutor
patience, ways = json.loads(sys.argv[1])
def answers(way):
    kind, host, port = way
    try:
        found = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)
        with socket.create_connection(found[0][4], patience) as channel:
            asked = b"srvr" if kind == "zookeeper" else struct.pack(">ihhih", 10, 18, 0, 7, 0)
            channel.sendall(asked)
            return bool(channel.recv(4))
    except OSError:
        return False
with ThreadPoolExecutor(16) as pool:
    print(json.dumps(list(pool.map(answers, ways))))
"""

Way = tuple[str, str, str, int]
"""Kind, source, target, port."""


def way(edge: Edge) -> Way:
    """An edge without what was seen of it."""
    return (edge.kind.value, edge.source, edge.target, edge.address.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """One fault: what it cuts, by its own rule, and how it is undone. `at` are the services that it touches."""

    name: str
    at: tuple[str, ...]
    cuts: Callable[[Way], bool]
    undo: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The running stack, and every way that it needs."""

    lab: Lab
    stack: Stack
    ways: frozenset[Way]

    def pid(self, service: str) -> int:
        """A process of a container."""
        return self.stack.state(service).pid

    def address(self, service: str) -> str:
        """Where it is on the one network."""
        return next(iter(self.stack.state(service).networks.values()))

    def mesh(self) -> Mesh:
        """What netdiag sees now."""
        live = read_live(host=self.lab.engine.docker_host, project=self.stack.project)
        edges = mesh_edges(live.deployment.with_down(live.stopped))
        return observe(live.vantages, (), edges=edges, timeout=PATIENCE).mesh

    def oracle(self, ways: Sequence[tuple[Way, str]]) -> dict[Way, bool]:
        """Whether somebody answers, for each way and the host that stands for its target."""
        by_source: dict[str, list[tuple[Way, str]]] = {}
        for one in ways:
            by_source.setdefault(one[0][1], []).append(one)
        with ThreadPoolExecutor(len(by_source) or 1) as pool:
            found = pool.map(lambda source: self._answers(source, by_source[source]), by_source)
            return {at: answer for part in found for at, answer in part.items()}

    def _answers(self, source: str, ways: Sequence[tuple[Way, str]]) -> dict[Way, bool]:
        pid = self.pid(source)
        if not pid:
            return {one: False for one, _ in ways}
        asked = [(kind, host, port) for (kind, _, _, port), host in ways]
        inside = [tool("nsenter"), "-t", str(pid), "-m", "-n", "--", "/usr/bin/python3", "-c", _ORACLE]
        names = {"RES_OPTIONS": "timeout:1 attempts:2"}
        done = run([*inside, json.dumps([PATIENCE, asked])], env=names, timeout=90, check=False)
        # It may have ended just now.
        answers = json.loads(done.stdout) if done.returncode == 0 else [False] * len(ways)
        return {one: answer for (one, _), answer in zip(ways, answers, strict=True)}

    def wait_until_whole(self) -> None:
        """Until plain sockets get an answer on every way.

        A broker that comes back before ZooKeeper has forgotten it ends again, and is started again.
        """
        deadline = time.monotonic() + _START_LIMIT
        while True:
            ended = [one for one in self.stack.containers() if not one.is_running]
            for container in ended:
                self._docker("start", container.id)
            if ended and time.monotonic() < deadline:
                time.sleep(1)
                continue
            found = self.oracle([(one, one[2]) for one in sorted(self.ways)])
            if all(found.values()):
                return
            if time.monotonic() > deadline:
                raise LabError(f"not whole: {sorted(one for one, answer in found.items() if not answer)}")
            time.sleep(0.2)

    # The faults.

    def stop(self, service: str) -> Injected:
        """The container is killed; nothing starts there any more."""
        self.lab.engine.docker("kill", self.stack.container(service))
        return self._fault("stopped", (service,), lambda w: w[2] == service, lambda: self._start(service))

    def pause(self, service: str) -> Injected:
        """The kernel accepts, nobody answers."""
        self.lab.engine.docker("pause", self.stack.container(service))
        again = self.stack.container(service)
        return self._fault("paused", (service,), lambda w: w[2] == service, lambda: self._docker("unpause", again))

    def unlink(self, service: str) -> Injected:
        """Its own device is down."""
        self._inside(service, "ip", "link", "set", "eth0", "down")
        return self._fault(
            "link down",
            (service,),
            lambda w: service in w[1:3],
            lambda: self._inside(service, "ip", "link", "set", "eth0", "up"),
        )

    def pull(self, service: str) -> Injected:
        """Its port is taken off the bridge."""
        device, bridge = self._port(service)
        self._host("ip", "link", "set", device, "nomaster")
        return self._fault(
            "port off the bridge",
            (service,),
            lambda w: service in w[1:3],
            lambda: self._put_back(device, bridge),
        )

    def drop_one_way(self, source: str, target: str, port: int) -> Injected:
        """What `source` sends to a port of `target` is dropped on the bridge."""
        words = ("-s", self.address(source), "-d", self.address(target), "-p", "tcp", "--dport", str(port))
        return self._dropped("dropped one way", (source, target), [words], lambda w: w[1:] == (source, target, port))

    def drop_both_ways(self, one: str, other: str) -> Injected:
        """Nothing gets from one to the other."""
        here, there = self.address(one), self.address(other)
        rules = [("-s", here, "-d", there), ("-s", there, "-d", here)]
        return self._dropped("dropped both ways", (one, other), rules, lambda w: {w[1], w[2]} == {one, other})

    def silence_names(self, service: str) -> Injected:
        """Its name server answers no more."""
        words = ("OUTPUT", "-d", "127.0.0.11", "-j", "DROP")
        self._inside(service, "iptables", "-I", *words)
        return self._fault(
            "name server gone",
            (service,),
            lambda w: w[1] == service,
            lambda: self._inside(service, "iptables", "-D", *words),
        )

    def cut_from_zookeeper(self, service: str) -> Injected:
        """Nothing of it gets to ZooKeeper."""
        words = ("-s", self.address(service), "-d", self.address("zookeeper"))
        return self._dropped(
            "ZooKeeper cut off", (service, "zookeeper"), [words], lambda w: w[1:3] == (service, "zookeeper")
        )

    def kill_controller(self) -> Injected:
        """The quorum's only member is killed."""
        return self.stop("controller")

    def _dropped(
        self, name: str, at: tuple[str, ...], rules: Sequence[tuple[str, ...]], cuts: Callable[[Way], bool]
    ) -> Injected:
        for words in rules:
            self._host("iptables", "-I", "FORWARD", *words, "-j", "DROP")

        def undo() -> None:
            for words in rules:
                self._host("iptables", "-D", "FORWARD", *words, "-j", "DROP")

        return self._fault(name, at, cuts, undo)

    def _fault(self, name: str, at: tuple[str, ...], cuts: Callable[[Way], bool], undo: Callable[[], None]) -> Injected:
        return Injected(name=f"{name} ({', '.join(at)})", at=at, cuts=cuts, undo=undo)

    def _start(self, service: str) -> None:
        # Whoever undoes the last fault waits until all is whole: others may be in force still.
        self._docker("start", self.stack.container(service))

    def _docker(self, *words: str) -> None:
        self.lab.engine.docker(*words)

    def _inside(self, service: str, *words: str) -> None:
        run([tool("nsenter"), "-t", str(self.pid(service)), "-n", "--", tool(words[0]), *words[1:]])

    def _put_back(self, device: str, bridge: str) -> None:
        self._host("ip", "link", "set", device, "master", bridge)

    def _host(self, *words: str) -> str:
        netns = f"/run/netns/{self.lab.engine.record.host_netns}"
        return run([tool("nsenter"), f"--net={netns}", "--", tool(words[0]), *words[1:]]).stdout

    def _port(self, service: str) -> tuple[str, str]:
        """The docker host's end of the cable, and the bridge that it is on."""
        inside = [tool("nsenter"), "-t", str(self.pid(service)), "-n", "--", tool("ip"), "-o", "link", "show", "eth0"]
        number = re.search(r"eth0@if(\d+)", run(inside).stdout)
        shown = self._host("ip", "-o", "link")
        found = re.search(rf"^{number[1]}: (\w+)@.* master (\S+)", shown, re.MULTILINE) if number else None
        if found is None:
            raise LabError(f"the cable of {service} was not found")
        return found[1], found[2]


def expected_ways() -> frozenset[Way]:
    """Every way that the two clusters need, by hand."""
    ways: set[Way] = set()
    for form in "zk":
        names = [f"{form}{number}" for number in _BROKERS]
        ways |= {("inter-broker", a, b, 9092) for a in names for b in names if a != b}
        ways |= {("zookeeper", a, "zookeeper", 2181) for a in names if form == "z"}
        ways |= {("controller", a, "controller", 9093) for a in names if form == "k"}
    return frozenset(ways)


@contextmanager
def running(lab: Lab, folder: Path) -> Iterator[Cluster]:
    """Both clusters for the block, whole at its begin."""
    file = folder / "compose.yml"
    file.write_text(json.dumps({"services": _services(), "networks": {"kafka": {}}}))
    shutil.copyfile(Path(comparison.__file__).with_name("stub.py"), folder / _STUB)
    (folder / _STUB).chmod(0o755)
    with lab.up(file, wait="none") as stack:
        wait_until_listening(stack)
        cluster = Cluster(lab=lab, stack=stack, ways=expected_ways())
        cluster.wait_until_whole()
        yield cluster


def differences(cluster: Cluster, faults: Sequence[Injected]) -> tuple[int, list[str]]:
    """How many ways were compared, and where netdiag, the rules that were injected and plain sockets do not agree."""
    mesh = cluster.mesh()
    hosts = {way(edge): edge.address.host for edge in mesh.edges}
    answered = cluster.oracle(list(hosts.items()))
    gone = {fault.at[0] for fault in faults if fault.name.startswith("stopped")}
    wanted = {one for one in cluster.ways if one[1] not in gone}
    found = [f"missing: {one}" for one in sorted(wanted - set(hosts))]
    found += [f"not needed: {one}" for one in sorted(set(hosts) - wanted)]
    for edge in mesh.edges:
        injected = any(fault.cuts(way(edge)) for fault in faults)
        said = is_cut(edge)
        if not said == injected == (not answered[way(edge)]):
            found.append(
                f"{way(edge)}: netdiag says cut {said}, injected {injected}, an answer came {answered[way(edge)]}: "
                f"{edge.observed.because if edge.observed else 'not looked at'}"
            )
    return len(wanted), found


def _services() -> dict[str, Mapping[str, object]]:
    services: dict[str, Mapping[str, object]] = {
        "zookeeper": {
            "image": CP_ZOOKEEPER,
            "networks": ["kafka"],
            "stop_grace_period": "0s",
            "environment": {"ZOOKEEPER_CLIENT_PORT": "2181", "KAFKA_HEAP_OPTS": "-Xmx96m -Xms64m"},
        },
        "controller": _stub(
            {
                "KAFKA_NODE_ID": "9",
                "KAFKA_PROCESS_ROLES": "controller",
                "KAFKA_LISTENERS": "CONTROLLER://:9093",
                "KAFKA_ADVERTISED_LISTENERS": "CONTROLLER://controller:9093",
                **_quorum(),
            }
        ),
    }
    for number in _BROKERS:
        services[f"z{number}"] = _stub(
            {
                "KAFKA_NODE_ID": str(number),
                "KAFKA_BROKER_ID": str(number),
                "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181",
                "CLUSTER_ID": "A" * 22,
                **_listener(f"z{number}"),
            }
        )
        services[f"k{number}"] = _stub(
            {
                "KAFKA_NODE_ID": str(number),
                "KAFKA_PROCESS_ROLES": "broker",
                **_quorum(),
                **_listener(f"k{number}"),
            }
        )
    return services


def _stub(environment: Mapping[str, str]) -> Mapping[str, object]:
    return {
        "image": CP_KAFKA,
        "networks": ["kafka"],
        "volumes": [f"./{_STUB}:/etc/confluent/docker/run:ro"],
        "stop_grace_period": "0s",
        "environment": environment,
    }


def _listener(name: str) -> Mapping[str, str]:
    return {"KAFKA_LISTENERS": "PLAINTEXT://:9092", "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://{name}:9092"}


def _quorum() -> Mapping[str, str]:
    return {
        "CLUSTER_ID": "MkU3OEVBNTcwNTJENDM2Qk",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "9@controller:9093",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    }
