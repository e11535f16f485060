"""Rules about topologies: names, addresses, DNAT targets, parts of a topology, cases beside the rules' examples."""

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import TypeVar

import pytest

from netdiag.engine.container import PortBinding
from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.rules.topology import check_topology
from netdiag.rules.topology_findings import (
    addresses_at,
    at_device,
    at_place,
    device_of,
    device_towards,
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
    translations,
)
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from netdiag.topology.selection import narrow
from tests.render.topology.topologies import cluster
from tests.rules.topology_recorded import Recorded, container_id
from tests.topology.five_brokers import five_brokers, hostile

Thing = TypeVar("Thing")


def about(place: str, severity: Severity) -> Finding:
    return Finding(rule="r", severity=severity, message="m", location=TopologyLocation(place=place))


def test_worst_first_then_by_place() -> None:
    wanted = (about("b", Severity.ERROR), about("a", Severity.WARNING), about("c", Severity.WARNING))
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


def holed(topology: Topology, luck: random.Random) -> Topology:
    """The same with parts missing, and nonsense where addresses and names were."""

    def some(things: tuple[Thing, ...]) -> tuple[Thing, ...]:
        return tuple(each for each in things if luck.random() > 0.2)

    def wild(facts: NamespaceFacts) -> NamespaceFacts:
        addresses = tuple(
            replace(a, address=luck.choice([a.address, "", "nonsense", "::1%x"])) for a in facts.addresses
        )
        routes = tuple(
            replace(r, destination=luck.choice([r.destination, "", "x/99", "0.0.0.0/0"])) for r in facts.routes
        )
        return replace(
            facts,
            entered=luck.random() > 0.1,
            links=some(tuple(replace(each, master=luck.choice([each.master, 99, None])) for each in facts.links)),
            addresses=some(addresses),
            routes=some(routes),
            neighbours=some(facts.neighbours),
            fdb=some(facts.fdb),
            listeners=some(facts.listeners),
        )

    spaces = {inode: wild(f) for inode, f in topology.inventory.namespaces.items() if luck.random() > 0.1}
    containers = {key: c for key, c in topology.containers.items() if luck.random() > 0.2}
    return replace(
        topology,
        inventory=replace(topology.inventory, namespaces=spaces),
        places=some(topology.places),
        networks=some(topology.networks),
        published=some(tuple(replace(p, dnat=(), pids=luck.choice([None, (), (7,)])) for p in topology.published)),
        listeners=some(tuple(replace(each, bound=luck.choice([None, (), ("x",)])) for each in topology.listeners)),
        containers=containers,
        userland_proxy=luck.choice([None, True, False]),
    )


def test_no_rule_stumbles_over_what_is_missing() -> None:
    luck, whole = random.Random(7), (five_brokers(), hostile())
    told = {f.rule for number in range(60) for f in check_topology(holed(whole[number % 2], luck))}
    assert len(told) > 8


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
    assert found.hint == "run `ip link set dev 'v;reboot' up`"


def facts_of(text: str) -> NamespaceFacts:
    return Recorded(text).topology.inventory.namespaces[100]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            "-A DOCKER ! -i br-1 -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:19092",
            ("172.20.0.2", 19092, 9092, "tcp"),
        ),
        ("-A DOCKER -p udp --dport 53 -j DNAT --to-destination 10.0.0.1", ("10.0.0.1", 53, 53, "udp")),
        ("-A DOCKER -p tcp --dport 5:9 -j DNAT --to-destination 10.0.0.1", ("10.0.0.1", None, 5, "tcp")),
        ("-A DOCKER_OUTPUT -p tcp --dport 53 -j DNAT --to-destination 127.0.0.11:44321", None),
        ("-A POSTROUTING -j MASQUERADE", None),
    ],
)
def test_the_target_of_a_rule(rule: str, told: tuple[object, ...] | None) -> None:
    found = [
        (str(each.address), each.port, each.published[0], each.protocol)
        for each in translations(facts_of(f"places: {{host: {{nat: ['{rule}']}}}}"))
    ]
    assert found == ([] if told is None else [told])


