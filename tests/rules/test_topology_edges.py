"""What looks like a defect of a machine's network and is none, and what is one at second sight."""

from dataclasses import replace

import pytest

from netdiag.engine.container import PortBinding
from netdiag.findings import Severity
from netdiag.rules.run_topology import check_topology
from tests.rules.topology_recorded import Recorded, container_id

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
    assert found.message == "networks kafka and late overlap: both have addresses of 172.20.128.0/17"
