"""Five real brokers, started once: the live check, the topology, and then things broken on purpose.

The check is complete, agrees with the prediction, is fast and leaves no trace. Every endpoint, rule, proxy, socket and
name is joined.
"""

import codecs
import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from netdiag.app.configuration import CheckOptions
from netdiag.app.registry import RegistryOptions, read_registry
from netdiag.app.storage import StorageQuery, read_storage
from netdiag.deployment.model.deployment import State
from netdiag.deployment.model.verdict import Address, Answered
from netdiag.engine.container import Status
from netdiag.findings import TopologyLocation
from netdiag.io.files.projects import ReadOptions
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.topology import read_topology
from netdiag.kafka.registry import RegistryKind
from netdiag.kafka.storage import MetaProperties
from netdiag.linux.resolver import parse_hosts
from netdiag.rules.topology import check_topology
from netdiag.topology.graph import Published, PublishedBy, Topology, Unmatched
from netdiag.topology.path.name_lookup import NameAnswer, UnknownName, look_up_name
from tests.figures import Report
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import HELPER_LABEL, Stack
from tests.lab.vantages import default_bridge, other_network, same_network
from tests.live import network_truth as truth
from tests.live.runs import measured
from tests.live.stacks import SCENARIOS, Check, check

# Held to seconds, so nothing else may run beside them: these are not for make test.
TIMED = {name: pytest.mark.bar(name, long=True) for name in ("live-time", "black-hole")}


@pytest.fixture(scope="module")
def stack(lab: Lab) -> Iterator[Stack]:
    with lab.up(SCENARIOS / "S01-reference" / "kraft.yml") as up:
        same_network(up)
        other_network(up)
        default_bridge(up)
        yield up


@pytest.fixture(scope="module")
def checked(stack: Stack) -> Check:
    check(stack)
    return check(stack)


def test_every_vantage_is_taken(checked: Check, stack: Stack) -> None:
    labels = [each.vantage.label for each in checked.live.vantages]
    assert labels[:6] == ["docker host", *(f"inside broker-{n}" for n in range(1, 6))]
    assert sum(each.vantage.kind.value == "C" for each in checked.live.vantages) >= 1
    assert sum(each.vantage.kind.value == "O" for each in checked.live.vantages) == 2
    assert labels[-1] == f"netns:{stack.engine.record.lan_netns}"
    assert checked.observed.skipped == checked.live.skipped == ()
    assert checked.observed.notes == ()


def test_what_the_five_have_registered(stack: Stack) -> None:
    """In the metadata log of one of them, and what their listeners tell."""
    project = ReadOptions(project_name=stack.project, environ={})
    report = read_registry(RegistryOptions(check=CheckOptions(read=project), host=stack.engine.docker_host))
    (cluster,) = report.clusters
    assert report.findings == ()
    assert cluster.notes == ()
    assert [registry.kind for registry in cluster.registries][:2] == [RegistryKind.METADATA_LOG, RegistryKind.LISTENER]
    registered = {broker.node_id: broker.endpoints for broker in cluster.registries[0].brokers}
    assert registered == {node.node_id: node.declared for node in cluster.nodes if node.is_broker}
    assert len(registered) == 5
    assert cluster.controller_id is not None
    assert all(
        node.now is not None and node.now.advertised == node.declared for node in cluster.nodes if node.is_broker
    )


def test_data_directories_of_containers_are_read_where_they_are(stack: Stack) -> None:
    """Each lies in the container's own file system: the engine gives a copy of it."""
    host = stack.engine.docker_host
    names = tuple(f"container:{stack.container(f'broker-{number}')}" for number in range(1, 6))
    found = read_storage(StorageQuery(names=names, host=host))
    identities = [(one.meta.cluster_id, one.meta.node_id) for one in found if isinstance(one.meta, MetaProperties)]
    assert identities == [("5L6g3nShT-eMCtK--X86sw", number) for number in range(1, 6)]
    assert [one.path for one in found] == list(names)
    registered = {node.node_id: node.endpoints for node in found[0].state.brokers}
    assert registered[2] == ("INTERNAL://broker-2:29092", "EXTERNAL://localhost:9092")


def test_prediction_and_observation_agree(checked: Check, figure: Report) -> None:
    figure("live cells of five brokers, predicted = observed", len(checked.cells))
    assert checked.disagreements == []
    assert len(checked.cells) >= 120


