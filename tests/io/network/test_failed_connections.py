"""What a client got, explained in a docker host in miniature: cells in, causes out."""

import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from netdiag.deployment.model.causes import Certainty
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    EndpointOutcome,
    Failed,
    Mechanism,
    NodeEndpoint,
    Reason,
    Verdict,
    Word,
)
from netdiag.io.kernel.inventory import read_inventory
from netdiag.io.network.failed_connections import (
    ATTEMPTS,
    explain,
    explain_proof,
    find_deciding_rule,
    namespace_of,
    unexplained,
    watched,
)
from netdiag.io.network.traced_connection import prove
from netdiag.linux.netns import NamedNamespace, OwnNamespace, ProcessNamespace
from netdiag.topology.path.attempts import CounterEvidence
from netdiag.topology.path.prediction import PathPredictor
from tests.netlab.faults_world import KAFKA, faulty
from tests.netlab.lab import needs_netlab
from tests.real_connections.building import Built, Listening, World, built, pair

REFUSED = Failed(reason=Reason.REFUSED, because="it refuses", ip="192.0.2.1")
ENDPOINT = NodeEndpoint(node_id=1, host="localhost", port=9092)


def test_every_failed_contact_once_bootstraps_first() -> None:
    answered = Answered(node_id=1, cluster_id="x", brokers=(ENDPOINT,))
    outcome = EndpointOutcome(endpoint=ENDPOINT, contact=REFUSED, outcome="refused")
    second = Verdict(word=Word.ADVERTISED, reason="refused", bootstrap=answered, endpoints=(outcome,))
    first = Verdict(word=Word.BOOTSTRAP, reason="refused", bootstrap=REFUSED)
    kafka, host = Address(host="kafka", port=9092), Address(host="192.0.2.1", port=9092)
    cells = (
        Cell(vantage="a", bootstrap=kafka, observed=second),
        Cell(vantage="a", bootstrap=host, observed=first, predicted=first),
        Cell(vantage="b", bootstrap=host),
        Cell(vantage="c", bootstrap=host, observed=first),
    )
    found = unexplained(cells, {"a": OwnNamespace(), "b": OwnNamespace()})
    assert [(one.vantage, str(one.address)) for one in found] == [("a", "192.0.2.1:9092"), ("a", "localhost:9092")]
    assert found[0].predicted is REFUSED
    assert found[1].predicted is None


def test_a_dropped_connection_in_miniature(tmp_path: Path) -> None:
    needs_netlab()
    with faulty(tmp_path) as world:
        seen = world.seen("other", KAFKA, 9092)
        assert isinstance(seen, Failed)
        topology = world.topology()
        name = NamedNamespace(name=world.made.names["other"])
        source = world.made.inodes["other"]
        assert namespace_of(topology, name) == source
        assert namespace_of(topology, ProcessNamespace(pid=os.getpid())) == os.stat("/proc/self/ns/net").st_ino
        assert namespace_of(topology, NamedNamespace(name="nobody")) is None
        verdict = Verdict(word=Word.BOOTSTRAP, reason="timeout", bootstrap=seen)
        cell = Cell(vantage="other", bootstrap=Address(host=KAFKA, port=9092), observed=verdict)
        (explained,) = explain(topology, unexplained((cell,), {"other": name}))
        first = explained.causes[0]
        assert (first.mechanism, first.certainty) == (Mechanism.NETWORK_ISOLATION, Certainty.PROVEN)
        path = PathPredictor(topology).predict(source, KAFKA, 9092)
        assert set(watched(topology, path)) >= {source, world.made.inodes["host"], world.made.inodes["kafka"]}
        predicted, *_ = explain_proof(topology, path, None)
        proven, *_ = explain_proof(topology, path, prove(topology, path))
        assert (predicted.mechanism, predicted.certainty) == (Mechanism.NETWORK_ISOLATION, Certainty.FOUND)
        assert (proven.mechanism, proven.certainty) == (Mechanism.NETWORK_ISOLATION, Certainty.PROVEN)
        works = PathPredictor(topology).predict(world.made.inodes["same"], KAFKA, 9092)
        assert explain_proof(topology, works, prove(topology, works)) == ()


WORLD = World(
    name="deciding",
    spaces=("a", "r", "b"),
    script=(
        *pair("a eth0 10.0.0.1/24", "r a0 10.0.0.254/24"),
        *pair("r b0 10.1.0.254/24", "b eth0 10.1.0.1/24"),
        "a: ip route add default via 10.0.0.254",
        "b: ip route add default via 10.1.0.254",
        "r: echo 1 > /proc/sys/net/ipv4/ip_forward",
        "r: iptables-nft -N OWN",
        "r: iptables-nft -A FORWARD -p tcp -j OWN",
        "r: iptables-nft -A OWN -p tcp --dport 1001 -j DROP",
        "r: iptables-nft -A OWN -p tcp --dport 1002 -j REJECT --reject-with tcp-reset",
        "r: nft add table ip user",
        "r: nft add chain ip user forward { type filter hook forward priority 10 \\; }",
        "r: nft add rule ip user forward tcp dport 1003 counter drop",
        "r: nft add rule ip user forward tcp dport 1004 drop",
        "b: iptables-nft -P INPUT DROP",
        "b: iptables-nft -A INPUT -p tcp --dport 1000:1005 -j ACCEPT",
    ),
    listening=tuple(Listening(space="b", address="0.0.0.0", port=port) for port in range(1000, 1008)),
    asked=(),
    tools=("ip", "iptables-nft", "nft"),
)


