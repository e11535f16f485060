"""What changed between two documents, and what is no document to compare with."""

import json
from dataclasses import replace
from typing import Any

import pytest

from netdiag.errors import InputError
from netdiag.linux.netns import Netns
from netdiag.linux.rtnetlink import InterfaceAddress, Link
from netdiag.topology.diff import ChangeKind, Difference, FactChange, differences, load_document, take_snapshot
from netdiag.topology.graph import Cable, CableKind, Place, PlaceKind, Topology
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from netdiag.topology.traffic import with_traffic
from netdiag.traffic.rows import ConnectionRow


def document(**parts: Any) -> dict[str, Any]:
    return {"format": "netdiag-topology", "version": 1, "places": [{"netns": 7, "name": "host"}], **parts}


def host(**parts: Any) -> dict[str, Any]:
    return document(namespaces=[{"inode": 7, "entered": True, **parts}])


def link(**facts: Any) -> dict[str, Any]:
    return {"ifindex": 2, "ifname": "eth0", "flags": 1, "mtu": 1500, "operstate": "UP", **facts}


def test_nothing_changed() -> None:
    assert differences(host(links=[link()]), host(links=[link()])) == ()


def test_what_appeared_and_what_went() -> None:
    before, after = host(links=[link()]), host(links=[link(ifname="eth1")])
    assert [(change.turn, change.kind, change.name) for change in differences(before, after)] == [
        (ChangeKind.APPEARED, "link", "host eth1"),
        (ChangeKind.GONE, "link", "host eth0"),
    ]


def test_what_is_otherwise_than_it_was() -> None:
    (change,) = differences(host(links=[link()]), host(links=[link(mtu=1400, operstate="DOWN")]))
    assert change == Difference(
        turn=ChangeKind.CHANGED,
        kind="link",
        name="host eth0",
        facts=(
            FactChange(name="state", before="UP", after="DOWN"),
            FactChange(name="mtu", before="1500", after="1400"),
        ),
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "is not a document of netdiag topology"),
        (b"{}", "is not a document of netdiag topology"),
        (b'{"format": "netdiag-topology", "version": 1}', "has no list of places"),
        (b'{"format": "netdiag-topology", "version": 1, "places": [], "namespaces": "x"}', "has no list of namespaces"),
        (b'{"format": "netdiag-topology"}', "is version of another kind"),
        (
            b'{"format": "netdiag-topology", "version": 2}',
            "is version 2 of the document, but this netdiag reads version 1",
        ),
        (b'{"format": "netdiag-topology", "version": ' + b"9" * 4000 + b"}", "is version of another kind"),
    ],
)
def test_other_files_are_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_document(data, "before.json")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("before.json: ")


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [None], [1], ["x"], [[]], [{}], {"a": 1}])
def test_parts_of_another_shape_are_passed_over(odd: object) -> None:
    """A document may come from anybody; every part of it may hold anything."""
    names = ("places", "namespaces", "containers", "networks", "kafka_listeners", "published", "reach", "findings")
    parts: dict[str, object] = dict.fromkeys((*names, "unmatched", "processes"), odd)
    inside = (
        "links",
        "addresses",
        "routes",
        "rules",
        "neighbours",
        "vlans",
        "listeners",
        "ruleset",
        "settings",
        "ends",
    )
    hostile = document(**{**parts, "namespaces": [{"inode": 7, "ends": odd, **dict.fromkeys(inside, odd)}]})
    told = differences(document(), json.loads(json.dumps(hostile)))
    assert all(isinstance(change.name, str) for change in told)
    assert differences(hostile, hostile) == ()


def test_each_of_three_that_have_one_name_is_a_thing() -> None:
    assert [change.name for change in differences(host(), host(links=[link()] * 3)) if change.kind == "link"] == [
        "host eth0",
        "host eth0 (2)",
        "host eth0 (3)",
    ]


def test_a_name_that_comes_ten_thousand_times_is_few_things() -> None:
    many = host(links=[link()] * 10_000)
    assert len([change for change in differences(host(), many) if change.kind == "link"]) <= 21


