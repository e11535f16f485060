"""Who shares a cable."""

from netdiag.topology.inventory import LinkId
from netdiag.topology.segments import Segment, end_of, is_pair, segment_by_link, segments
from tests.rules.topology_recorded import Recorded

TWO_BRIDGES = """
places:
  host:
    links:
      eth0: {}
      br-a: {kind: bridge}
      a1: {master: br-a, peer: one eth0}
      a2: {master: br-a, peer: two eth0}
      br-b: {kind: bridge}
      b1: {master: br-b, peer: three eth0}
      tap0: {kind: tun, master: br-b}
      lost: {kind: veth}
  one: {links: {eth0: {}}}
  two:
    links:
      eth0: {}
      shim: {kind: macvlan, parent: two eth0}
      tagged: {kind: vlan, parent: two eth0}
  three: {links: {eth0: {}}}
"""


def names_of(recorded: Recorded, segment: Segment) -> set[str]:
    found = recorded.topology
    return {f"{found.places[end.at.netns - 100].name} {end.link.ifname}" for end in segment.ends}


def test_a_bridge_its_far_ends_and_what_stands_on_them_are_one() -> None:
    recorded = Recorded(TWO_BRIDGES)
    found = {frozenset(names_of(recorded, s)): s for s in segments(recorded.topology.inventory)}
    first = found[frozenset({"host br-a", "one eth0", "two eth0", "two shim"})]
    assert first.closed
    assert [at.ifindex for at in first.ports] == [4, 5]
    behind = {end.link.ifname: end.port.ifindex for end in first.ends if end.port is not None}
    assert behind == {"eth0": 5, "shim": 5}
    assert frozenset({"two tagged"}) in found


def test_behind_a_tap_and_a_lost_end_somebody_may_be() -> None:
    recorded = Recorded(TWO_BRIDGES)
    found = {frozenset(names_of(recorded, s)): s.closed for s in segments(recorded.topology.inventory)}
    assert not found[frozenset({"host br-b", "three eth0"})]
    assert not found[frozenset({"host lost"})]
    assert not found[frozenset({"host eth0"})]


def test_two_bridges_that_are_joined_by_a_cable_are_one_segment() -> None:
    recorded = Recorded(
        "places: {host: {links: {br-a: {kind: bridge}, a: {master: br-a, peer: host b}, b: {master: br-b}, "
        "br-b: {kind: bridge}}}}"
    )
    (segment,) = segments(recorded.topology.inventory)
    assert len(segment.bridges) == 2
    assert segment.closed


def test_ports_of_a_filtering_bridge_have_their_vlan() -> None:
    recorded = Recorded(
        "places: {host: {links: {br: {kind: bridge, details: {vlan_filtering: 1}}, "
        "p: {master: br, peer: one eth0, pvid: 7}, q: {master: br, peer: two eth0}}}, "
        "one: {links: {eth0: {}}}, two: {links: {eth0: {}}}}"
    )
    (segment,) = segments(recorded.topology.inventory)
    assert [end.vlan for end in segment.ends] == [None, 7, 0]


def test_a_bond_takes_frames_for_its_ports() -> None:
    recorded = Recorded(
        "places: {host: {links: {bond0: {kind: bond}, eth0: {master: bond0, peer: other a}, "
        "eth1: {master: bond0, peer: other b}}}, other: {links: {a: {}, b: {}}}}"
    )
    (segment,) = segments(recorded.topology.inventory)
    assert [end.link.ifname for end in segment.ends] == ["bond0", "a", "b"]
    assert {end.port for end in segment.ends} == {None}


def test_every_device_knows_its_segment_and_its_other_end() -> None:
    inventory = Recorded(TWO_BRIDGES).topology.inventory
    port, far, bridge = (LinkId(netns=n, ifindex=i) for n, i in ((100, 4), (101, 2), (100, 3)))
    found = segment_by_link(segments(inventory))
    assert found[port] is found[far] is found[bridge]
    assert (end_of(inventory, port), end_of(inventory, bridge)) == (far, None)
    link = inventory.link(port)
    assert link is not None
    assert is_pair(link)


def test_macvlans_that_speak_to_nobody_are_apart() -> None:
    text = "places: {{host: {{links: {{eth0: {{}}, a: {{kind: macvlan, parent: host eth0, details: {{mode: {}}}}}}}}}}}"
    joined, apart = (segments(Recorded(text.format(mode)).topology.inventory) for mode in ("bridge", "vepa"))
    assert [len(joined), len(apart)] == [1, 2]
    assert not any(segment.closed for segment in apart)
