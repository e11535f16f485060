"""Containers of several projects answer to one name on a network.

Why: Docker's DNS gives the addresses of all of them, in a new order each time, so connections to the name go to one
project now and to the other later.

Bad:
    places:
      host:
        links:
          br-shared: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-shared, peer: a-kafka-1 eth0}
          veth2: {master: br-shared, peer: b-kafka-1 eth0}
      a-kafka-1:  # <- here
        links: {eth0: {addresses: [172.20.0.2/16]}}
        project: a
        aliases: [kafka]
      b-kafka-1:
        links: {eth0: {addresses: [172.20.0.3/16]}}
        project: b
        aliases: [kafka]
    networks:
      shared: {bridge: br-shared, subnet: 172.20.0.0/16}

Good:
    places:
      host:
        links:
          br-shared: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-shared, peer: a-kafka-1 eth0}
          veth2: {master: br-shared, peer: b-kafka-1 eth0}
      a-kafka-1:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        project: a
        aliases: [a-kafka]
      b-kafka-1:
        links: {eth0: {addresses: [172.20.0.3/16]}}
        project: b
        aliases: [b-kafka]
    networks:
      shared: {bridge: br-shared, subnet: 172.20.0.0/16}

Seen: a name that leads to another project's broker every other time

Sources: handleIPQuery and shuffleAddr in libnetwork/resolver.go of moby.
"""

from collections.abc import Iterator, Sequence

from netdiag.engine.container import Container
from netdiag.findings import Finding, Related, Severity, TopologyLocation
from netdiag.rules.topology_findings import at_place, finding, several
from netdiag.topology.graph import NetworkView, Topology
from netdiag.topology.path.name_lookup import name_owners

ID = "topology-ambiguous-name"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every name and network on which containers of several projects answer to it."""
    for view in topology.networks:
        for name, owners in name_owners(topology, view).items():
            if len({container.project for container in owners}) > 1:
                yield _finding(topology, view, name, owners)


def _finding(topology: Topology, view: NetworkView, name: str, owners: Sequence[Container]) -> Finding:
    first = owners[0]
    named = several(f"{each.name} of project {each.project}" if each.project else each.name for each in owners)
    return finding(
        ID,
        SEVERITY,
        _at(topology, first, name),
        f'on network {view.network.name}, "{name}" leads to {len(owners)} containers: {named}',
        why="Docker's DNS gives the addresses of all of them, in a new order each time",
        hint=f"give {first.name} an alias of its own on network {view.network.name}, such as "
        f"{first.project or first.name}-{name}, and let its clients use it",
        related=[Related(location=_at(topology, other), message="has the name, too") for other in owners[1:]],
        service=first.name,
    )


def _at(topology: Topology, container: Container, part: str = "") -> TopologyLocation:
    place = next((place for place in topology.places if container.id in place.containers), None)
    return TopologyLocation(place=container.name, part=part) if place is None else at_place(topology, place.netns, part)