def test_the_classic_cells(checked: Check) -> None:
    host = checked.words("docker host")
    assert {host[f"localhost:909{n}"] for n in range(1, 6)} == {"ok"}
    assert host["broker-1:29092"] == "bootstrap: unresolved"
    inside = checked.words("inside broker-2")
    assert inside["localhost:29092"] == inside["broker-1:29092"] == "ok"
    assert inside["localhost:9092"] == "partial 1/5"
    assert inside["localhost:9091"] == "bootstrap: refused"
    lan = checked.words(checked.live.vantages[-1].vantage.label)
    assert lan["192.168.8.133:9091"] == "advertised: refused"


@pytest.mark.alone
@TIMED["live-time"]
def test_it_is_fast(stack: Stack, figure: Report) -> None:
    """The command, with its start, the mesh and the registry."""
    words = ("--live", "--all-vantages", "--host", stack.engine.docker_host, "--netns", stack.engine.record.lan_netns)
    runs = [measured("check-listeners", *words, "-p", stack.project, "--format", "json") for _ in range(3)]
    assert [(one.status, one.errors) for one in runs] == [(0, "")] * 3
    document = runs[0].document
    assert document["notes"] == []
    assert document["registered"]
    assert document["mesh"]
    best = min(one.seconds for one in runs)
    figure("live check of five brokers, all vantages, the whole command, best of three", best, "s")
    assert best < 5


def test_what_the_engine_told(checked: Check) -> None:
    deployment = checked.live.deployment
    assert [b.name for b in deployment.brokers] == [f"broker-{n}" for n in range(1, 6)]
    assert {b.member.state for b in deployment.brokers} == {State.RUNNING}
    assert deployment.host_addresses == ("192.168.8.133",)
    assert deployment.platform.userland_proxy is True
    assert checked.live.stopped == {}


def test_the_brokers_own_sockets(checked: Check) -> None:
    for number in range(1, 6):
        ports = {s.port for s in checked.live.sockets[f"broker-{number}"] if s.on_all_addresses}
        assert {29092, 9090 + number} <= ports


def test_a_broker_says_who_it_is_and_on_which_listener(checked: Check) -> None:
    cell = next(c for c in checked.cells if c.vantage == "docker host" and str(c.bootstrap) == "localhost:9093")
    assert cell.observed is not None
    contact = cell.observed.bootstrap
    assert isinstance(contact, Answered)
    assert (contact.node_id, contact.listener, contact.ip) == (3, "EXTERNAL", "127.0.0.1")
    assert contact.cluster_id
    assert [outcome.outcome for outcome in cell.observed.endpoints] == ["ok"] * 5


def test_nothing_is_left_behind(stack: Stack) -> None:
    def traces() -> tuple[object, ...]:
        inside = stack.engine.docker("top", stack.container("broker-1"))
        links = run(["ip", "-n", stack.engine.record.host_netns, "-o", "link"]).stdout
        rules = run(stack.engine.host.argv(["iptables-save"])).stdout.splitlines()
        listed = stack.engine.docker("ps", "-a", "--format", "{{.ID}} {{.State}}")
        # Other labs of this machine come and go, those of `netdiag lab` too.
        named = [name for name in run(["ip", "netns"]).stdout.split() if not name.startswith(("nd", "netdiag-"))]
        return (
            len(inside.splitlines()),
            links,
            [line for line in rules if not line.startswith((":", "#"))],
            listed,
            named,
            threading.active_count(),
            len(os.listdir("/proc/self/fd")),
        )

    check(stack)
    before = traces()
    check(stack)
    assert traces() == before


def test_the_order_of_networks_is_the_resolvers(stack: Stack) -> None:
    """A name on two networks: the engine answers with the first network in our order, internal ones last."""
    docker = stack.engine.docker
    made = [f"{stack.project}-{name}" for name in ("a-inside", "m-plain", "z-plain")]
    client, broker = f"{stack.project}-two", stack.container("broker-1")
    try:
        docker("network", "create", "--internal", made[0])
        docker("network", "create", made[1])
        docker("network", "create", made[2])
        docker("run", "-d", "--init", "--name", client, "--network", made[2], "netdiag-lab/client:1")
        for network in made[:2]:
            docker("network", "connect", network, client)
        for network in made:
            docker("network", "connect", "--alias", "twice", network, broker)
        checked = check(stack, names=(client,), addresses=(Address(host="twice", port=29092),))
        cell = next(c for c in checked.cells if c.vantage == f"container {client}")
        member = next(m for m in checked.live.deployment.members if m.name == client)
        owner = next(m for m in checked.live.deployment.members if m.name == "broker-1")
        first = owner.on(member.attachments[0].network)
        assert [a.network for a in member.attachments] == [made[1], made[2], made[0]]
        assert cell.observed is not None
        assert isinstance(cell.observed.bootstrap, Answered)
        assert first is not None
        assert cell.observed.bootstrap.ip == first.addresses[0]
    finally:
        for network in made:
            docker("network", "disconnect", "-f", network, broker, check=False)
        docker("rm", "-f", client, check=False)
        docker("network", "rm", *made, check=False)