def snapshot(**parts: Any) -> dict[tuple[str, str], dict[str, str]]:
    places = [{"netns": 7, "name": "host"}, {"netns": 8, "name": "kafka"}]
    inside = {"inode": 8, "links": [{"ifindex": 2, "ifname": "eth0"}]}
    processes = [{"pid": 17, "comm": "java"}]
    host = {"inode": 7, "entered": True, **parts}
    return take_snapshot({"places": places, "namespaces": [host, inside], "processes": processes})


def test_the_cable_of_a_container_has_the_name_of_its_other_end() -> None:
    """The engine gives it a new name and a new number at every start."""

    def cable(name: str, number: int) -> Any:
        end = {"ifindex": number, "end": {"netns": 8, "ifindex": 2}}
        device = {"ifindex": number, "ifname": name, "kind": "veth", "address": f"02:00:00:00:00:{number}"}
        address = {"ifindex": number, "address": "fe80::1", "prefix_length": 64}
        return snapshot(links=[device], ends=[end], addresses=[address])

    assert cable("veth1a2b3c4", 11) == cable("vethfedcba9", 12)
    assert ("link", "host cable to kafka eth0") in cable("veth1a2b3c4", 11)
    assert ("link", "host veth-mine") in snapshot(links=[{"ifindex": 1, "ifname": "veth-mine", "kind": "veth"}])


def test_learned_neighbours_and_local_routes_are_left_out() -> None:
    neighbours = [
        {"ifindex": 1, "address": "192.0.2.1", "lladdr": "02::1", "states": ["REACHABLE"]},
        {"ifindex": 1, "address": "192.0.2.2", "lladdr": "02::2", "states": ["PERMANENT"]},
    ]
    routes = [
        {"type": "local", "destination": "192.0.2.9/32", "table": 255},
        {"type": "unicast", "destination": "0.0.0.0/0", "table": 254, "hops": [{"gateway": "192.0.2.1", "ifindex": 1}]},
        {"type": "blackhole", "destination": "10.0.0.0/8", "table": 100, "priority": 5},
    ]
    kinds = [key for key in snapshot(neighbours=neighbours, routes=routes) if key[0] in ("neighbour", "route")]
    assert kinds == [
        ("route", "host 0.0.0.0/0 via 192.0.2.1 dev ?"),
        ("route", "host blackhole 10.0.0.0/8 table 100 metric 5"),
        ("neighbour", "host  192.0.2.2 is 02::2"),
    ]


def test_ports_of_the_moment_are_named_by_their_program() -> None:
    def listening(dns: int, passing: int) -> Any:
        return snapshot(
            settings={"local_port_range": [40000, 60000]},
            listeners=[
                {"protocol": "tcp", "address": "127.0.0.11", "port": dns, "pids": [17]},
                {"protocol": "udp", "address": "127.0.0.11", "port": dns + 1, "pids": [17]},
                {"protocol": "udp", "address": "0.0.0.0", "port": passing, "pids": [17]},
                {"protocol": "tcp", "address": "::", "port": passing, "pids": [17]},
                {"protocol": "tcp", "address": "::", "port": 9092, "pids": [17]},
            ],
        )

    assert listening(41000, 42000) == listening(43000, 44000)
    assert ("listener", "host tcp :: port 9092") in listening(1, 2)
    assert listening(41000, 42000)["listener", "host embedded DNS"] == {"program": "java"}


def test_counters_are_not_part_of_a_rule() -> None:
    def filtered(packets: int) -> Any:
        rule = {"text": f"tcp dport 9092 counter packets {packets} bytes {packets * 60} accept"}
        table = {"origin": "nftables", "family": "inet", "name": "t", "chains": [{"name": "c", "rules": [rule]}]}
        return snapshot(ruleset={"tables": [table]})

    assert filtered(1) == filtered(2)
    assert ("filter rule", "host nftables inet t c: tcp dport 9092 counter accept") in filtered(1)


