"""A device's switches, and that everything of it can be printed as JSON."""

import json
from dataclasses import asdict

from netdiag.linux.link import IFF_LOOPBACK, IFF_LOWER_UP, IFF_UP, Link
from tests.netlab.dumps import facts
from tests.netlab.record import recordings


def test_switches() -> None:
    assert Link(ifindex=1, ifname="lo", flags=IFF_UP | IFF_LOOPBACK).loopback
    dangling = Link(ifindex=2, ifname="eth0", flags=IFF_UP)
    assert (dangling.up, dangling.carrier, dangling.loopback) == (True, False, False)
    assert Link(ifindex=2, ifname="eth0", flags=IFF_LOWER_UP).carrier


def test_every_detail_survives_json() -> None:
    links = [link for one in recordings() for link in facts(one.dumps).links]
    assert sum(bool(link.details) for link in links) > 40
    for link in links:
        printed = json.loads(json.dumps(asdict(link)))
        assert (printed["details"], printed["port"]) == (link.details, link.port)
