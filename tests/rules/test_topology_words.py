"""The words of rules about topologies."""

import pytest

from netdiag.findings import Severity, TopologyLocation
from netdiag.rules.run_topology import check_topology
from netdiag.rules.topology_words import (
    addresses_at,
    at_device,
    at_place,
    device_of,
    finding,
    host_of,
    is_broker,
    overlap,
    parsed,
    parsed_prefix,
    place_name,
    quoted,
    running_places,
    several,
)
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory, LinkId
from tests.rules.topology_recorded import Recorded, container_id

SMALL = Recorded(
    """
places:
  host: {links: {br: {kind: bridge, addresses: [172.20.0.1/16]}}}
  kafka: {links: {eth0: {}}}
  batch: {kind: netns}
brokers: [{key: kafka/A, container: kafka, bind: ["", 9092]}]
"""
).topology
BRIDGE = LinkId(netns=100, ifindex=2)


def test_places_and_devices_have_the_names_that_people_know() -> None:
    assert device_of(SMALL, BRIDGE) == "br of host"
    assert at_device(SMALL, BRIDGE, "x") == TopologyLocation(place="host", device="br", part="x")
    assert at_place(SMALL, 101) == TopologyLocation(place="kafka")
    assert [a.address for a in addresses_at(SMALL, BRIDGE)] == ["172.20.0.1"]


def test_what_is_gone_has_its_number() -> None:
    assert place_name(SMALL, 7) == "net:[7]"
    assert device_of(SMALL, LinkId(netns=100, ifindex=99)) == "device 99 of host"
    assert addresses_at(SMALL, LinkId(netns=7, ifindex=1)) == ()


def test_a_finding_tells_whom_it_concerns() -> None:
    found = finding("r", Severity.NOTE, at_place(SMALL, 101), "m", service="kafka", listener="A")
    assert (found.rule, found.service, found.listener, found.location.place) == (  # type: ignore[union-attr]
        "r",
        "kafka",
        "A",
        "kafka",
    )


def test_hosts_containers_and_brokers() -> None:
    host = host_of(SMALL)
    assert host is not None
    assert host[0].name == "host"
    assert host_of(Topology(inventory=Inventory(namespaces={}, own=0), places=())) is None
    assert [place.name for place, _, _ in running_places(SMALL)] == ["kafka"]
    assert is_broker(SMALL, container_id("kafka"))
    assert not is_broker(SMALL, container_id("batch"))


def test_addresses_that_are_none_are_nothing() -> None:
    assert [parsed("172.20.0.256"), parsed(""), parsed_prefix("kafka")] == [None, None, None]
    assert str(parsed("fe80::1%eth0")) == "fe80::1"
    assert str(parsed_prefix("172.20.0.7/16")) == "172.20.0.0/16"


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [("10.0.0.0/8", "10.1.0.0/16", True), ("10.0.0.0/8", "11.0.0.0/8", False), ("::/0", "10.0.0.0/8", False)],
)
def test_subnets_overlap(one: str, other: str, common: bool) -> None:
    first, second = parsed_prefix(one), parsed_prefix(other)
    assert first is not None
    assert second is not None
    assert overlap(first, second) is overlap(second, first) is common


def test_long_lists_are_cut() -> None:
    assert (several("ab"), several("abcde")) == ("a, b", "a, b, c and 2 more")


def test_names_in_commands_stay_names() -> None:
    assert (quoted("veth1"), quoted("a;reboot"), quoted("$(x)")) == ("veth1", "'a;reboot'", "'$(x)'")
    hostile = Recorded(
        """
places:
  host:
    links:
      br: {kind: bridge, addresses: [172.20.0.1/16]}
      "v;reboot": {master: br, peer: kafka eth0, up: false}
  kafka: {links: {eth0: {}}}
"""
    )
    (found,) = check_topology(hostile.topology)
    assert found.hint == "ip link set dev 'v;reboot' up"
