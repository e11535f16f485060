"""How things are called in one line."""

from netdiag.topology.inventory import LinkId
from netdiag.topology.known import Known
from netdiag.topology.naming import Naming
from netdiag.topology.places import places
from tests.topology.five_brokers import machine
from tests.topology.spaces import ROOT


def test_names() -> None:
    made = machine()
    known = Known(inventory=made.inventory(), containers=made.containers, host=ROOT)
    naming = Naming(known, places(known))
    assert naming.device(LinkId(netns=ROOT, ifindex=3)) == "docker0 of host"
    assert naming.device(LinkId(netns=ROOT, ifindex=77)) == "device 77 of host"
    assert naming.place(12) == "net:[12]"
    assert naming.container(next(iter(made.containers.values()))) == "container shop-broker-1-1"