def test_the_port_of_the_embedded_dns_is_not_part_of_a_rule() -> None:
    def filtered(port: int) -> list[str]:
        texts = (
            f"-A DOCKER_OUTPUT -d 127.0.0.11/32 -p tcp -m tcp --dport 53 -j DNAT --to-destination 127.0.0.11:{port}",
            f"-A DOCKER_POSTROUTING -s 127.0.0.11/32 -p udp -m udp --sport {port} -j SNAT --to-source :53",
            f"ip saddr 127.0.0.11 tcp sport {port} snat to :53",
            "-A INPUT -p tcp -m tcp --sport 4711 -j ACCEPT",
        )
        chain = {"name": "c", "rules": [{"text": text} for text in texts]}
        found = snapshot(ruleset={"tables": [{"origin": "x", "family": "ip", "name": "nat", "chains": [chain]}]})
        return [name.partition(": ")[2] for kind, name in found if kind == "filter rule"]

    assert filtered(40001) == filtered(40002)
    assert filtered(1)[0].endswith("--dport 53 -j DNAT --to-destination 127.0.0.11:#")
    assert filtered(1)[3] == "-A INPUT -p tcp -m tcp --sport 4711 -j ACCEPT"


def test_settings_and_sets() -> None:
    found = snapshot(
        settings={"ip_forward": False, "rp_filter": {"all": 0, "veth1a2b3c4": 1}, "bridge_nf_call_iptables": None},
        ruleset={"tables": [{"name": "t", "sets": [{"name": "s", "elements": [["192.0.2.1", None]]}]}]},
    )
    assert found["setting", "host ip_forward"] == {"value": "off"}
    assert ("setting", "host rp_filter of all") in found
    assert not [name for kind, name in found if "veth" in name or "bridge_nf" in name]
    assert found["set", "host   t s"] == {"elements": "192.0.2.1"}


def test_what_the_engine_says() -> None:
    found = take_snapshot(
        {
            "containers": [{"id": "f" * 64, "name": "kafka", "image": "apache/kafka", "status": "running"}],
            "networks": [
                {"name": "n", "driver": "bridge", "members": [{"container": "f" * 64, "address": "10.0.0.2"}]}
            ],
            "kafka_listeners": [
                {"key": "kafka/A", "bind": {"host": "", "port": 9092}, "bound": None, "advertised": None}
            ],
            "published": [{"key": "0.0.0.0:1/tcp", "container": "f" * 64, "target": 1, "pids": [], "by": ["dnat"]}],
            "reach": [
                {"listener": "kafka/A", "source": "host", "destination": "x", "port": 1, "path": {"end": "refused"}}
            ],
            "findings": [{"rule": "r", "message": "m", "location": {"place": "host", "device": "br0", "part": ""}}],
            "unmatched": [{"subject": "s", "because": "b"}],
        }
    )
    assert found["network", "n"]["members"] == "kafka 10.0.0.2"
    assert found["Kafka listener", "kafka/A"] == {
        "binds": "*:9092",
        "advertises": "",
        "protocol": "",
        "listens": "not seen",
        "published": "",
    }
    assert found["published port", "0.0.0.0:1/tcp"]["somebody listens"] == "no"
    assert found["reach", "host to kafka/A by x:1"] == {"ends": "refused", "because": ""}
    assert found["finding", "r host br0"] == {"message": "m"}
    assert found["container", "kafka"]["id"] == "f" * 12


HOST, BROKER, CLIENT = 1, 2, 3
BRIDGE, TO_BROKER, TO_CLIENT = (LinkId(netns=HOST, ifindex=index) for index in (10, 11, 12))
IN_BROKER, IN_CLIENT = LinkId(netns=BROKER, ifindex=2), LinkId(netns=CLIENT, ifindex=2)


def namespace(inode: int, links: dict[int, str], addresses: dict[int, str]) -> NamespaceFacts:
    return NamespaceFacts(
        netns=Netns(inode=inode),
        links=(Link(ifindex=1, ifname="lo", flags=0x9), *(Link(ifindex=i, ifname=n) for i, n in links.items())),
        addresses=(
            InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),
            *(InterfaceAddress(ifindex=i, address=a, prefix_length=24, scope=0) for i, a in addresses.items()),
        ),
    )