@pytest.mark.alone
@TIMED["black-hole"]
def test_a_frozen_cluster_is_silence_within_the_time(stack: Stack, figure: Report) -> None:
    names = [stack.container(f"broker-{n}") for n in range(1, 6)]
    stack.engine.docker("pause", *names)
    try:
        checked = check(stack, timeout=4)
    finally:
        stack.engine.docker("unpause", *names)
    figure("live check of five frozen brokers, --timeout 4", checked.seconds, "s")
    assert checked.words("docker host")["localhost:9091"] == "bootstrap: timeout"
    assert checked.words("inside broker-2")["broker-1:29092"] == "bootstrap: timeout"
    assert {b.member.state for b in checked.live.deployment.brokers} == {State.PAUSED}
    assert checked.seconds < 6


@pytest.mark.alone
@TIMED["black-hole"]
def test_a_cluster_that_is_all_black_hole_takes_timeout_and_two_seconds(stack: Stack, figure: Report) -> None:
    entrances = [each.entrance for each in check(stack).live.vantages]
    spaces = [open_namespace(entrance) for entrance in entrances]
    rule = ["-p", "tcp", "-m", "multiport", "--dports", "29092,9091:9095", "-j", "DROP"]
    try:
        for space in spaces:
            space.run(lambda: run(["iptables", "-I", "OUTPUT", *rule]))
            space.run(lambda: run(["iptables", "-I", "INPUT", *rule]))
        begin = time.perf_counter()
        checked = check(stack, timeout=4)
        taken = time.perf_counter() - begin
    finally:
        for space in spaces:
            space.run(lambda: run(["iptables", "-D", "OUTPUT", *rule], check=False))
            space.run(lambda: run(["iptables", "-D", "INPUT", *rule], check=False))
            space.close()
    figure("live check of five brokers, every endpoint a black hole, --timeout 4", taken, "s")
    reached = {word for c in checked.cells if (word := str(c.observed)) not in ("bootstrap: unresolved",)}
    assert reached == {"bootstrap: timeout"}
    assert taken < 6


@pytest.fixture(scope="module")
def topology(stack: Stack) -> Topology:
    return read_topology(host=stack.engine.docker_host)


def own(topology: Topology) -> tuple[Unmatched, ...]:
    """What is unmatched of this engine: other namespaces of the machine come and go meanwhile."""
    ours = {place.netns for place in topology.places if place.containers or place.name == topology.host}
    return tuple(one for one in topology.unmatched if one.link is None or one.link.netns in ours)


def test_every_endpoint_is_joined_with_its_pair(stack: Stack, topology: Topology, figure: Report) -> None:
    joined = {}
    for view in topology.networks:
        for member in view.members:
            if member.inside is None or member.port is None or view.bridge is None:
                continue
            links = [topology.inventory.link(at) for at in (member.inside, member.port, view.bridge)]
            inside, port, bridge = (link for link in links if link is not None)
            joined[(topology.containers[member.container].name, view.network.name)] = truth.Endpoint(
                inside=(inside.ifindex, inside.ifname), port=(port.ifindex, port.ifname), bridge=bridge.ifname
            )
    expected = truth.endpoints(stack.engine)
    figure("endpoints of five brokers, joined with their veth pair", len(expected))
    assert joined == expected
    assert len(expected) >= 8


def test_every_network_is_joined_with_its_bridge(stack: Stack, topology: Topology) -> None:
    joined = {}
    for view in topology.networks:
        link = None if view.bridge is None else topology.inventory.link(view.bridge)
        if link is not None:
            joined[view.network.name] = (link.ifindex, link.ifname)
    assert joined == truth.bridges(stack.engine)
    assert {view.network.name for view in topology.networks if view.bridge is None} == {"host", "none"}


