"""Running the rules about topologies: worst first."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.rules.run_topology import check_topology
from netdiag.topology.graph import Topology
from netdiag.topology.selection import narrow
from tests.render.topology.topologies import cluster
from tests.topology.five_brokers import five_brokers


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