@pytest.fixture(scope="module")
def world() -> Iterator[Built]:
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    with built(WORLD) as made:
        yield made


def decided(world: Built, port: int, address: str = "10.1.0.1") -> CounterEvidence:
    inodes = list(world.inodes.values())
    return find_deciding_rule(read_inventory(only=inodes), world.inodes["a"], address, port, watched=inodes)


def run(world: Built, space: str, command: str) -> str:
    enter = ["ip", "netns", "exec", world.names[space], *command.split()]
    return subprocess.run(enter, check=True, capture_output=True, text=True, timeout=60).stdout


def packets(world: Built, space: str, chain: str, pattern: str) -> int:
    """What iptables counts for the rule or policy whose line has the pattern."""
    lines = run(world, space, f"iptables-nft -nvx -L {chain}").splitlines()
    (line,) = (line for line in lines if re.search(pattern, line))
    found = re.search(r"\d+", line)
    assert found is not None
    return int(found.group())


@pytest.mark.bar("causes")
def test_a_rule_that_drops_is_named_by_its_counter(world: Built) -> None:
    before = packets(world, "r", "OWN", "DROP .*dpt:1001")
    found = decided(world, 1001)
    after = packets(world, "r", "OWN", "DROP .*dpt:1001")
    rule = found.proven
    assert rule is not None
    assert (rule.netns, rule.rule.chain, rule.rule.number, rule.packets) == (world.inodes["r"], "OWN", 1, (1, 1, 1))
    assert "--dport 1001" in rule.rule.text
    assert rule.rule.handle is not None
    assert after - before == sum(rule.packets) == ATTEMPTS
    assert found.errno == "EINPROGRESS"
    # the jump that led there was counted, too, and ends nothing
    assert {(one.rule.chain, one.ends) for one in found.counted} == {("FORWARD", False), ("OWN", True)}


def test_a_rule_that_rejects(world: Built) -> None:
    found = decided(world, 1002)
    assert found.errno == "ECONNREFUSED"
    assert found.proven is not None
    assert found.proven.rule.number == 2


def test_a_rule_of_nftables_proper(world: Built) -> None:
    found = decided(world, 1003)
    assert found.proven is not None
    assert (found.proven.rule.table, found.proven.rule.chain) == ("user", "forward")
    assert str(found.proven.rule.handle) in run(world, "r", "nft -a list chain ip user forward").split()


def test_a_rule_without_a_counter_is_not_named_but_told_of(world: Built) -> None:
    found = decided(world, 1004)
    assert found.ending == ()
    assert found.uncounted == 1


def test_a_policy_counts_like_a_rule(world: Built) -> None:
    before = packets(world, "b", "INPUT", r"^Chain INPUT \(policy DROP")
    found = decided(world, 1006)
    after = packets(world, "b", "INPUT", r"^Chain INPUT \(policy DROP")
    assert found.proven is not None
    assert (found.proven.netns, found.proven.rule.text) == (world.inodes["b"], "-P INPUT DROP")
    assert after - before == ATTEMPTS


def test_what_connects_ends_at_no_rule(world: Built) -> None:
    found = decided(world, 1000)
    assert (found.errno, found.ending) == ("", ())


def test_what_no_rule_sees_is_tried_once(world: Built) -> None:
    found = decided(world, 1000, "10.0.0.77")
    assert (found.attempts, found.counted) == (1, ())


@contextmanager
def storm(world: Built, port: int) -> Iterator[None]:
    """Others who meet the same rule all the time."""
    done = threading.Event()

    def send() -> None:
        while not done.wait(0.005):
            with world.open["a"].socket(socket.AF_INET, socket.SOCK_STREAM) as channel:
                channel.connect_ex(("10.1.0.1", port))

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_a_rule_that_others_move_is_never_proven(world: Built) -> None:
    with storm(world, 1001):
        found = decided(world, 1001)
    assert found.proven is None
    (rule,) = found.ending
    assert (rule.rule.chain, rule.foreign) == ("OWN", True)


def test_nothing_is_left_behind(world: Built) -> None:
    def listing() -> list[str]:
        words = ("ip link", "ip addr", "nft list tables", "ip rule")
        return [run(world, space, one) for space in ("a", "r", "b") for one in words]

    before, descriptors = listing(), len(os.listdir("/proc/self/fd"))
    decided(world, 1001)
    assert listing() == before
    assert len(os.listdir("/proc/self/fd")) == descriptors
