"""Neighbours, forwarding entries and VLANs are values that can be told apart and printed as JSON."""

import json
from dataclasses import asdict, replace

from netdiag.linux.neighbour import BridgeVlan, FdbEntry, Neighbour
from tests.netlab.dumps import facts
from tests.netlab.record import recordings


def test_what_differs_is_not_equal() -> None:
    neighbour = Neighbour(ifindex=2, address="10.0.0.1", lladdr="", states=("FAILED",))
    assert neighbour != replace(neighbour, proxy=True)
    entry = FdbEntry(ifindex=2, lladdr="02:00:00:00:00:01")
    assert entry != replace(entry, vlan=1)
    assert BridgeVlan(ifindex=2, vlan=1, vlan_end=1) != BridgeVlan(ifindex=2, vlan=1, vlan_end=2)


def test_every_detail_survives_json() -> None:
    entries = [entry for one in recordings() for entry in facts(one.dumps).fdb]
    assert {"port", "vni", "via"} <= {name for entry in entries for name in entry.details}
    for entry in entries:
        assert json.loads(json.dumps(asdict(entry)))["details"] == entry.details