def test_every_published_port_is_joined_with_its_rule_and_its_proxy(stack: Stack, topology: Topology) -> None:
    rules = [rule for port in topology.published for rule in port.dnat]
    assert sorted(rules) == sorted(truth.dnat_lines(stack.engine))
    assert len(rules) == 5
    proxies = {
        pid: (port.protocol, port.host_ip, str(port.published), port.to_address, str(port.target))
        for port in topology.published
        for pid in port.proxies
    }
    assert proxies == truth.proxies(stack.engine)
    assert all(port.asked and port.in_force and port.pids for port in topology.published)
    everywhere = [port for port in topology.published if port.host_ip == "0.0.0.0"]
    assert {port.by for port in everywhere} == {(PublishedBy.DNAT, PublishedBy.PROXY)}
    assert topology.userland_proxy is True


def test_every_kafka_listener_is_joined_with_its_socket_and_what_it_advertises(
    stack: Stack, topology: Topology
) -> None:
    client = same_network(stack).container_id
    assert len(topology.listeners) == 15
    for listener in topology.listeners:
        container = topology.containers[listener.container]
        there = truth.listening(container.state.pid)
        spelled = {("*" if address == "::" else address, listener.bind[1]) for address in listener.bound or ()}
        assert spelled == {one for one in there if one[1] == listener.bind[1]}
        assert listener.pids
        if not listener.controller:
            told = truth.metadata(stack.engine, client, f"{listener.broker}:{listener.bind[1]}")
            assert listener.node_id is not None
            assert told[listener.node_id] == listener.advertised
    published = {listener.key: listener.published for listener in topology.listeners if listener.published}
    assert published == {
        f"broker-{number}/EXTERNAL": tuple(port.key for port in topology.published if port.published == 9090 + number)
        for number in range(1, 6)
    }


def judged(topology: Topology) -> set[tuple[str, str]]:
    """What the rules say of this engine's places: rule, and the port, device or container meant."""
    ours = {place.name for place in topology.places if place.containers or place.name == topology.host}
    found = [(finding.rule, finding.location) for finding in check_topology(topology)]
    return {
        (rule.removeprefix("topology-"), at.part or at.device or at.place)
        for rule, at in found
        if isinstance(at, TopologyLocation) and at.place in ours
    }


def test_the_rules_have_nothing_to_say_of_a_healthy_cluster(topology: Topology) -> None:
    assert judged(topology) == set()


def test_a_healthy_cluster_has_nothing_unmatched(stack: Stack, topology: Topology, figure: Report) -> None:
    assert own(topology) == ()
    begin = time.perf_counter()
    again = read_topology(host=stack.engine.docker_host)
    figure("topology of five brokers, without imports", time.perf_counter() - begin, "s")
    assert own(again) == ()


def test_names_mean_what_the_engine_answers(stack: Stack, topology: Topology) -> None:
    vantage = same_network(stack)
    network = topology.containers[vantage.container_id].networks[0].network
    place = next(place for place in topology.places if vantage.container_id in place.containers)
    hosts = vantage.place.hosts.read_text()
    broker = next(c for c in topology.containers.values() if c.service == "broker-1")
    names = ["broker-1", "BROKER-2", broker.name, broker.short_id, f"broker-3.{network}", "localhost"]
    # The GNU C library makes 127.0.0.1 of ::1 where IPv4 is asked for.
    names += [name for name, addresses in parse_hosts(hosts).addresses.items() if ":" not in addresses[0]]
    for name in names:
        words = ["exec", vantage.container_id, "getent", "ahostsv4", name]
        said = {line.split()[0] for line in stack.engine.docker(*words, check=False).splitlines()}
        found = look_up_name(topology, place.netns, name, hosts)
        assert isinstance(found, NameAnswer)
        assert (name, {address for address in found.addresses if ":" not in address}) == (name, said)
    elsewhere = next(p for p in topology.places if other_network(stack).container_id in p.containers)
    assert isinstance(look_up_name(topology, elsewhere.netns, "broker-1", ""), UnknownName)


