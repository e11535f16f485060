"""Mermaid: kept output, its grammar, its limits, nothing that ends a label."""

from dataclasses import replace

import pytest

from netdiag.linux.netns import Netns
from netdiag.render.topology.mermaid import MOST_EDGES, MOST_NODES, mermaid_text
from netdiag.topology.graph import Cable, CableKind, Place, PlaceKind
from netdiag.topology.inventory import NamespaceFacts
from tests.render.golden import assert_golden
from tests.render.topology.hostile import hostile
from tests.render.topology.mermaid_grammar import parse
from tests.render.topology.namespaces import broker_netns, cluster_link, link_of
from tests.render.topology.topologies import cluster


def test_kept_output() -> None:
    assert_golden("topology/two.mmd", mermaid_text(cluster()))


def test_every_broker_hangs_from_its_network_and_every_port_leads_to_one() -> None:
    chart = parse(mermaid_text(cluster(5)))
    # a network, 5 ports, 5 brokers; DNAT and docker-proxy for each port, a cable for each broker
    assert (len(chart.nodes), len(chart.edges), chart.boxes) == (11, 15, 1)


def test_hostile_names_are_entity_codes() -> None:
    chart = parse(mermaid_text(hostile()))
    assert (len(chart.nodes), len(chart.edges)) == (5, 6)
    assert "%%{" not in mermaid_text(hostile())


@pytest.mark.parametrize("brokers", [29, 30, 200])
def test_beyond_what_people_read_networks_and_ports_are_drawn(brokers: int) -> None:
    text = mermaid_text(cluster(brokers, reach=False))
    chart = parse(text)
    assert (len(chart.nodes), f"{brokers} ports" in text) == ((59, False) if brokers == 29 else (2, True))
    assert (len(chart.nodes) <= MOST_NODES, len(chart.edges) <= MOST_EDGES, len(text) < 50_000) == (True, True, True)


def test_many_bridges_are_counted() -> None:
    topology = cluster()
    host = topology.inventory.namespaces[4026531840]
    bridges = tuple(cluster_link(100 + n, f"br-{n}", "bridge") for n in range(300))
    inventory = replace(topology.inventory, namespaces={4026531840: replace(host, links=bridges)})
    text = mermaid_text(replace(topology, inventory=inventory, networks=(), cables=(), published=()))
    assert "and 272 more bridges" in text
    assert "2 namespaces without a bridge" in text
    assert len(parse(text).nodes) <= MOST_NODES


def test_cables_between_namespaces_without_a_bridge() -> None:
    red, blue = broker_netns(71), broker_netns(72)
    topology = cluster(1)
    spaces = {
        netns: NamespaceFacts(netns=Netns(inode=netns), links=(cluster_link(2, f"v-{netns}", "veth"),))
        for netns in (red, blue)
    }
    alone = replace(
        topology,
        inventory=replace(topology.inventory, namespaces=spaces),
        places=tuple(Place(netns=n, kind=PlaceKind.NAMED, name=str(n), label=str(n)) for n in spaces),
        cables=(Cable(kind=CableKind.VETH, a=link_of(red, 2), b=link_of(blue, 2)),),
        networks=(),
        published=(),
        host="",
    )
    chart = parse(mermaid_text(alone))
    assert (len(chart.nodes), len(chart.edges), chart.boxes) == (2, 1, 0)


def test_the_grammar_refuses_what_is_not_ours() -> None:
    for line in ('  n0123456789ab["x"] y', "  click n0123456789ab href", '  n0123456789ab["a"b"]', "  end"):
        with pytest.raises(ValueError, match=r"line|boxes"):
            parse(f"flowchart LR\n{line}\n")