def test_the_most_exact_route_tells_the_device() -> None:
    facts = facts_of(
        "places: {host: {links: {eth0: {addresses: [192.0.2.1/24]}, br: {kind: bridge, addresses: [172.20.0.1/16]}}, "
        "gateway: 192.0.2.254, routes: [{to: 172.20.9.0/24, dev: eth0, via: 192.0.2.9}]}}"
    )
    told = {
        text: device_towards(facts, address)
        for text in ("172.20.0.2", "172.20.9.9", "8.8.8.8", "192.0.2.7")
        if (address := parsed(text)) is not None
    }
    assert told == {
        "172.20.0.2": LinkId(netns=100, ifindex=3),
        "172.20.9.9": None,
        "8.8.8.8": None,
        "192.0.2.7": LinkId(netns=100, ifindex=2),
    }


HOST = "places: {host: {links: {eth0: {addresses: [192.0.2.10/24]}, br: {kind: bridge, addresses: [172.20.0.1/16]}"
KAFKA = "kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}"
NETWORK = "networks: {kafka: {bridge: br, subnet: 172.20.0.0/16}}"
CABLE = ", veth1: {master: br, peer: kafka eth0}}"

SILENT = {
    "libvirt's stand-in for a hardware address": f"{HOST}, stand-in: {{kind: tun, master: br, up: false}}}}}}}}",
    "a tap without its machine": f"{HOST}, tap0: {{kind: tun, master: br, carrier: false}}}}}}}}",
    "a bridge that is switched off itself": (
        "places: {host: {links: {br: {kind: bridge, up: false}, p: {kind: dummy, master: br, state: disabled}}}}"
    ),
    "ports of one hardware address in different VLANs": (
        "places: {host: {links: {br: {kind: bridge, details: {vlan_filtering: 1}}, "
        "p: {master: br, peer: one eth0, pvid: 7}, q: {master: br, peer: two eth0, pvid: 8}}}, "
        'one: {links: {eth0: {mac: "02:00:00:00:00:01"}}}, two: {links: {eth0: {mac: "02:00:00:00:00:01"}}}}'
    ),
    "an ipvlan has the hardware address of its parent": (
        'places: {host: {links: {eth0: {mac: "02:00:00:00:00:01"}, '
        'i: {kind: ipvlan, parent: host eth0, mac: "02:00:00:00:00:01"}}}}'
    ),
    "a VPN takes all addresses in two halves": (
        f"{HOST}, tun0: {{kind: tun}}}}, routes: [{{to: 128.0.0.0/1, dev: tun0}}]}}}}\n{NETWORK}"
    ),
    "a container with one address on two devices": (
        f"{HOST}{CABLE[:-1]}, veth2: {{master: br, peer: kafka eth1}}}}}}, "
        f"{KAFKA[:-1]}, eth1: {{addresses: [172.20.0.2/16]}}}}}}}}"
    ),
    "an unseen machine may have the gateway": (
        f"{HOST}, tap0: {{kind: tun, master: br}}{CABLE}}}, {KAFKA}, gateway: 172.20.0.99}}}}\n{NETWORK}"
    ),
    "a routed cable has a gateway that nobody has": (
        "places: {host: {links: {cali1: {peer: kafka eth0}}, routes: [{to: 172.20.0.2/32, dev: cali1}]}, "
        f"{KAFKA}, gateway: 172.20.0.77}}}}"
    ),
    "a NAT rule leads to where an unseen machine may be": (
        f"{HOST}, tap0: {{kind: tun, master: br}}}}, "
        'nat: ["-A P -p tcp --dport 80 -j DNAT --to-destination 172.20.0.50:80"]}}'
    ),
    "a swarm's ingress namespace serves by IPVS": (
        f"{HOST}, veth1: {{master: br, peer: ingress eth0}}}}, "
        'nat: ["-A DOCKER-INGRESS -p tcp --dport 80 -j DNAT --to-destination 172.20.0.2:80"]}, '
        "ingress: {kind: netns, links: {eth0: {addresses: [172.20.0.2/16]}}}}"
    ),
    "an engine in a container hands the port on": (
        f"{HOST}{CABLE}, nat: ['-A DOCKER -p tcp --dport 80 -j DNAT --to-destination 172.20.0.2:80']}}, "
        f"{KAFKA}, nat: ['-A DOCKER -p tcp --dport 80 -j DNAT --to-destination 172.30.0.2:80']}}}}\n"
        'published: [{key: "0.0.0.0:80/tcp", container: kafka, target: 80, to: 172.20.0.2, pids: [], proxies: [7]}]'
    ),
    "systemd-resolved beside a published name server": (
        "places: {host: {listeners: [{port: 53, address: 127.0.0.53, by: 5}]}, dns: {links: {eth0: {}}}}\n"
        'published: [{key: "0.0.0.0:53/tcp", container: dns, target: 53}]\nprocesses: {5: {comm: systemd-resolve}}'
    ),
    "not everything could be seen": (
        "places: {host: {links: {br: {kind: bridge}, veth1: {kind: veth, master: br}}}}\ncomplete: false\n"
        "processes: {7: {comm: docker-proxy, argv: [docker-proxy, -container-ip, 10.0.0.9, -host-port, 80]}}"
    ),
    "a parent in a namespace elsewhere": "places: {host: {links: {m: {kind: macvlan, mtu: 9000}}}}",
    "a container without network by wish": "places: {host: {}, batch: {mode: none}, beside: {mode: 'container:batch'}}",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_is_no_defect(text: str) -> None:
    assert check_topology(Recorded(text).topology) == ()


def test_a_wide_route_into_a_tunnel_is_a_note() -> None:
    text = f"{HOST}, tun0: {{kind: tun}}}}, routes: [{{to: 172.16.0.0/12, dev: tun0}}]}}}}\n{NETWORK}"
    assert [f.severity for f in check_topology(Recorded(text).topology)] == [Severity.NOTE]
    exact = text.replace("172.16.0.0/12", "172.20.4.0/24")
    assert [f.severity for f in check_topology(Recorded(exact).topology)] == [Severity.WARNING]


def test_a_hardware_port_without_its_plug_is_a_note() -> None:
    text = f"{HOST}, eth1: {{master: br, carrier: false, state: disabled}}}}}}}}"
    assert [f.severity for f in check_topology(Recorded(text).topology)] == [Severity.NOTE]


@pytest.mark.parametrize(("state", "severity"), [("learning", Severity.NOTE), ("blocking", Severity.WARNING)])
def test_what_the_spanning_tree_does_is_told_mildly(state: str, severity: Severity) -> None:
    text = f"{HOST}, veth1: {{master: br, peer: kafka eth0, state: {state}}}}}}}, {KAFKA}}}}}"
    assert [f.severity for f in check_topology(Recorded(text).topology)] == [severity]


def test_ports_of_host_and_routed_networks_are_not_asked_for_in_vain() -> None:
    text = (
        "places: {host: {}, kafka: {links: {eth0: {}}}}\n"
        'published: [{key: "0.0.0.0:80/tcp", container: kafka, target: 80, in_force: false}]'
    )
    asked = Recorded(text).topology
    assert [f.rule for f in check_topology(asked)] == ["topology-published-not-in-force"]
    kafka = asked.containers[container_id("kafka")]
    routed = PortBinding(target=80, protocol="tcp", host_ip="", published=None)
    for other in (replace(kafka, network_mode="host"), replace(kafka, ports=(routed,))):
        assert check_topology(replace(asked, containers={kafka.id: other})) == ()


def test_a_container_that_only_starts_late_has_its_port_taken_by_loopback_too() -> None:
    text = (
        "places: {host: {listeners: [{port: 53, address: 127.0.0.53, by: 5}]}, "
        'dns: {status: created, mode: none, error: "bind: address already in use"}}\n'
        'published: [{key: "0.0.0.0:53/tcp", container: dns, target: 53, in_force: false}]\n'
        "processes: {5: {comm: systemd-resolve}}"
    )
    assert [f.rule for f in check_topology(Recorded(text).topology)] == ["topology-published-port-taken"]


def test_two_networks_of_the_engine_that_overlap() -> None:
    text = (
        "places: {host: {links: {br: {kind: bridge, addresses: [172.20.0.1/16]}, "
        "br2: {kind: bridge, addresses: [172.20.128.1/17]}}}}\n"
        "networks: {kafka: {bridge: br, subnet: 172.20.0.0/16}, late: {bridge: br2, subnet: 172.20.128.0/17}}"
    )
    (found,) = check_topology(Recorded(text).topology)
    assert found.message == 'networks kafka and late overlap: both have addresses of "172.20.128.0/17"'
