"""What lies in a data directory, as brokers of 3.9.1 and 4.3.1 write and read it."""

from collections.abc import Callable, Mapping

import pytest

from netdiag.kafka.storage import (
    FolderKind,
    Malformed,
    MetaProperties,
    PartitionName,
    SegmentFile,
    UnreadableMetaProperties,
    broker_epoch,
    leader_epochs,
    meta_properties,
    offset_checkpoint,
    partition_name,
    segment_file,
    topic_id,
)

CLUSTER, DIRECTORY = "MkU3OEVBNTcwNTJENDM2Qg", "XMi6uTAj64qpaHEUBOLPhQ"


def _text(values: Mapping[str, str]) -> str:
    return "#\n#Thu Nov 26 14:12:11 UTC 2026\n" + "".join(f"{name}={value}\n" for name, value in values.items())


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
    assert meta_properties(_text(values)) == expected


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ({"version": "7"}, "Unknown meta.properties version number 7"),
        ({"version": "zwei"}, "Invalid meta.properties version string 'zwei'"),
        ({"version": "1", "node.id": "1"}, "cluster.id was not found."),
        ({"version": "1", "cluster.id": CLUSTER}, "node.id was not found."),
        (
            {"version": "1", "cluster.id": CLUSTER, "node.id": "4294967297"},
            "Unable to read node.id as a base-10 number.",
        ),
        ({"version": "1", "cluster.id": CLUSTER, "node.id": "1_0"}, "Unable to read node.id as a base-10 number."),
        ({"version": "1", "cluster.id": CLUSTER, "node.id": "x"}, "Unable to read node.id as a base-10 number."),
    ],
)
def test_what_a_broker_does_not_start_with(values: Mapping[str, str], printed: str) -> None:
    with pytest.raises(UnreadableMetaProperties) as raised:
        meta_properties(_text(values))
    assert str(raised.value) == printed


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("orders-0", PartitionName(topic="orders", partition=0)),
        ("my-topic-12", PartitionName(topic="my-topic", partition=12)),
        ("__cluster_metadata-0", PartitionName(topic="__cluster_metadata", partition=0)),
        (f"a.b-3.{'0f' * 16}-delete", PartitionName(topic="a.b", partition=3, kind=FolderKind.DELETED)),
        (f"a-3.{'0f' * 16}-future", PartitionName(topic="a", partition=3, kind=FolderKind.FUTURE)),
        (f"a-3.{'0f' * 16}-stray", PartitionName(topic="a", partition=3, kind=FolderKind.STRAY)),
        *[
            (folder, None)
            for folder in ("lost+found", "orders", "orders-01", "-1", "a-3.0f-delete", "t\n-0", "x" * 300)
        ],
    ],
)
def test_the_name_of_a_folder(folder: str, expected: PartitionName | None) -> None:
    assert partition_name(folder) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000000000002400.log", SegmentFile(offset=2400, kind="log")),
        ("00000000000000000000.timeindex.deleted", SegmentFile(offset=0, kind="timeindex", marked="deleted")),
        ("00000000000000000800.snapshot", SegmentFile(offset=800, kind="snapshot")),
        ("leader-epoch-checkpoint", None),
        ("0.log", None),
    ],
)
def test_the_name_of_a_file(name: str, expected: SegmentFile | None) -> None:
    assert segment_file(name) == expected


def test_checkpoints() -> None:
    written = "0\n3\n__consumer_offsets 1 3\norders 0 7622\ncompacted 1 3000\n"
    assert offset_checkpoint(written) == {("__consumer_offsets", 1): 3, ("orders", 0): 7622, ("compacted", 1): 3000}
    assert offset_checkpoint("0\n0\n") == offset_checkpoint("") == {}
    assert leader_epochs("0\n2\n0 0\n4 1200\n") == ((0, 0), (4, 1200))
    assert topic_id("version: 0\ntopic_id: f-66lKPvReyjrwZEHV-rKg") == "f-66lKPvReyjrwZEHV-rKg"
    assert broker_epoch('{"version":0,"brokerEpoch":7}') == 7
    # Kafka 3.6 and older leave an empty file.
    assert broker_epoch("") is None


@pytest.mark.parametrize(
    ("parse", "text", "wrong"),
    [
        (offset_checkpoint, "1\n0\n", "has version '1', which is not 0"),
        (offset_checkpoint, "0\n", "says that it has no entries"),
        (offset_checkpoint, "0\n2\norders 0 1\n", "says that it has 2 entries, and has 1"),
        (offset_checkpoint, "0\n1\norders 0 1\norders 1 1\n", "says that it has 1 entries, and has more"),
        (offset_checkpoint, "0\n250001\n", "says that it has 250001 entries"),
        (offset_checkpoint, "0\n1\n" + "a " * 100_000, "line 3 is not a topic, a partition and an offset"),
        (offset_checkpoint, "0\n1\norders 0\n", "line 3 is not a topic, a partition and an offset"),
        (offset_checkpoint, "0\n1\norders 0 many\n", "line 3 is not a topic, a partition and an offset"),
        (leader_epochs, "0\n1\n0 0 0\n", "line 3 is not an epoch and an offset"),
        (topic_id, "version: 1\ntopic_id: a", "has version '1', which is not 0"),
        (topic_id, "version: 0\n", "has no topic_id"),
        (topic_id, "", "has version '', which is not 0"),
        (broker_epoch, "{", "is not JSON"),
        (broker_epoch, "[" * 100_000, "is not JSON"),
    ],
)
def test_what_no_broker_wrote(parse: Callable[[str], object], text: str, wrong: str) -> None:
    with pytest.raises(Malformed) as raised:
        parse(text)
    assert str(raised.value) == wrong
