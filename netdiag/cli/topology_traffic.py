"""`--capture` of `netdiag topology`: what captures say about Kafka, per device."""

from collections.abc import Sequence

from netdiag.cli.captured_rows import Wanted, batches
from netdiag.cli.traffic_places import places_of
from netdiag.topology.graph import Topology
from netdiag.topology.traffic import with_traffic
from netdiag.traffic.native import NO_NAMES, ReadOptions
from netdiag.traffic.rows import ConnectionRow

_TABLE = "connections"


def captured_over(topology: Topology, files: Sequence[str]) -> Topology:
    """The topology with the traffic of captures, folders or patterns; InputError for what is no capture."""
    names = NO_NAMES if topology.deployment is None else places_of(topology.deployment)
    options = ReadOptions(tables=frozenset({_TABLE, "losses"}), address_names=names)
    read = batches(files, options, Wanted(table=_TABLE))
    return with_traffic(topology, (ConnectionRow(*row) for batch in read for row in batch.rows()))
