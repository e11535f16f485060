"""Names as nobody would choose them: ends of quotes of every format, controls, directives, directions, markup."""

from dataclasses import replace

from netdiag.topology.graph import Topology
from tests.render.topology.namespaces import HOST
from tests.render.topology.topologies import cluster

EVIL = '"]; end\\" %%{init: {"x":1}}%% <script>alert(1)</script> `md`\n\x1b[31m\u202e#quot; click n1 href -->|x| <!--'


def hostile() -> Topology:
    """A cluster where every name that comes from outside is one of these."""
    topology = cluster()
    host = topology.inventory.namespaces[HOST]
    links = tuple(replace(link, ifname=f"{link.ifindex}{EVIL}", kind=link.kind, alias=EVIL) for link in host.links)
    network = replace(topology.networks[0].network, name=EVIL, driver=EVIL)
    processes = {pid: replace(process, comm=EVIL) for pid, process in topology.inventory.processes.items()}
    return replace(
        topology,
        inventory=replace(
            topology.inventory,
            namespaces={**topology.inventory.namespaces, HOST: replace(host, links=links)},
            processes=processes,
            hostname=EVIL,
        ),
        places=tuple(replace(place, name=f"{place.name}{EVIL}") for place in topology.places),
        host=f"host{EVIL}",
        networks=(replace(topology.networks[0], network=network),),
        listeners=tuple(
            replace(listener, listener=EVIL, broker=EVIL, advertised=(EVIL, 9092)) for listener in topology.listeners
        ),
        containers={key: replace(container, name=EVIL) for key, container in topology.containers.items()},
        unmatched=tuple(replace(each, subject=EVIL, because=EVIL) for each in topology.unmatched),
        engine=EVIL,
    )
