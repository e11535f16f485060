"""A network with enable_icc=false does not isolate its containers.

Why: enable_icc=false is a packet filter rule between the ports of a bridge. iptables sees frames between ports of one
bridge only if net.bridge.bridge-nf-call-iptables is on; without it, every container reaches every other.

Bad:
    places:
      host:
        settings: {bridge_nf_call_iptables: false}
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}  # <- here
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16, icc: false}

Good:
    places:
      host:
        settings: {bridge_nf_call_iptables: false}
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          br-guarded: {kind: bridge, addresses: [172.21.0.1/16], details: {nf_call_iptables: 1}}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}
      guarded: {bridge: br-guarded, subnet: 172.21.0.0/16, icc: false}

Seen: nothing: connections that should be refused succeed

Sources: Docker documentation, com.docker.network.bridge.enable_icc; net/bridge/br_netfilter_hooks.c.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_device, finding, host_of
from netdiag.topology.graph import Topology

ID = "topology-bridge-filter-off"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every network with enable_icc=false whose bridge does not call iptables."""
    host = host_of(topology)
    # If one setting could not be read, the other is unknown too.
    if host is None or host[1].settings.ip_forward is None or host[1].settings.bridge_nf_call_iptables:
        return
    for view in topology.networks:
        bridge = None if view.bridge is None else topology.inventory.link(view.bridge)
        if view.bridge is None or bridge is None or view.network.icc or bridge.details.get("nf_call_iptables"):
            continue
        yield finding(
            ID,
            SEVERITY,
            at_device(topology, view.bridge),
            f"containers on {view.network.name} reach one another, although enable_icc is false",
            why="iptables sees frames between ports of one bridge only with bridge-nf-call-iptables",
            hint="run `modprobe br_netfilter` and `sysctl -w net.bridge.bridge-nf-call-iptables=1`",
        )
