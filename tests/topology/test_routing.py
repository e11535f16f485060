"""Indexes of an inventory."""

from dataclasses import replace

import pytest

from netdiag.linux.rtnetlink import Detail, KernelSettings, Link, RoutingRule
from netdiag.topology.inventory import (
    IndexedInventory,
    IndexedNamespace,
    LinkId,
    address_bits,
    family_of,
    in_prefix,
    parse_prefix,
)
from netdiag.topology.path.routing import (
    ChosenRoute,
    Flow,
    InputRoute,
    NoRoute,
    UnknownRoute,
    device_address,
    is_local,
    look_up_route,
    route_input,
    source_address,
)
from tests.topology.namespaces import Wires


@pytest.mark.parametrize(
    ("address", "range_", "inside"),
    [
        ("10.0.0.1", "10.0.0.0/8", True),
        ("11.0.0.1", "10.0.0.0/8", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::/64", True),
        ("fe81::1", "fe80::/64", False),
        ("1.2.3.4", "0.0.0.0/0", True),
    ],
)
def test_an_address_lies_in_a_range(address: str, range_: str, inside: bool) -> None:
    assert in_prefix(address_bits(address), parse_prefix(range_)) is inside
    assert family_of(address) == (6 if ":" in address else 4)


def test_a_switch_counts_for_one_device_or_for_all() -> None:
    made = Wires()
    made.space("a", rp_filter=(("all", 0), ("eth0", 1)), route_localnet=(("all", 1),))
    namespace = IndexedNamespace(made.spaces["a"].facts())
    eth0, eth1 = Link(ifindex=2, ifname="eth0"), Link(ifindex=3, ifname="eth1")
    assert [namespace.setting("rp_filter", link) for link in (eth0, eth1, None)] == [1, 0, 0]
    assert namespace.setting("route_localnet", eth1) == 1


def test_a_bridge_filters_by_its_own_switch_or_that_of_all() -> None:
    bridge = Link(ifindex=2, ifname="br0", kind="bridge")
    own = Link(ifindex=2, ifname="br0", kind="bridge", details={"nf_call_iptables": 1})
    for value, link, expected in (
        (None, own, False),
        (False, bridge, False),
        (False, own, True),
        (True, bridge, True),
    ):
        made = Wires()
        made.space("a").settings = KernelSettings(bridge_nf_call_iptables=value)
        assert IndexedNamespace(made.spaces["a"].facts()).filters_bridged(4, link) is expected


def test_what_stands_on_a_device_is_found_in_whatever_namespace() -> None:
    made = Wires()
    made.space("host")
    made.space("c")
    parent = made.device("host", "eth0")
    child = made.device("c", "mv0", "macvlan")
    made.spaces["c"].ends[child.ifindex] = parent
    index = IndexedInventory(made.inventory)
    assert index.children(parent) == [child]
    assert index.end(child) == parent
    assert index.namespace(1) is None
    assert index.link(LinkId(netns=1, ifindex=1)) is None


def wires(**settings: object) -> Wires:
    made = Wires()
    made.space("r", **settings)  # type: ignore[arg-type]
    made.device("r", "eth0", "", "10.0.0.1/24")
    made.device("r", "eth1", "", "10.1.0.1/24")
    return made


def namespace(made: Wires, *rules: RoutingRule) -> IndexedNamespace:
    facts = made.spaces["r"].facts()
    return IndexedNamespace(replace(facts, rules=tuple(sorted((*facts.rules, *rules), key=lambda r: r.priority))))


def rule(priority: int, table: int = 254, action: str = "lookup", **more: Detail) -> RoutingRule:
    prefixes = {name: str(more.pop(name)) for name in ("from_prefix", "to_prefix") if name in more}
    return RoutingRule(family=4, priority=priority, action=action, table=table, details=more, **prefixes)


def device(found: object) -> int | None:
    assert isinstance(found, ChosenRoute), found
    return found.hop.ifindex if found.hop else None


def test_the_longest_prefix_wins_then_the_least_metric() -> None:
    made = wires()
    made.route("r", "0.0.0.0/0", "10.0.0.9", 2)
    made.route("r", "192.168.0.0/16", "10.1.0.9", 3, priority=100)
    made.route("r", "192.168.0.0/16", "10.0.0.9", 2, priority=50)
    made.route("r", "192.168.7.0/24", "10.1.0.9", 3)
    here = namespace(made)
    assert [device(look_up_route(here, Flow(destination=d))) for d in ("8.8.8.8", "192.168.1.1", "192.168.7.1")] == [
        2,
        2,
        3,
    ]


@pytest.mark.parametrize(
    ("type_", "errno"), [("unreachable", "EHOSTUNREACH"), ("prohibit", "EACCES"), ("blackhole", "EINVAL")]
)
def test_routes_that_refuse(type_: str, errno: str) -> None:
    made = wires()
    made.route("r", "192.168.0.0/16", type=type_)
    found = look_up_route(namespace(made), Flow(destination="192.168.0.1"))
    assert isinstance(found, NoRoute)
    assert found.errno == errno
    assert type_ in found.because


def test_throw_goes_on_to_the_next_rule() -> None:
    made = wires()
    made.route("r", "192.168.0.0/16", type="throw", table=100)
    made.route("r", "0.0.0.0/0", "10.1.0.9", 3, table=100)
    made.route("r", "0.0.0.0/0", "10.0.0.9", 2)
    here = namespace(made, rule(5, 100))
    assert device(look_up_route(here, Flow(destination="192.168.0.1"))) == 2
    assert device(look_up_route(here, Flow(destination="8.8.8.8"))) == 3


@pytest.mark.parametrize(
    ("details", "table"),
    [
        ({"from_prefix": "10.0.0.1"}, 100),
        ({"from_prefix": "10.9.0.0/16"}, 254),
        ({"to_prefix": "8.8.0.0/16"}, 100),
        ({"iif": "lo"}, 100),
        ({"iif": "eth1"}, 254),
        ({"fwmark": "0x1"}, 254),
        ({"fwmark": "0x2", "fwmask": "0x2"}, 100),
        ({"ipproto": "tcp", "dport": 9092}, 100),
        ({"dport": "9000-9099"}, 100),
        ({"dport": 80}, 254),
        ({"ipproto": "udp"}, 254),
        ({"from_prefix": "10.0.0.1", "not": None}, 254),
        ({"suppress_prefixlen": 0}, 254),
        ({"suppress_prefixlen": -1}, 100),
    ],
)
def test_conditions_of_rules(details: dict[str, Detail], table: int) -> None:
    made = wires()
    made.route("r", "0.0.0.0/0", "10.1.0.9", 3, table=100)
    made.route("r", "0.0.0.0/0", "10.0.0.9", 2)
    flow = Flow(destination="8.8.8.8", source="10.0.0.1", mark=6, port=9092)
    found = look_up_route(namespace(made, rule(5, 100, "lookup", **details)), flow)
    assert isinstance(found, ChosenRoute)
    assert found.route.table == table


def test_a_condition_that_is_not_known_is_no_guess() -> None:
    found = look_up_route(namespace(wires(), rule(5, 100, uid_start=7)), Flow(destination="8.8.8.8"))
    assert isinstance(found, UnknownRoute)
    assert "uid_start" in found.because


def test_goto_and_actions_of_rules() -> None:
    made = wires()
    made.route("r", "0.0.0.0/0", "10.0.0.9", 2)
    skipping = namespace(made, rule(5, action="goto", goto=32766), rule(6, action="unreachable"))
    assert device(look_up_route(skipping, Flow(destination="8.8.8.8"))) == 2
    refused = look_up_route(namespace(made, rule(6, action="prohibit")), Flow(destination="8.8.8.8"))
    assert isinstance(refused, NoRoute)
    assert refused.errno == "EACCES"


def test_without_a_route_nothing() -> None:
    found = look_up_route(namespace(wires()), Flow(destination="8.8.8.8"))
    assert isinstance(found, NoRoute)
    assert found.errno == "ENETUNREACH"


def test_source_addresses() -> None:
    made = wires()
    made.spaces["r"].address(2, "10.0.5.1", 24)
    made.route("r", "0.0.0.0/0", "10.0.5.9", 2)
    made.route("r", "9.9.9.0/24", "10.0.0.9", 2, source="10.1.0.1")
    here = namespace(made)
    for destination, expected in (
        ("10.0.0.7", "10.0.0.1"),
        ("10.0.5.7", "10.0.5.1"),
        ("8.8.8.8", "10.0.5.1"),
        ("9.9.9.9", "10.1.0.1"),
        ("10.1.0.1", "10.1.0.1"),
    ):
        found = look_up_route(here, Flow(destination=destination))
        assert isinstance(found, ChosenRoute)
        assert source_address(here, found, destination) == expected
    assert device_address(here, 2, 4, "10.0.5.7") == "10.0.5.1"
    # lo has none of its own to show, and borrows.
    assert device_address(here, 1, 4, "10.0.5.7") == "10.0.0.1"
    assert is_local(here, "10.0.5.1")
    assert not is_local(here, "10.0.5.2")


def arrival(made: Wires, source: str, destination: str) -> InputRoute:
    here = namespace(made)
    return route_input(here, Flow(destination=destination, source=source, iif=here.by_name["eth0"]))


def test_what_arrives_is_local_or_passed_on() -> None:
    assert arrival(wires(), "10.0.0.7", "10.1.0.1").local
    silent = arrival(wires(), "10.0.0.7", "10.1.0.7")
    assert (silent.chosen, silent.errno) == (None, "")
    assert "ip_forward is off" in silent.because
    passed = arrival(wires(forward=True), "10.0.0.7", "10.1.0.7")
    assert passed.chosen is not None
    told = arrival(wires(forward=True), "10.0.0.7", "8.8.8.8")
    assert (told.chosen, told.errno) == (None, "ENETUNREACH")


def test_sources_that_are_not_believed() -> None:
    assert "an address of its own" in arrival(wires(), "10.1.0.1", "10.0.0.1").because
    assert "loopback" in arrival(wires(), "127.0.0.1", "10.0.0.1").because
    assert "route_localnet" in arrival(wires(), "10.0.0.7", "127.0.0.1").because
    strict = wires(rp_filter=(("eth0", 1),))
    assert "not reachable through eth0" in arrival(strict, "10.1.0.7", "10.0.0.1").because
    loose = wires(rp_filter=(("eth0", 2),))
    assert arrival(loose, "10.1.0.7", "10.0.0.1").local
    assert "no route back" in arrival(loose, "8.8.8.8", "10.0.0.1").because
