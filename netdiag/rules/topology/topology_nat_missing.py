"""A published port has no NAT rule.

Why: Other machines reach a published port through a DNAT rule of the engine. If the rule is gone (a firewall reload,
flushed rules), they get docker-proxy instead, which hides their address from the broker, or no answer at all. The
engine does not watch its rules; it writes them when it or the container starts.

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

Seen: all clients have the address of the network's gateway; without the userland proxy, "Connection refused"

Sources: Docker documentation, packet filtering and firewalls; moby, libnetwork/drivers/bridge.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_place, finding, host_of
from netdiag.topology.graph import Topology

ID = "topology-nat-missing"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every IPv4 port in force without its rule, if all rules of the docker host could be read.

    An engine that writes no rules (iptables off) looks like one whose rules were flushed: then it is a note.
    """
    host = host_of(topology)
    if host is None or host[1].ruleset.unread:
        return
    keeps = any(port.dnat for port in topology.published) or any(
        chain.name.upper().startswith("DOCKER") for table in host[1].ruleset.tables for chain in table.chains
    )
    for port in topology.published:
        container = topology.containers.get(port.container)
        # docker-proxy alone serves [::] for a container without IPv6.
        if not (port.asked and port.in_force) or port.dnat or ":" in port.host_ip or container is None:
            continue
        way = "only docker-proxy, which hides the client's address" if port.proxies else "nothing"
        yield finding(
            ID,
            SEVERITY if keeps else Severity.NOTE,
            at_place(topology, host[0].netns, port.key),
            f'no NAT rule sends "{port.key}" to {container.name}',
            why=f"{way} serves connections from other machines; the engine writes its rules only when it or a "
            f"container starts",
            hint=f"restart {container.name}, or the engine if other ports have no rule either; find out what reloads "
            f"the firewall",
            service=container.name,
        )
