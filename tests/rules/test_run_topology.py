"""Running the rules about topologies: worst first."""

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import TypeVar

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.rules.run_topology import check_topology
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import NamespaceFacts
from netdiag.topology.selection import narrow
from tests.render.topology.topologies import cluster
from tests.topology.five_brokers import five_brokers, hostile

Thing = TypeVar("Thing")


def finding(place: str, severity: Severity) -> Finding:
    return Finding(rule="r", severity=severity, message="m", location=TopologyLocation(place=place))


def test_worst_first_then_by_place() -> None:
    wanted = (finding("b", Severity.ERROR), finding("a", Severity.WARNING), finding("c", Severity.WARNING))
    rule = SimpleNamespace(ID="r", SEVERITY=Severity.ERROR, check=lambda topology: reversed(wanted))
    assert check_topology(cluster(), [rule]) == wanted


def test_every_rule_takes_a_whole_cluster() -> None:
    assert {found.rule.partition("-")[0] for found in check_topology(cluster())} <= {"topology"}


@pytest.mark.parametrize(
    "words",
    [
        {"containers": ("shop-broker-1-1",)},
        {"services": ("client",)},
        {"networks": ("shop_front",)},
        {"services": ("broker-2", "ui")},
    ],
)
def test_whoever_is_left_out_of_a_narrowed_topology_is_not_missed(words: dict[str, tuple[str, ...]]) -> None:
    part = narrow(five_brokers(), **words)
    assert part.whole is not None
    assert check_topology(part) == ()


def test_of_a_narrowed_topology_what_concerns_it_is_told() -> None:
    seen = five_brokers()
    brokers = [c for c in seen.containers.values() if (c.service or "").startswith("broker")]
    lame = {c.id for c in brokers if c.service in ("broker-1", "broker-3")}
    published = tuple(replace(p, proxies=()) if p.container in lame else p for p in seen.published)
    broken = replace(seen, published=published)

    def told(topology: Topology) -> set[str | None]:
        return {found.service for found in check_topology(topology)}

    assert told(broken) == {"shop-broker-1-1", "shop-broker-3-1"}
    assert told(narrow(broken, services=("broker-3",))) == {"shop-broker-3-1"}
    assert told(narrow(broken, services=("broker-2",))) == set()


def holed(topology: Topology, luck: random.Random) -> Topology:
    """The same with parts missing, and nonsense where addresses and names were."""

    def some(things: tuple[Thing, ...]) -> tuple[Thing, ...]:
        return tuple(each for each in things if luck.random() > 0.2)

    def wild(facts: NamespaceFacts) -> NamespaceFacts:
        addresses = tuple(
            replace(a, address=luck.choice([a.address, "", "nonsense", "::1%x"])) for a in facts.addresses
        )
        routes = tuple(
            replace(r, destination=luck.choice([r.destination, "", "x/99", "0.0.0.0/0"])) for r in facts.routes
        )
        return replace(
            facts,
            entered=luck.random() > 0.1,
            links=some(tuple(replace(each, master=luck.choice([each.master, 99, None])) for each in facts.links)),
            addresses=some(addresses),
            routes=some(routes),
            neighbours=some(facts.neighbours),
            fdb=some(facts.fdb),
            listeners=some(facts.listeners),
        )

    spaces = {inode: wild(f) for inode, f in topology.inventory.namespaces.items() if luck.random() > 0.1}
    containers = {key: c for key, c in topology.containers.items() if luck.random() > 0.2}
    return replace(
        topology,
        inventory=replace(topology.inventory, namespaces=spaces),
        places=some(topology.places),
        networks=some(topology.networks),
        published=some(tuple(replace(p, dnat=(), pids=luck.choice([None, (), (7,)])) for p in topology.published)),
        listeners=some(tuple(replace(each, bound=luck.choice([None, (), ("x",)])) for each in topology.listeners)),
        containers=containers,
        userland_proxy=luck.choice([None, True, False]),
    )


def test_no_rule_stumbles_over_what_is_missing() -> None:
    luck, whole = random.Random(7), (five_brokers(), hostile())
    told = {f.rule for number in range(60) for f in check_topology(holed(whole[number % 2], luck))}
    assert len(told) > 8
