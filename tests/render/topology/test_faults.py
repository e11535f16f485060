"""A finding or a warning is said of the narrowest thing in the picture that it speaks of."""

from dataclasses import replace

import pytest

from netdiag.findings import ContainerLocation, Finding, Location, Severity, TopologyLocation
from netdiag.render.topology.broker_access import BrokerAccess
from netdiag.render.topology.scene import scene
from netdiag.topology.graph import Unmatched
from netdiag.topology.inventory import LinkId
from tests.topology.five_brokers import SECRET, five_brokers
from tests.topology.namespaces import ROOT

TOPOLOGY = five_brokers()
BROKER = "shop-broker-1-1"
BRIDGE = next(view.bridge for view in TOPOLOGY.networks if view.network.name == "shop_kafka")
PORT = next(port.key for port in TOPOLOGY.published if port.published == 9091)
assert BRIDGE is not None


@pytest.mark.parametrize(
    ("location", "key"),
    [
        (TopologyLocation(place=BROKER), f"place:{BROKER}"),
        (TopologyLocation(place=BROKER, device="eth0"), f"place:{BROKER}"),
        (TopologyLocation(place=BROKER, part="EXTERNAL"), "listener:broker-1/EXTERNAL"),
        (TopologyLocation(place="host", part="broker-1/EXTERNAL"), "listener:broker-1/EXTERNAL"),
        (TopologyLocation(place="host", part=PORT), f"port:{PORT}"),
        (TopologyLocation(place="host", device="br-020202020202"), "network:shop_kafka"),
        (TopologyLocation(place="host", device="eth0"), "device:eth0"),
        (TopologyLocation(place="nowhere"), ""),
        (ContainerLocation(container=BROKER), f"place:{BROKER}"),
    ],
)
def test_where_a_finding_is_said(location: Location, key: str) -> None:
    finding = Finding(rule="some-rule", severity=Severity.ERROR, message="it is broken", location=location)
    drawn = scene(BrokerAccess(topology=TOPOLOGY), [finding])
    said = {**drawn.faults, "": drawn.stray}
    assert [name for name, faults in said.items() if faults] == [key]
    assert said[key][0].rule == "some-rule"


@pytest.mark.parametrize(
    ("link", "key"),
    [(BRIDGE, "network:shop_kafka"), (LinkId(netns=ROOT, ifindex=2), "device:eth0"), (None, "")],
)
def test_where_a_warning_is_said(link: LinkId | None, key: str) -> None:
    loose = Unmatched(subject="something", because="has no counterpart", link=link)
    drawn = scene(BrokerAccess(topology=replace(TOPOLOGY, unmatched=(loose,))))
    said = {**drawn.faults, "": drawn.stray}
    assert said[key][0].text == "something: has no counterpart"


def test_secrets_are_hidden_and_the_worst_comes_first() -> None:
    location = TopologyLocation(place=BROKER)
    findings = [
        Finding(rule="a", severity=Severity.NOTE, message="small", location=location),
        Finding(rule="b", severity=Severity.ERROR, message=f"password={SECRET}", location=location),
    ]
    (first, second) = scene(BrokerAccess(topology=TOPOLOGY), findings).faults[f"place:{BROKER}"]
    assert (first.rule, second.rule) == ("b", "a")
    assert SECRET not in first.text
