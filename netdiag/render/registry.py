"""What brokers have registered: as text and as JSON, version 1."""

from collections.abc import Iterator, Sequence
from typing import Any

from netdiag import __version__
from netdiag.deployment.observation.registered import Registered, SeenNode
from netdiag.findings import Finding
from netdiag.kafka.listeners import Endpoint, bracketed
from netdiag.kafka.registry import UNNAMED, RegisteredNode, Registry, RegistryKind
from netdiag.render.findings.finding_text import SourceLines, finding_lines, grouped, in_order
from netdiag.render.json_values import finding_value, indented
from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint, width
from netdiag.render.wording import first_names, names_text, plural

FORMAT = "netdiag-registry"
VERSION = 1
# Nobody reads more of a table on a terminal; JSON has all.
MOST_ROWS = 500
_HEADER = ("node", "member", "listener", "registered", "declared", "now", "Metadata")


def registry_text(
    clusters: Sequence[Registered], findings: Sequence[Finding], screen: Screen, *, full: bool = False
) -> str:
    """Each cluster with a line for each registered endpoint, then what is wrong."""
    return paint(registry_lines(clusters, findings, screen, full=full), screen)


def registry_lines(
    clusters: Sequence[Registered], findings: Sequence[Finding], screen: Screen, *, full: bool = False
) -> list[Line]:
    """The same as lines; `full` shows each finding, also where several are alike."""
    blocks = [list(_cluster(one, screen)) for one in clusters]
    blocks += [
        finding_lines(group[0], SourceLines({}), screen, likewise=group[1:])
        for group in grouped(in_order(findings), full=full)
    ]
    return [line for block in blocks for line in (*block, ())][:-1]


