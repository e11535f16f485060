"""A published port lacks its NAT rule.

Why: other machines reach a published port through a DNAT rule of the engine. Where it is gone (a firewall was reloaded,
somebody flushed the rules) they get docker-proxy instead, which hides their address from the broker, or nothing at all.
The engine does not look after its rules; it writes them when it or the container starts.

Bad:
    places:
      host:
        nat: ["-A DOCKER -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:9092"]
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        listeners: [{port: 9092}, {port: 9093}]
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, proxies: [40]}
      - {key: "0.0.0.0:9093/tcp", container: kafka, target: 9093, proxies: [41], dnat: []}  # <- here

Good:
    places:
      host:
        nat:
          - "-A DOCKER -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:9092"
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        listeners: [{port: 9092}]
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, proxies: [40]}
      - {key: "[::]:9092/tcp", container: kafka, target: 9092, proxies: [41], dnat: []}

Seen: all clients have the address of the network's gateway; with the userland proxy off, "Connection refused"

Sources: Docker documentation, packet filtering and firewalls; moby, libnetwork/drivers/bridge.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_place, finding, host_of
from netdiag.topology.graph import Topology

ID = "topology-nat-missing"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every IPv4 port in force without its rule, where all rules of the docker host could be read.

    An engine that keeps no rules (iptables off) has none at all, like one whose rules were flushed: then it is a note.
    """
    host = host_of(topology)
    if host is None or host[1].ruleset.unread:
        return
    keeps = any(port.dnat for port in topology.published) or any(
        chain.name.upper().startswith("DOCKER") for table in host[1].ruleset.tables for chain in table.chains
    )
    for port in topology.published:
        container = topology.containers.get(port.container)
        # A container without IPv6 is served on [::] by its docker-proxy alone.
        if not (port.asked and port.in_force) or port.dnat or ":" in port.host_ip or container is None:
            continue
        way = "its docker-proxy, which hides who connects" if port.proxies else "nothing"
        yield finding(
            ID,
            SEVERITY if keeps else Severity.NOTE,
            at_place(topology, host[0].netns, port.key),
            f"no NAT rule leads {port.key} to {container.name}",
            why=f"other machines reach it through {way}; the engine writes its rules only when it starts something",
            hint=f"restart {container.name}, or the engine if others lack theirs; look what reloads the firewall",
            service=container.name,
        )
