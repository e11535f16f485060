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
    PartitionLog,
)
from netdiag.kafka.stored_state import Commit, Group, Registration, StoredState
from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint, width
from netdiag.render.wording import plural

FORMAT = "netdiag-storage"
VERSION = 1
# Nobody reads more of a table on a terminal; JSON has all.
MOST_ROWS = 1000
_HEADER = ("partition", "bytes", "segments", "starts at", "high watermark", "recovery point", "epoch")
_LOG_HEADER = (
    "partition", "bytes", "segments", "batches", "records", "from", "to", "high watermark", "epoch", "compression"
)  # fmt: skip
# So many groups, and partitions of one, stand in the text.
_MOST_GROUPS = 20
_MOST_NODES = 100
_MOST_COMMITS = 8


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
    state = list(_state(one.state, screen))
    if state:
        yield ()
        for text in state:
            yield from hanging((Run("  "),), text, screen)
    if one.problems:
        yield ()
    for problem in one.problems[:MOST_ROWS]:
        yield (Run("  "), screen.run(f"{problem.path}: ", Style.PLACE), screen.run(problem.message, Style.WARNING))
    if len(one.problems) > MOST_ROWS:
        yield (Run(f"  and {len(one.problems) - MOST_ROWS:,} more problems: --json has all", Style.DIM),)
    if one.changed:
        others = f" and {len(one.changed) - 1:,} more" if len(one.changed) > 1 else ""
        text = f"{one.changed[0]}{others} changed while netdiag read: not all of what the broker wrote there counts"
        yield ()
        yield from hanging((Run("  "),), screen.visible(text), screen)
    if one.is_cut:
        yield (Run("  there is more in the directory than netdiag reads", Style.WARNING),)


def _state(state: StoredState, screen: Screen) -> Iterator[str]:
    """Who registered with the controller, and which group committed what."""
    for role, nodes in (("broker", state.brokers), ("controller", state.controllers)):
        for node in nodes[:_MOST_NODES]:
            fenced = {True: ", fenced", False: ", not fenced", None: ""}[node.is_fenced]
            epoch = "" if node.epoch is None else f", epoch {node.epoch}"
            endpoints = ", ".join(node.endpoints) or "no listener"
            yield screen.visible(f"{role} {node.node_id} registered {endpoints}{epoch}{fenced}")
        if len(nodes) > _MOST_NODES:
            yield f"and {plural(len(nodes) - _MOST_NODES, f'more {role}')}: --json has all"
    if state.features:
        levels = ", ".join(f"{name} {level}" for name, level in list(state.features.items())[:_MOST_NODES])
        yield screen.visible(f"features: {levels}; {plural(state.topics, 'topic')}")
    commits: dict[str, list[Commit]] = {}
    for commit in state.commits:
        commits.setdefault(commit.group, []).append(commit)
    groups = {group.name: group for group in state.groups}
    names = sorted({*commits, *groups})
    for name in names[:_MOST_GROUPS]:
        yield screen.visible(f"group {name}: {_group(groups.get(name), commits.get(name, []))}")
    if len(names) > _MOST_GROUPS:
        yield f"and {plural(len(names) - _MOST_GROUPS, 'more group')}: --json has all"
    if state.unread:
        yield f"{plural(state.unread, 'record')} of internal topics could not be decoded"
    if state.is_cut:
        yield "there are more records of internal topics than netdiag reads"


def _group(group: Group | None, commits: Sequence[Commit]) -> str:
    parts = []
    if group is not None:
        generation = "" if group.generation is None else f" in generation {group.generation}"
        parts.append(f"{group.kind}, {plural(len(group.members), 'member')}{generation}")
    if commits:
        told = ", ".join(f"{each.topic}-{each.partition} {each.offset:,}" for each in commits[:_MOST_COMMITS])
        more = f" and {len(commits) - _MOST_COMMITS:,} more" if len(commits) > _MOST_COMMITS else ""
        parts.append(f"committed {told}{more}")
    else:
        parts.append("committed nothing")
    return "; ".join(parts)


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
    header = _HEADER if one.logs is None else _LOG_HEADER
    rows = [header, *(_row(one, partition, screen) for partition in one.partitions[:MOST_ROWS])]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        name, *cells = row
        text = name + " " * (widths[0] - width(name))
        rest = "".join(f"  {cell:>{size}}" for cell, size in zip(cells, widths[1:], strict=True))
        yield (Run(f"  {text}{rest}", Style.DIM if number == 0 else Style.PLAIN),)
    if len(one.partitions) > MOST_ROWS:
        yield (Run(f"  and {len(one.partitions) - MOST_ROWS:,} more: --json has all", Style.DIM),)


def _row(one: DataDirectory, partition: Partition, screen: Screen) -> tuple[str, ...]:
    names = (screen.visible(partition.folder), f"{partition.size:,}", f"{len(partition.segments):,}")
    epoch = _number(partition.leader_epochs[-1][0] if partition.leader_epochs else None)
    start, watermark, recovery = (
        one.checkpoint(file, partition.name) for file in (LOG_STARTS, HIGH_WATERMARKS, RECOVERY_POINTS)
    )
    if one.logs is None:
        return (*names, _number(start), _number(watermark), _number(recovery), epoch)
    log = one.logs.get(partition.folder)
    if log is None:
        return (*names, "-", "-", _number(start), "-", _number(watermark), epoch, "-")
    return (
        *names,
        f"{log.batches:,}",
        f"{log.records:,}",
        _number(log.start_offset if start is None else start),
        _number(log.end_offset),
        _number(watermark),
        epoch,
        ", ".join(log.codecs) or "-",
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
        "logs_read": one.logs is not None,
        "brokers": [_registration_value(node) for node in one.state.brokers],
        "controllers": [_registration_value(node) for node in one.state.controllers],
        "features": dict(one.state.features),
        "topics": one.state.topics,
        "groups": [
            {"group": group.name, "type": group.kind, "generation": group.generation, "members": list(group.members)}
            for group in one.state.groups
        ],
        "committed_offsets": [_commit_value(commit) for commit in one.state.commits],
        "unread_records": one.state.unread,
        "problems": [{"path": problem.path, "message": problem.message} for problem in one.problems],
        "changed": list(one.changed),
        "complete": not one.is_cut and not one.state.is_cut,
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
        "log": _log_value(log) if (log := (one.logs or {}).get(partition.folder)) is not None else None,
    }


def _log_value(log: PartitionLog) -> dict[str, Any]:
    return {
        "batches": log.batches,
        "records": log.records,
        "control_records": log.control_records,
        "start_offset": log.start_offset,
        "end_offset": log.end_offset,
        "min_timestamp": log.min_timestamp,
        "max_timestamp": log.max_timestamp,
        "codecs": list(log.codecs),
    }


def _registration_value(node: Registration) -> dict[str, Any]:
    return {
        "node_id": node.node_id,
        "epoch": node.epoch,
        "endpoints": list(node.endpoints),
        "fenced": node.is_fenced,
        "rack": node.rack,
    }


def _commit_value(commit: Commit) -> dict[str, Any]:
    return {
        "group": commit.group,
        "topic": commit.topic,
        "partition": commit.partition,
        "offset": commit.offset,
        "leader_epoch": commit.leader_epoch,
        "metadata": commit.metadata,
        "commit_timestamp": commit.timestamp,
        "topic_id": commit.topic_id,
        "file": commit.file,
    }
