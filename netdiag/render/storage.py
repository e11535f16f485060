"""What lies in data directories: as text and as JSON, version 1."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from netdiag import __version__
from netdiag.kafka.storage import (
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
    DataDirectory,
    MetaProperties,
    Partition,
)
from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint, width

FORMAT = "netdiag-storage"
VERSION = 1
# Nobody reads more of a table on a terminal; JSON has all.
MOST_ROWS = 1000
_HEADER = ("partition", "bytes", "segments", "starts at", "high watermark", "recovery point", "epoch")


def storage_text(directories: Sequence[DataDirectory], screen: Screen) -> str:
    """Who wrote each directory, then a line for each partition, then what could not be read."""
    lines: list[Line] = []
    for one in directories:
        if lines:
            lines.append(())
        lines += _directory(one, screen)
    return paint(lines, screen)


def storage_json(directories: Sequence[DataDirectory]) -> str:
    """The document and a line break."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "directories": [_directory_value(one) for one in directories],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _directory(one: DataDirectory, screen: Screen) -> Iterator[Line]:
    head = (screen.run(one.path, Style.BOLD), Run(": "))
    yield from hanging(head, _writer(one.meta), screen)
    yield from hanging((Run("  "),), _end(one), screen)
    if one.partitions:
        yield ()
        yield from _table(one, screen)
    for problem in one.problems:
        yield (Run("  "), screen.run(f"{problem.path}: ", Style.PLACE), screen.run(problem.message, Style.WARNING))
    if one.is_cut:
        yield (Run("  there is more than netdiag looks at", Style.WARNING),)


def _writer(meta: MetaProperties | None) -> str:
    if meta is None:
        return "no meta.properties that can be read, so the cluster and the node are unknown"
    node = "a node without ID" if meta.node_id is None else f"node {meta.node_id}"
    cluster = "a cluster without ID" if meta.cluster_id is None else f"cluster {meta.cluster_id}"
    form = "for KRaft" if meta.version else "with ZooKeeper"
    return f"{node} of {cluster}, formatted {form}"


def _end(one: DataDirectory) -> str:
    how = "shut down cleanly" if one.is_shut_down_cleanly else "in use, or not shut down cleanly"
    epoch = "" if one.broker_epoch is None else f" in broker epoch {one.broker_epoch}"
    size = sum(partition.size for partition in one.partitions)
    count = len(one.partitions)
    return f"{how}{epoch}; {count:,} {'partition' if count == 1 else 'partitions'}, {size:,} bytes of logs"


def _table(one: DataDirectory, screen: Screen) -> Iterator[Line]:
    rows = [_HEADER, *(_row(one, partition, screen) for partition in one.partitions[:MOST_ROWS])]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        name, *cells = row
        text = name + " " * (widths[0] - width(name))
        rest = "".join(f"  {cell:>{size}}" for cell, size in zip(cells, widths[1:], strict=True))
        yield (Run(f"  {text}{rest}", Style.DIM if number == 0 else Style.PLAIN),)
    if len(one.partitions) > MOST_ROWS:
        yield (Run(f"  and {len(one.partitions) - MOST_ROWS:,} more: --json has all", Style.DIM),)


def _row(one: DataDirectory, partition: Partition, screen: Screen) -> tuple[str, ...]:
    return (
        screen.visible(partition.folder),
        f"{partition.size:,}",
        f"{len(partition.segments):,}",
        *(_number(one.checkpoint(file, partition.name)) for file in (LOG_STARTS, HIGH_WATERMARKS, RECOVERY_POINTS)),
        _number(partition.leader_epochs[-1][0] if partition.leader_epochs else None),
    )


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _directory_value(one: DataDirectory) -> dict[str, Any]:
    meta = one.meta
    return {
        "path": one.path,
        "cluster_id": meta and meta.cluster_id,
        "node_id": meta and meta.node_id,
        "directory_id": meta and meta.directory_id,
        "meta_version": meta and meta.version,
        "clean_shutdown": one.is_shut_down_cleanly,
        "broker_epoch": one.broker_epoch,
        "partitions": [_partition_value(one, partition) for partition in one.partitions],
        "problems": [{"path": problem.path, "message": problem.message} for problem in one.problems],
        "complete": not one.is_cut,
    }


def _partition_value(one: DataDirectory, partition: Partition) -> dict[str, Any]:
    name = partition.name
    return {
        "folder": partition.folder,
        "topic": name.topic,
        "partition": name.partition,
        "kind": name.kind.name.lower(),
        "topic_id": partition.topic_id,
        "bytes": partition.size,
        "segments": [{"base_offset": segment.offset, "bytes": segment.size} for segment in partition.segments],
        "leader_epochs": [{"epoch": epoch, "start_offset": offset} for epoch, offset in partition.leader_epochs],
        "log_start_offset": one.checkpoint(LOG_STARTS, name),
        "high_watermark": one.checkpoint(HIGH_WATERMARKS, name),
        "recovery_point": one.checkpoint(RECOVERY_POINTS, name),
    }
