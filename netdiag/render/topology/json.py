"""A topology as JSON, version 1: names, types and enumerations are a contract (`schema/topology.v1.json`).

Every fact that was read is in it, beside how it hangs together, who reaches whom, what is wrong, and what could not be
read. Not in it, whatever the engine says: environments, labels, command lines (but those of docker-proxy, which hold
addresses only). The text has a line for each namespace, container or cable: two of them can be compared by programs
for lines, and it is made by the encoder that is written in C, which lays nothing out.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

from netdiag import __version__
from netdiag.engine.container import Container
from netdiag.findings import Finding
from netdiag.linux.ruleset import Chain, FilterRule, RuleAddress, Ruleset, Table
from netdiag.linux.sockets import Listener
from netdiag.render.json_values import SURROGATE, finding_value, sound
from netdiag.render.redact import redacted
from netdiag.render.topology.lookup import coverage_value
from netdiag.topology.graph import (
    Cable,
    Hop,
    KafkaListener,
    LinkTraffic,
    NetworkView,
    Path,
    Place,
    Published,
    Reach,
    Topology,
    Unmatched,
)
from netdiag.topology.inventory import LinkId, NamespaceFacts, Unread

FORMAT = "netdiag-topology"
VERSION = 1

Value = dict[str, Any]

_SEPARATOR = ",\n  "
_END = "\n ]\n}\n"


def topology_document(topology: Topology, findings: Iterable[Finding] = (), *, first: int | None = None) -> Value:
    """The document as values that JSON has; tuples stand for arrays. `first`: only so many namespaces are in it."""
    inventory = topology.inventory
    return {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "hostname": inventory.hostname,
        "kernel": inventory.kernel,
        "own_netns": inventory.own,
        "root_netns": inventory.root,
        "complete": inventory.complete,
        "host": topology.host or None,
        "engine": redacted(topology.engine) or None,
        "userland_proxy": topology.userland_proxy,
        "coverage": coverage_value(inventory),
        "findings": [finding_value(finding) for finding in findings],
        "places": [_place(place) for place in topology.places],
        "networks": [_network(view) for view in topology.networks],
        "containers": [_container(container) for container in topology.containers.values()],
        "kafka_listeners": [_kafka(listener) for listener in topology.listeners],
        "published": [_published(published) for published in topology.published],
        "reach": [_reach(reach) for reach in topology.reach],
        "reach_note": topology.reach_note or None,
        "unmatched": [_unmatched(unmatched) for unmatched in topology.unmatched],
        "cables": [_cable(cable) for cable in topology.cables],
        "traffic": [_traffic(traffic) for traffic in topology.traffic.values()],
        "tun_owners": [{"link": _link_id(link), "pids": pids} for link, pids in inventory.tun_owners.items()],
        "processes": [_process(process) for process in inventory.processes.values()],
        "unread": [_unread(unread) for unread in inventory.unread],
        "namespaces": [_namespace(facts) for facts in islice(inventory.namespaces.values(), first)],
    }


def tail_text(topology: Topology, first: int) -> str:
    """The namespaces after the first ones, as they stand in the text of the document."""
    rest = islice(topology.inventory.namespaces.values(), first, None)
    return _SEPARATOR.join(_entry(_namespace(facts)) for facts in rest)


def append_tail(text: str, tail: str) -> str:
    """The text of a document whose namespaces end with those of `tail`: they are the last thing in it."""
    return text.removesuffix(_END) + _SEPARATOR + tail + _END


def json_text(value: Mapping[str, Any]) -> str:
    """A document as text, ASCII only, ending with a line feed: equal documents give equal bytes."""
    text = _laid_out(value)
    return _laid_out(sound(_as_lists(value))) if SURROGATE.search(text) else text


def _laid_out(value: Mapping[str, Any]) -> str:
    lines = [f' "{key}": {_entries(entry)}' for key, entry in value.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entries(entry: Any) -> str:
    if not isinstance(entry, list) or not entry:
        return json.dumps(entry)
    return "[\n  " + _SEPARATOR.join(json.dumps(item) for item in entry) + "\n ]"


def _entry(value: Value) -> str:
    text = json.dumps(value)
    return json.dumps(sound(_as_lists(value))) if SURROGATE.search(text) else text


def _as_lists(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_lists(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    return value


def _fields(*names: str) -> Callable[[Any], Value]:
    """These attributes of a value, under their own names."""
    get = attrgetter(*names)
    return lambda value: dict(zip(names, get(value), strict=True))


_LINK = _fields(
    *("ifindex", "ifname", "kind", "type", "flags", "mtu", "address", "broadcast", "operstate", "master", "link"),
    *("link_netnsid", "altnames", "alias", "qdisc", "txqlen", "group", "details", "port_kind", "port", "undecoded"),
)
_ADDRESS = _fields("ifindex", "address", "prefix_length", "scope", "peer", "broadcast", "label", "flags")
_ROUTE = _fields(
    *("family", "destination", "table", "type", "scope", "protocol", "priority", "source", "from_prefix", "tos"),
    *("metrics", "flags", "details"),
)
_HOP = _fields("gateway", "ifindex", "weight", "flags")
_RULE = _fields("family", "priority", "action", "table", "from_prefix", "to_prefix", "details")
_NEIGHBOUR = _fields("ifindex", "address", "lladdr", "states", "router", "proxy")
_FDB = _fields("ifindex", "lladdr", "master", "vlan", "destination", "state", "flags", "details")
_VLAN = _fields("ifindex", "vlan", "vlan_end", "flags")
_LISTENER = _fields("family", "address", "port", "inode", "uid", "v6only", "ifindex", "pids", "queue", "backlog")
_CHAIN = _fields("name", "hook", "type", "priority", "policy", "packets", "bytes", "handle", "devices")
_FILTER_RULE = _fields("number", "handle", "text", "packets", "bytes", "comment")
_EXPRESSION = _fields("name", "fields", "understood")
_SET = _fields("name", "key_type", "data_type", "flags", "elements", "anonymous", "partly")
_SETTINGS = _fields(
    *("ip_forward", "ipv6_forwarding", "ipv6_disabled", "bridge_nf_call_iptables", "bridge_nf_call_ip6tables"),
    "local_port_range",
)
_NETNS = _fields("inode", "cookie", "names", "mounts", "pids", "process_count")
_PROCESS = _fields("pid", "comm", "started", "netns", "parent", "container_id", "argv", "state")
_ATTACHMENT = _fields("network", "network_id", "aliases", "ipv4_address", "ipv6_address", "gateway")
_BINDING = _fields("target", "protocol", "host_ip", "published")
_NETWORK = _fields("id", "name", "driver", "internal", "subnets", "gateways", "default_bridge", "bridge_name")
_PUBLISHED = _fields(
    *("key", "host_ip", "published", "protocol", "container", "target", "asked", "in_force", "dnat", "proxies"),
    *("to_address", "pids"),
)
_KAFKA = _fields(
    *("key", "broker", "container", "node_id", "listener", "security_protocol", "controller", "bound", "pids"),
    "published",
)
_TRAFFIC = _fields(
    *("captured", "connections", "failed", "requests", "responses", "request_bytes", "response_bytes"),
    "retransmissions",
)
_PATH = _fields("source", "destination", "port", "address", "because", "target", "pids")


def _link_id(link: LinkId | None) -> Value | None:
    return None if link is None else {"netns": link.netns, "ifindex": link.ifindex}


def _namespace(facts: NamespaceFacts) -> Value:
    return {
        **_NETNS(facts.netns),
        "sources": [source.value for source in facts.netns.sources],
        "entered": facts.entered,
        "links": [_LINK(link) for link in facts.links],
        "addresses": [_ADDRESS(address) for address in facts.addresses],
        "routes": [{**_ROUTE(route), "hops": [_HOP(hop) for hop in route.hops]} for route in facts.routes],
        "rules": [_RULE(rule) for rule in facts.rules],
        "neighbours": [_NEIGHBOUR(neighbour) for neighbour in facts.neighbours],
        "fdb": [_FDB(entry) for entry in facts.fdb],
        "vlans": [_VLAN(vlan) for vlan in facts.vlans],
        "listeners": [_listener(listener) for listener in facts.listeners],
        "ruleset": _ruleset(facts.ruleset),
        "settings": {
            **_SETTINGS(facts.settings),
            "route_localnet": dict(facts.settings.route_localnet),
            "rp_filter": dict(facts.settings.rp_filter),
        },
        "nsids": [{"nsid": nsid, "netns": netns} for nsid, netns in facts.nsids.items()],
        "ends": [{"ifindex": ifindex, "end": _link_id(end)} for ifindex, end in facts.ends.items()],
        "unread": [_unread(unread) for unread in facts.unread],
    }


def _listener(listener: Listener) -> Value:
    return {"protocol": listener.protocol.value, **_LISTENER(listener)}


def _ruleset(ruleset: Ruleset) -> Value:
    return {"tables": [_table(table) for table in ruleset.tables], "unread": ruleset.unread}


def _table(table: Table) -> Value:
    return {
        "family": table.family,
        "name": table.name,
        "origin": table.origin.value,
        "chains": [_chain(chain) for chain in table.chains],
        "sets": [_SET(each) for each in table.sets],
    }


def _chain(chain: Chain) -> Value:
    return {**_CHAIN(chain), "rules": [_filter_rule(rule) for rule in chain.rules]}


def _filter_rule(rule: FilterRule) -> Value:
    return {**_FILTER_RULE(rule), "expressions": [_EXPRESSION(expression) for expression in rule.expressions]}


def _process(process: object) -> Value:
    return _PROCESS(process)


def _unread(unread: Unread) -> Value:
    return {"what": unread.what, "because": unread.because}


def _place(place: Place) -> Value:
    return {
        "netns": place.netns,
        "kind": place.kind.value,
        "name": place.name,
        "label": place.label,
        "containers": place.containers,
        "services": place.services,
    }


def _network(view: NetworkView) -> Value:
    return {
        **_NETWORK(view.network),
        "bridge": _link_id(view.bridge),
        "members": [
            {
                "container": member.container,
                "address": member.address,
                "inside": _link_id(member.inside),
                "port": _link_id(member.port),
            }
            for member in view.members
        ],
    }


def _container(container: Container) -> Value:
    return {
        "id": container.id,
        "name": container.name,
        "image": container.image,
        "status": container.state.status.value,
        "pid": container.state.pid,
        "exit_code": container.state.exit_code,
        "error": redacted(container.state.error) or None,
        "hostname": container.hostname,
        "domainname": container.domainname,
        "network_mode": container.network_mode,
        "project": container.project,
        "service": container.service,
        "extra_hosts": [{"name": name, "address": address} for name, address in container.extra_hosts],
        "networks": [_ATTACHMENT(attachment) for attachment in container.networks],
        "ports": [_BINDING(binding) for binding in container.ports],
        "requested_ports": [_BINDING(binding) for binding in container.requested_ports],
        "publish_all": container.publish_all,
        "restart_count": container.restart_count,
    }


def _kafka(listener: KafkaListener) -> Value:
    return {
        **_KAFKA(listener),
        "bind": _endpoint(listener.bind),
        "advertised": _endpoint(listener.advertised),
    }


def _endpoint(endpoint: tuple[str, int] | None) -> Value | None:
    return None if endpoint is None else {"host": endpoint[0], "port": endpoint[1]}


def _published(published: Published) -> Value:
    return {**_PUBLISHED(published), "by": [by.value for by in published.by]}


def _reach(reach: Reach) -> Value:
    return {
        "listener": reach.listener,
        "source": reach.source,
        "destination": reach.destination,
        "port": reach.port,
        "advertised": reach.advertised,
        "path": path_value(reach.path),
    }


def _traffic(traffic: LinkTraffic) -> Value:
    return {"link": _link_id(traffic.link), **_TRAFFIC(traffic)}


def path_value(path: Path) -> Value:
    """A way through the kernel, hop by hop."""
    return {**_PATH(path), "end": path.end.value, "hops": [_hop(hop) for hop in path.hops]}


def _hop(hop: Hop) -> Value:
    return {
        "kind": hop.kind.value,
        "netns": hop.netns,
        "what": hop.what,
        "link": _link_id(hop.link),
        "rules": _rules(hop.rules),
        "details": hop.details,
    }


def _rules(rules: Sequence[RuleAddress]) -> list[Value]:
    return [
        {
            "origin": rule.origin.value,
            "family": rule.family,
            "table": rule.table,
            "chain": rule.chain,
            "number": rule.number,
            "handle": rule.handle,
            "text": rule.text,
        }
        for rule in rules
    ]


def _unmatched(unmatched: Unmatched) -> Value:
    return {"subject": unmatched.subject, "because": unmatched.because, "link": _link_id(unmatched.link)}


def _cable(cable: Cable) -> Value:
    return {"kind": cable.kind.value, "a": _link_id(cable.a), "b": _link_id(cable.b)}
