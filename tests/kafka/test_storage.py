"""The identity in a data directory, as brokers of 3.9.1 and 4.3.1 read it."""

from collections.abc import Mapping

import pytest

from netdiag.kafka.storage import MetaProperties, UnreadableMetaProperties, meta_properties

CLUSTER, DIRECTORY = "MkU3OEVBNTcwNTJENDM2Qg", "XMi6uTAj64qpaHEUBOLPhQ"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"version": "1", "cluster.id": CLUSTER, "node.id": "1", "directory.id": DIRECTORY},
            MetaProperties(version=1, cluster_id=CLUSTER, node_id=1, directory_id=DIRECTORY),
        ),
        (
            {"version": "0", "cluster.id": CLUSTER, "broker.id": "1001"},
            MetaProperties(version=0, cluster_id=CLUSTER, node_id=1001),
        ),
        # Of a broker that has not met its ZooKeeper yet.
        ({"version": "0", "broker.id": "1"}, MetaProperties(version=0, cluster_id=None, node_id=1)),
        ({}, MetaProperties(version=0, cluster_id=None, node_id=None)),
        ({"version": "0", "node.id": "7"}, MetaProperties(version=0, cluster_id=None, node_id=None)),
        ({"cluster.id": "x" * 60_000}, MetaProperties(version=0, cluster_id="x" * 100, node_id=None)),
    ],
)
def test_an_identity(values: Mapping[str, str], expected: MetaProperties) -> None:
    assert meta_properties(values) == expected


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ({"version": "7"}, "Unknown meta.properties version number 7"),
        ({"version": "zwei"}, "Invalid meta.properties version string 'zwei'"),
        ({"version": "1", "node.id": "1"}, "cluster.id was not found."),
        ({"version": "1", "cluster.id": CLUSTER}, "node.id was not found."),
        ({"version": "1", "cluster.id": CLUSTER, "node.id": "x"}, "Unable to read node.id as a base-10 number."),
    ],
)
def test_what_a_broker_does_not_start_with(values: Mapping[str, str], printed: str) -> None:
    with pytest.raises(UnreadableMetaProperties) as raised:
        meta_properties(values)
    assert str(raised.value) == printed