TOPOLOGY = Topology(
    inventory=Inventory(
        namespaces={
            HOST: namespace(HOST, {10: "br-a", 11: "veth1", 12: "veth2"}, {10: "172.20.0.1"}),
            BROKER: namespace(BROKER, {2: "eth0"}, {2: "172.20.0.2"}),
            CLIENT: namespace(CLIENT, {2: "eth0"}, {2: "172.20.0.3"}),
        },
        own=HOST,
    ),
    places=(
        Place(netns=HOST, kind=PlaceKind.HOST, name="host", label="host"),
        Place(netns=BROKER, kind=PlaceKind.CONTAINER, name="kafka", label="kafka"),
        Place(netns=CLIENT, kind=PlaceKind.CONTAINER, name="app", label="app"),
    ),
    cables=(
        Cable(kind=CableKind.PORT, a=TO_BROKER, b=BRIDGE),
        Cable(kind=CableKind.PORT, a=TO_CLIENT, b=BRIDGE),
        Cable(kind=CableKind.VETH, a=TO_BROKER, b=IN_BROKER),
        Cable(kind=CableKind.VETH, a=TO_CLIENT, b=IN_CLIENT),
    ),
    host="host",
)
SAID: dict[str, Any] = {
    "client": "172.20.0.3:40000",
    "broker": "172.20.0.2:9092",
    "opening": "complete",
    "ending": "fin",
    "protocol": "kafka",
    "requests": 5,
    "responses": 4,
    "client_bytes": 100,
    "broker_bytes": 700,
    "retransmissions": 1,
    "file": "a.pcapng",
}
REST: dict[str, Any] = {name: 0 if kind is int else None for name, kind in ConnectionRow.__annotations__.items()}
ROW = ConnectionRow(**REST | SAID)
EVERYWHERE = {BRIDGE, TO_BROKER, TO_CLIENT, IN_BROKER, IN_CLIENT}


def test_both_ends_their_cables_and_the_bridge_once() -> None:
    found = with_traffic(TOPOLOGY, [ROW, ROW]).traffic
    assert set(found) == EVERYWHERE
    for each in found.values():
        assert (each.connections, each.failed, each.requests, each.responses) == (2, 0, 10, 8)
        assert (each.request_bytes, each.response_bytes, each.retransmissions) == (200, 1400, 2)
        assert not each.captured


@pytest.mark.parametrize(
    ("name", "link"), [("kafka:eth0", IN_BROKER), ("host:br-a", BRIDGE), ("veth2", TO_CLIENT), ("eth0", None)]
)
def test_where_it_was_captured(name: str, link: LinkId | None) -> None:
    found = with_traffic(TOPOLOGY, [ROW._replace(client="10.0.0.9:1", broker="10.0.0.8:2", interfaces=(name,))]).traffic
    assert {each for each, sum_ in found.items() if sum_.captured} == ({link} if link else set())
    assert set(found) == ({link} if link else set())


def test_an_address_behind_nat_is_told_by_where_it_was_also_seen() -> None:
    row = ROW._replace(broker="192.168.8.133:19092", seen_as=("172.20.0.1:40000>172.20.0.2:9092 on host:br-a",))
    assert set(with_traffic(TOPOLOGY, [row]).traffic) == EVERYWHERE
    assert set(with_traffic(TOPOLOGY, [row._replace(seen_as=None)]).traffic) == {IN_CLIENT, TO_CLIENT, BRIDGE}


def test_loopback_tells_nothing_and_neither_does_an_address_of_two() -> None:
    lo = ROW._replace(client="127.0.0.1:1", broker="127.0.0.1:9092")
    assert with_traffic(TOPOLOGY, [lo]).traffic == {}
    again = namespace(4, {2: "eth0"}, {2: "172.20.0.2"})
    twice = replace(TOPOLOGY, inventory=Inventory(namespaces={**TOPOLOGY.inventory.namespaces, 4: again}, own=HOST))
    assert set(with_traffic(twice, [ROW]).traffic) == {IN_CLIENT, TO_CLIENT, BRIDGE}


def test_only_kafka_and_what_was_meant_for_a_listener() -> None:
    other = ROW._replace(protocol="http")
    assert with_traffic(TOPOLOGY, [other]).traffic == {}
    refused = ROW._replace(protocol="none", opening="refused", listener="EXTERNAL", requests=0)
    assert {each.failed for each in with_traffic(TOPOLOGY, [refused]).traffic.values()} == {1}