def test_with_the_engine_but_without_root(stack: Stack) -> None:
    """As a member of the group docker: what the engine says, what can be read without rights, and what cannot."""
    group, spaces = os.stat(stack.engine.record.socket).st_gid, os.open(stack.engine.host.netns, os.O_RDONLY)
    # Nobody may not load what lies in root's folders.
    codecs.lookup("ascii")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            assert ctypes.CDLL(None).setns(spaces, 0) == 0
            os.setgroups([])
            os.setgid(group)
            os.setuid(65534)
            seen = read_topology(host=stack.engine.docker_host)
            unseen = [one.because for one in seen.unmatched if one.subject.startswith("container ")]
            said = f"{seen.host} {len(seen.networks)} {sum(v.bridge is not None for v in seen.networks)} "
            said += f"{len(unseen)} {all('is not visible' in one for one in unseen)} {seen.inventory.complete}"
        except BaseException as error:  # noqa: BLE001 (said by the parent)
            said = repr(error)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    os.close(spaces)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    assert (said,) == ("host 5 3 8 True False",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Containers beside the cluster, each with something broken, as they are seen then."""

    topology: Topology
    before: Topology
    prefix: str

    def published(self, name: str) -> list[Published]:
        identifier = self.container(name)
        return [port for port in self.topology.published if port.container == identifier]

    def container(self, name: str) -> str:
        return next(c.id for c in self.topology.containers.values() if c.name == f"{self.prefix}{name}")

    def told(self) -> set[tuple[str, str]]:
        return {(one.subject.replace(self.prefix, ""), one.because) for one in own(self.topology)}


@pytest.fixture(scope="module")
def broken(stack: Stack) -> Iterator[Broken]:
    """Started side by side, broken one after another, looked at once."""
    engine, docker = stack.engine, stack.engine.docker
    prefix, host = f"{stack.project}-x-", engine.record.host_netns
    network = topology_network(stack)
    internal, lan = f"{prefix}internal", f"{prefix}lan"
    label = ("--label", f"{HELPER_LABEL}={stack.project}")
    docker("network", "create", *label, "--internal", internal)
    uplink = run(["ip", "-n", host, "-o", "-4", "route", "get", "192.168.8.50"]).stdout.split(" dev ")[1].split()[0]
    docker(
        *("network", "create", *label, "-d", "macvlan", "-o", f"parent={uplink}", "--subnet", "192.168.8.0/24"),
        *("--ip-range", "192.168.8.192/27", lan),
    )

    def start(name: str, *options: str, verb: str = "run -d") -> None:
        docker(*verb.split(), "--init", "--name", f"{prefix}{name}", *label, *options, CLIENT)

    with ThreadPoolExecutor(4) as pool:
        started = [
            pool.submit(start, "loose", "--network", network),
            pool.submit(start, "no-proxy", "--network", network, "-p", "18081:80"),
            pool.submit(start, "no-rule", "--network", network, "-p", "18082:80"),
            pool.submit(start, "nothing", "--network", network, "-p", "18083:80/udp"),
            pool.submit(start, "cut", "--network", network, "-p", "18084:80"),
            pool.submit(start, "down", "--network", network),
            pool.submit(start, "inside", "--network", internal, "-p", "18085:80"),
            pool.submit(start, "lan", "--network", lan),
            pool.submit(start, "as-host", "--network", "host"),
            pool.submit(start, "alone", "--network", "none"),
            pool.submit(start, "late", "--network", network, "-p", "9091:80", verb="create"),
        ]
        for one in started:
            one.result()
    start("guest", "--network", f"container:{prefix}loose")
    before = read_topology(host=engine.docker_host)

    def veth(name: str) -> str:
        port = truth.endpoints(engine)[(f"{prefix}{name}", network)].port
        return port[1]

    end = [pid for pid, said in truth.proxies(engine).items() if said[2] in ("18081", "18083")]
    for pid in end:
        os.kill(pid, signal.SIGKILL)
    for line in truth.dnat_lines(engine):
        if "--dport 18082" in line or "--dport 18083" in line:
            run(engine.host.argv(["iptables", "-t", "nat", *line.replace("-A ", "-D ", 1).split()]))
    docker("network", "disconnect", network, f"{prefix}cut")
    run(["ip", "-n", host, "link", "set", veth("loose"), "nomaster"])
    run(["ip", "-n", host, "link", "set", veth("down"), "down"])
    until(lambda: not set(end) & set(truth.proxies(engine)))
    yield Broken(topology=read_topology(host=engine.docker_host), before=before, prefix=prefix)
    stack.remove_helpers()


def topology_network(stack: Stack) -> str:
    """The network of the brokers."""
    return sorted(stack.brokers()[0].networks)[0]


def until(true: Callable[[], bool], limit: float = 20) -> None:
    """Wait for something that takes a moment."""
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_before_it_was_broken_nothing_was_unmatched(broken: Broken) -> None:
    assert own(broken.before) == ()


def test_what_was_broken_is_told(broken: Broken, stack: Stack) -> None:
    network = topology_network(stack)
    told = broken.told()
    loose = f"container loose on network {network}"
    # No rule of IPv6 leads there: without their proxies nothing serves [::].
    ports = {"[::]:18081/tcp": "no-proxy", "0.0.0.0:18083/udp": "nothing", "[::]:18083/udp": "nothing"}
    subjects = {f"published port {key} of container {name}" for key, name in ports.items()}
    assert {subject for subject, _ in told} == {*subjects, loose}
    reasons = dict(told)
    assert {reasons[subject] for subject in subjects} == {"no DNAT rule and no docker-proxy leads to the container"}
    assert "the peer of eth0 of" in reasons[loose]
    assert "is not a port of br-" in reasons[loose]


def test_the_rules_tell_what_was_broken(broken: Broken) -> None:
    """Nobody listens in these containers, which is told of each that has a way to it, before and after."""
    judged_now = judged(broken.topology) - judged(broken.before)
    wanted = {
        *(("proxy-missing", f"{ip}:{port}") for port in ("18081/tcp", "18083/udp") for ip in ("0.0.0.0", "[::]")),
        *(("nat-missing", f"0.0.0.0:{port}") for port in ("18082/tcp", "18083/udp")),
        ("published-not-in-force", "0.0.0.0:18084/tcp"),
        ("container-without-network", f"{broken.prefix}cut"),
    }
    devices = {rule for rule, _ in judged_now - wanted}
    assert wanted <= judged_now
    assert devices == {"port-not-forwarding", "veth-unattached"}
    assert len(judged_now) == len(wanted) + 2


def test_ports_without_their_proxy_or_rule(broken: Broken) -> None:
    four = {name: broken.published(name)[0] for name in ("no-proxy", "no-rule", "nothing")}
    assert (four["no-proxy"].by, four["no-rule"].by, four["nothing"].by) == (
        (PublishedBy.DNAT,),
        (PublishedBy.PROXY,),
        (),
    )
    # Nobody listens there, which can be seen.
    assert {port.pids for port in four.values()} == {()}


@pytest.mark.parametrize("name", ["cut", "inside", "late"])
def test_ports_that_are_asked_for_and_not_in_force(broken: Broken, name: str) -> None:
    (port,) = broken.published(name)
    assert (port.asked, port.in_force, port.by, port.to_address) == (True, False, (), "")
    expected = f"0.0.0.0:9091/tcp ({broken.prefix}late)" if name == "late" else port.key
    assert port.key == expected


def test_a_port_of_a_bridge_that_is_down(broken: Broken) -> None:
    member = next(m for v in broken.topology.networks for m in v.members if m.container == broken.container("down"))
    assert member.port is not None
    link = broken.topology.inventory.link(member.port)
    assert link is not None
    assert not link.up


def test_every_way_to_have_a_network(broken: Broken) -> None:
    places = {
        name: next((p for p in broken.topology.places if broken.container(name) in p.containers), None)
        for name in ("as-host", "loose", "guest", "alone", "lan", "late", "cut")
    }
    assert places["late"] is None
    assert broken.topology.containers[broken.container("late")].state.status is Status.CREATED
    names = {name: place.name for name, place in places.items() if place is not None}
    assert names == {
        "as-host": "host",
        "loose": f"{broken.prefix}loose",
        "guest": f"{broken.prefix}loose",
        "alone": f"{broken.prefix}alone",
        "lan": f"{broken.prefix}lan",
        "cut": f"{broken.prefix}cut",
    }
    shared = places["guest"]
    assert shared is not None
    assert shared.containers == (broken.container("loose"), broken.container("guest"))


def test_a_container_on_the_lan_link(broken: Broken) -> None:
    view = next(view for view in broken.topology.networks if view.network.driver == "macvlan")
    (member,) = view.members
    assert view.bridge is not None
    assert member.inside is not None
    link = broken.topology.inventory.link(member.inside)
    assert link is not None
    assert link.kind == "macvlan"
    assert any(c.a == member.inside and c.b == view.bridge for c in broken.topology.cables)
