"""Rules named by their counters, in a world of namespaces: iptables over nf_tables, nftables and legacy iptables."""

import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from netdiag.io.deciding import ATTEMPTS, decide
from netdiag.io.kernel.inventory import read_inventory
from netdiag.topology.path.attempts import CounterEvidence
from tests.reality.building import Built, Listening, World, built, pair

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
    return decide(read_inventory(only=inodes), world.inodes["a"], address, port, watched=inodes)


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
