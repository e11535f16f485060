"""Routes and rules are values that can be told apart and printed as JSON."""

import json
from dataclasses import asdict, replace

from netdiag.linux.route import NextHop, Route
from tests.netlab.dumps import facts
from tests.netlab.record import recordings


def test_a_route_without_hops_is_not_one_with() -> None:
    route = Route(family=4, destination="10.0.0.0/8", table=254, type="blackhole", scope=0, protocol=3)
    assert route.hops == ()
    assert route != replace(route, hops=(NextHop(gateway="10.0.0.1", ifindex=2),))
    assert NextHop(gateway="", ifindex=2).weight == 1


def test_every_detail_survives_json() -> None:
    found = [one for recording in recordings() for one in facts(recording.dumps).routes]
    assert any(one.details.get("nhid") for one in found)
    assert any(one.details.get("encap") for one in found)
    for one in found:
        printed = json.loads(json.dumps(asdict(one)))
        assert (printed["metrics"], printed["details"]) == (one.metrics, one.details)
    for rule in (one for recording in recordings() for one in facts(recording.dumps).rules):
        assert json.loads(json.dumps(asdict(rule)))["details"] == rule.details