def registry_json(clusters: Sequence[Registered], findings: Sequence[Finding]) -> str:
    """The document and a line break."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "clusters": [cluster_value(one) for one in clusters],
        "findings": [finding_value(finding) for finding in findings],
    }
    return indented(document) + "\n"


def _cluster(one: Registered, screen: Screen) -> Iterator[Line]:
    head = (screen.run(one.name, Style.BOLD), Run(": "))
    yield from hanging(head, _summary(one), screen)
    for each in one.registries:
        if each.kind is not RegistryKind.LISTENER:
            yield from hanging((Run("  read from "),), each.source, screen)
    if one.listeners:
        asked = dict.fromkeys(each.source.partition(" at ")[0] for each in one.listeners)
        yield from hanging((Run("  asked "),), names_text(list(asked)), screen)
    registry = one.registry
    if registry is not None and registry.brokers:
        yield ()
        yield from _table(one, registry, screen)
    texts = [*_nodes(one), *_problems(one)]
    if texts:
        yield ()
    for text in texts:
        yield from hanging((Run("  "),), text, screen)


def _summary(one: Registered) -> str:
    registry = one.registry
    if registry is None:
        return "no registry could be read"
    cluster = f"cluster {one.cluster_id}" if one.cluster_id else "a cluster without ID"
    count = plural(len(registry.brokers), "registered broker")
    fenced = sum(broker.is_fenced is True for broker in registry.brokers)
    return f"{cluster}, {count}{f' ({fenced} fenced)' if fenced else ''}, {_controller(one)}"


def _controller(one: Registered) -> str:
    if one.controller_id is not None:
        names = ", ".join(node.member for node in one.of_node(one.controller_id))
        return f"controller {one.controller_id}" + (f" ({names})" if names else "")
    return "no controller" if one.tells_controller else "controller unknown"


def _table(one: Registered, registry: Registry, screen: Screen) -> Iterator[Line]:
    rows = [_HEADER, *(row for broker in registry.brokers for row in _rows(one, broker, screen))]
    shown = rows[: MOST_ROWS + 1]
    widths = [max(map(width, column)) for column in zip(*shown, strict=True)]
    for number, row in enumerate(shown):
        cells = (cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True))
        yield (Run(f"  {'  '.join(cells).rstrip()}", Style.DIM if number == 0 else Style.PLAIN),)
    if len(rows) > len(shown):
        yield (Run(f"  and {len(rows) - len(shown):,} more: --json has all", Style.DIM),)


def _rows(one: Registered, broker: RegisteredNode, screen: Screen) -> Iterator[tuple[str, ...]]:
    """A row for each listener that is registered, declared or advertised."""
    members = one.of_node(broker.node_id)
    node = next((member for member in members if member.is_up), next(iter(members), None))
    registered = {end.listener: end for end in broker.endpoints}
    declared = {end.listener: end for end in node.declared} if node else {}
    now = node.now.advertised if node and node.now else None
    says = {end.listener: end for end in now or ()}
    for number, listener in enumerate(dict.fromkeys((*registered, *declared, *says))):
        end = registered.get(listener)
        yield (
            f"{broker.node_id}{' (fenced)' if broker.is_fenced else ''}" if number == 0 else "",
            screen.visible(", ".join(member.member for member in members) or "-") if number == 0 else "",
            screen.visible("" if listener == UNNAMED else listener),
            screen.visible(_address(end)),
            screen.visible(_beside(end, declared.get(listener), is_known=bool(declared))),
            screen.visible(_beside(end, says.get(listener), is_known=now is not None)),
            screen.visible(_beside(end, told, is_known=True) if (told := one.told(broker.node_id, listener)) else "?"),
        )


def _beside(registered: Endpoint | None, other: Endpoint | None, *, is_known: bool) -> str:
    if not is_known:
        return "?"
    return "same" if other is not None and other == registered else _address(other)


def _address(end: Endpoint | None) -> str:
    return "-" if end is None else f"{bracketed(end.host)}:{end.port}"


def _nodes(one: Registered) -> Iterator[str]:
    """What there is to say of members that are not in the table, or do not answer."""
    registry = one.registry
    known = {broker.node_id for broker in registry.brokers} if registry else set()
    known |= {node.node_id for node in registry.controllers} if registry else set()
    for controller in registry.controllers if registry else ():
        ends = ", ".join(map(str, controller.endpoints)) or "no listener"
        yield f"controller {controller.node_id} has registered {ends}"
    for node in one.nodes:
        who = f"{node.member}: {'node without ID' if node.node_id is None else f'node {node.node_id}'}"
        if node.stopped:
            yield f"{who}, {node.stopped}"
        elif node.silent:
            yield f"{who}, does not answer: {node.silent}"
        elif node.guarded:
            yield f"{who}, tells nothing without --client-properties that fit: {node.guarded}"
        elif node.is_broker and node.node_id not in known and registry is not None:
            yield f"{who}, is not registered"


def _problems(one: Registered) -> Iterator[str]:
    """What could not be read; what several sources say alike stands once."""
    sources: dict[str, list[str]] = {}
    for registry in one.registries:
        for problem in registry.problems:
            sources.setdefault(problem, []).append(registry.source)
    for problem, said in sources.items():
        yield f"{first_names(said, 2)}: {problem}"
    yield from one.notes


def cluster_value(one: Registered) -> dict[str, Any]:
    """A cluster in JSON."""
    return {
        "name": one.name,
        "cluster_id": one.cluster_id,
        "controller_id": one.controller_id,
        "registries": [_registry_value(registry) for registry in one.registries],
        "nodes": [_node_value(node) for node in one.nodes],
        "notes": list(one.notes),
    }


def _registry_value(registry: Registry) -> dict[str, Any]:
    return {
        "kind": registry.kind.value,
        "source": registry.source,
        "cluster_id": registry.cluster_id,
        "controller_id": registry.controller_id,
        "controller_known": registry.tells_controller,
        "controller_lost": registry.controller_lost or None,
        "brokers": [_registered_value(node) for node in registry.brokers],
        "controllers": [_registered_value(node) for node in registry.controllers],
        "problems": list(registry.problems),
    }


def _registered_value(node: RegisteredNode) -> dict[str, Any]:
    return {
        "node_id": node.node_id,
        "endpoints": _endpoint_values(node.endpoints),
        "rack": node.rack,
        "epoch": node.epoch,
        "fenced": node.is_fenced,
        "registered_at": node.since,
    }


def _node_value(node: SeenNode) -> dict[str, Any]:
    return {
        "member": node.member,
        "node_id": node.node_id,
        "broker": node.is_broker,
        "controller": node.is_controller,
        "declared": _endpoint_values(node.declared),
        "in_file": None if node.in_file is None else _endpoint_values(node.in_file.endpoints),
        "advertised": None
        if node.now is None or node.now.advertised is None
        else _endpoint_values(node.now.advertised),
        "cluster_id": node.now and node.now.cluster_id,
        "stored_cluster_id": node.stored and node.stored.cluster_id,
        "stopped": node.stopped or None,
        "silent": node.silent or None,
        "guarded": node.guarded or None,
    }


def _endpoint_values(endpoints: Sequence[Endpoint]) -> list[dict[str, Any]]:
    return [
        {"listener": None if end.listener == UNNAMED else end.listener, "host": end.host, "port": end.port}
        for end in endpoints
    ]
