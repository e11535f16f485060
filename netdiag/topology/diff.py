"""What changed between two topologies: what appeared, what went, what is otherwise than it was."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from netdiag.engine.container import flag, mapping, number, sequence, text, texts
from netdiag.errors import InputError
from netdiag.values import dataclass

# Kinds of things that are in a namespace: their names begin with its name.
NAMESPACED_KINDS = frozenset(
    {
        "link",
        "address",
        "route",
        "routing rule",
        "neighbour",
        "vlan",
        "listener",
        "setting",
        "chain",
        "filter rule",
        "set",
    }
)

# What is compared: kind and name of a thing, its facts as words.
Key = tuple[str, str]
Snapshot = dict[Key, dict[str, str]]

_LOCAL_TABLE = 255
_EMBEDDED_DNS = "127.0.0.11"
# The names that the engine gives to devices on the host: new ones at every start.
_GENERATED = re.compile(r"veth[0-9a-f]{7}")
_DNS_PORT = re.compile(r"(127\.0\.0\.11:|\bsport )\d+")
_COUNTERS = re.compile(r"counter packets \d+ bytes \d+")
_SWITCHES = (
    *("ip_forward", "ipv6_forwarding", "ipv6_disabled", "bridge_nf_call_iptables", "bridge_nf_call_ip6tables"),
)


def take_snapshot(document: Mapping[str, Any]) -> Snapshot:
    """Everything in a document that has a name."""
    reader = _Reader(document)
    things: Snapshot = {}
    alike: Counter[Key] = Counter()
    for kind, name, facts in reader.things():
        alike[kind, name] += 1
        times = min(alike[kind, name], _MOST_ALIKE)
        things[kind, name if times == 1 else f"{name} ({times})"] = facts
    return things


# Things of one name beyond this are one.
_MOST_ALIKE = 20

_Thing = tuple[str, str, dict[str, str]]


class _Reader:
    """One document, with what names refer to."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._places = {number(place, "netns"): text(place, "name") for place in sequence(document, "places")}
        self._containers = {text(each, "id"): text(each, "name") for each in sequence(document, "containers")}
        self._comms = {number(each, "pid"): text(each, "comm") for each in sequence(document, "processes")}
        self._spaces = [space for space in sequence(document, "namespaces") if isinstance(space, Mapping)]
        self._names = {
            (number(space, "inode"), number(link, "ifindex")): text(link, "ifname")
            for space in self._spaces
            for link in sequence(space, "links")
        }

    def things(self) -> Iterator[_Thing]:
        """Every thing, in the order of the document."""
        for kind, facts in _TOP.items():
            for entry in sequence(self._document, facts[0]):
                name, words = facts[1](self, entry)
                if name:
                    yield kind, name, words
        for space in self._spaces:
            yield from self._namespace(space)

    def _namespace(self, space: Mapping[str, Any]) -> Iterator[_Thing]:
        place = self.place(number(space, "inode"))
        yield "namespace", place, {"looked into": _yes(flag(space, "entered"))}
        ends = {number(end, "ifindex"): mapping(end, "end") for end in sequence(space, "ends")}
        for link in sequence(space, "links"):
            yield "link", *self._link(place, link, ends, number(space, "inode"))
        names = {number(link, "ifindex"): text(link, "ifname") for link in sequence(space, "links")}
        for address in sequence(space, "addresses"):
            device = self._device(names.get(number(address, "ifindex"), ""))
            prefix = f"{text(address, 'address')}/{number(address, 'prefix_length')}"
            if text(address, "address"):
                yield "address", f"{place} {device} {prefix}", {}
        for route in sequence(space, "routes"):
            if number(route, "table") != _LOCAL_TABLE:
                yield "route", f"{place} {self._route(route, names)}", {}
        for rule in sequence(space, "rules"):
            yield "routing rule", f"{place} {_routing_rule(rule)}", {}
        for neighbour in sequence(space, "neighbours"):
            if "PERMANENT" in texts(neighbour, "states"):
                device = self._device(names.get(number(neighbour, "ifindex"), ""))
                yield "neighbour", f"{place} {device} {text(neighbour, 'address')} is {text(neighbour, 'lladdr')}", {}
        for vlan in sequence(space, "vlans"):
            device = self._device(names.get(number(vlan, "ifindex"), ""))
            vlans = f"{number(vlan, 'vlan')}-{number(vlan, 'vlan_end')}"
            yield "vlan", f"{place} {device} {vlans}", {"flags": " ".join(texts(vlan, "flags"))}
        yield from self._listeners(place, space)
        yield from _settings(place, mapping(space, "settings"))
        yield from _filters(place, mapping(space, "ruleset"))

    def _link(self, place: str, link: Any, ends: Mapping[int, Any], netns: int) -> tuple[str, dict[str, str]]:
        name, kind = text(link, "ifname"), text(link, "kind")
        end = ends.get(number(link, "ifindex"), {})
        if _GENERATED.fullmatch(name) and end:
            name = f"cable to {self.place(number(end, 'netns'))} {self._end_name(end)}"
        facts = {
            "kind": kind,
            "state": text(link, "operstate"),
            "on": _yes(bool(number(link, "flags") & 1)),
            "mtu": str(number(link, "mtu")),
            "port": text(link, "port", "state"),
        }
        if kind != "veth":
            facts["hardware address"] = text(link, "address")
        if number(link, "master"):
            facts["port of"] = self._names.get((netns, number(link, "master")), "?")
        return f"{place} {name}", {name: word for name, word in facts.items() if word}

    def _end_name(self, end: Mapping[str, Any]) -> str:
        return self._names.get((number(end, "netns"), number(end, "ifindex")), "")

    def _device(self, name: str) -> str:
        return "veth" if _GENERATED.fullmatch(name) else name

    def _route(self, route: Any, names: Mapping[int, str]) -> str:
        words = [text(route, "type"), text(route, "destination")]
        for hop in sequence(route, "hops"):
            gateway = text(hop, "gateway")
            words += [f"via {gateway}"] if gateway else []
            words += [f"dev {self._device(names.get(number(hop, 'ifindex'), '?'))}"]
        words += [f"table {number(route, 'table')}"] if number(route, "table") not in (0, 254) else []
        words += [f"metric {number(route, 'priority')}"] if number(route, "priority") else []
        return " ".join(filter(None, words)).removeprefix("unicast ")

    def _listeners(self, place: str, space: Mapping[str, Any]) -> Iterator[_Thing]:
        lowest = (*sequence(space, "settings", "local_port_range"), 32768)[0]
        passing = lowest if isinstance(lowest, int) else 32768
        told: set[str] = set()
        for listener in sequence(space, "listeners"):
            protocol, address, port = text(listener, "protocol"), text(listener, "address"), number(listener, "port")
            programs = self._programs(listener)
            name = f"{place} {protocol} {address} port {port}"
            if address == _EMBEDDED_DNS:
                name = f"{place} embedded DNS"
            elif port >= passing:
                name = f"{place} {protocol} {address} of {programs or 'somebody'}, a port of the moment"
            if name not in told:
                told.add(name)
                yield "listener", name, {"program": programs} if programs else {}

    def _programs(self, entry: Any) -> str:
        comms = (self._comms.get(pid, "") for pid in sequence(entry, "pids") if isinstance(pid, int))
        return ", ".join(sorted(set(filter(None, comms))))

    def place(self, netns: int) -> str:
        """The name of a namespace."""
        return self._places.get(netns) or f"net:[{netns}]"

    def container(self, identifier: str) -> str:
        """The name of a container."""
        return self._containers.get(identifier) or identifier[:12]

    def network_facts(self, entry: Any) -> tuple[str, dict[str, str]]:
        """A network of the engine."""
        members = sorted(
            f"{self.container(text(member, 'container'))} {text(member, 'address')}".strip()
            for member in sequence(entry, "members")
        )
        facts = {
            "driver": text(entry, "driver"),
            "subnets": " ".join(texts(entry, "subnets")),
            "gateways": " ".join(texts(entry, "gateways")),
            "internal": _yes(flag(entry, "internal")),
            "members": ", ".join(members),
        }
        return text(entry, "name"), facts

    def container_facts(self, entry: Any) -> tuple[str, dict[str, str]]:
        """A container: another id under the same name is a new one."""
        facts = {
            "image": text(entry, "image"),
            "status": text(entry, "status"),
            "id": text(entry, "id")[:12],
            "network mode": text(entry, "network_mode"),
        }
        return text(entry, "name"), facts

    def kafka_facts(self, entry: Any) -> tuple[str, dict[str, str]]:
        """A Kafka listener."""
        bound = entry.get("bound") if isinstance(entry, Mapping) else None
        facts = {
            "binds": _endpoint(mapping(entry, "bind")),
            "advertises": _endpoint(mapping(entry, "advertised")),
            "protocol": text(entry, "security_protocol"),
            "listens": "not seen" if bound is None else " ".join(sorted(texts(entry, "bound"))) or "no",
            "published": " ".join(sorted(texts(entry, "published"))),
        }
        return text(entry, "key"), facts

    def published_facts(self, entry: Any) -> tuple[str, dict[str, str]]:
        """A published port."""
        pids = entry.get("pids") if isinstance(entry, Mapping) else None
        facts = {
            "leads to": f"{self.container(text(entry, 'container'))} {number(entry, 'target')}",
            "address": text(entry, "to_address"),
            "by": " ".join(texts(entry, "by")),
            "in force": _yes(flag(entry, "in_force")),
            "somebody listens": "not seen" if pids is None else _yes(bool(pids)),
        }
        return text(entry, "key"), facts

    def reach_facts(self, entry: Any) -> tuple[str, dict[str, str]]:
        """What becomes of a connection."""
        where = _endpoint({"host": text(entry, "destination"), "port": number(entry, "port")})
        end = text(entry, "path", "end")
        facts = {"ends": end, "because": "" if end == "connected" else text(entry, "path", "because")}
        return f"{text(entry, 'source')} to {text(entry, 'listener')} by {where}", facts

    def finding_facts(self, entry: Any) -> tuple[str, dict[str, str]]:
        """A finding."""
        location = mapping(entry, "location")
        where = " ".join(filter(None, (text(location, key) for key in ("place", "container", "device", "part"))))
        return f"{text(entry, 'rule')} {where}".strip(), {"message": text(entry, "message")}

    def unmatched_facts(self, entry: Any) -> tuple[str, dict[str, str]]:
        """Something without a counterpart."""
        return text(entry, "subject"), {"because": text(entry, "because")}


_TOP: dict[str, tuple[str, Callable[[_Reader, Any], tuple[str, dict[str, str]]]]] = {
    "finding": ("findings", _Reader.finding_facts),
    "reach": ("reach", _Reader.reach_facts),
    "container": ("containers", _Reader.container_facts),
    "network": ("networks", _Reader.network_facts),
    "Kafka listener": ("kafka_listeners", _Reader.kafka_facts),
    "published port": ("published", _Reader.published_facts),
    "not matched": ("unmatched", _Reader.unmatched_facts),
}


def _routing_rule(rule: Any) -> str:
    details = mapping(rule, "details")
    conditions = [
        f"{key} {details[key]}" for key in sorted(details) if key != "protocol" and isinstance(details[key], str | int)
    ]
    words = [
        f"IPv{number(rule, 'family')}",
        f"{number(rule, 'priority')}:",
        f"from {text(rule, 'from_prefix') or 'all'}",
        f"to {text(rule, 'to_prefix')}" if text(rule, "to_prefix") else "",
        *conditions,
        text(rule, "action"),
        str(number(rule, "table") or ""),
    ]
    return " ".join(filter(None, words))


def _settings(place: str, settings: Mapping[str, Any]) -> Iterator[_Thing]:
    for name in _SWITCHES:
        if isinstance(settings.get(name), bool):
            yield "setting", f"{place} {name}", {"value": "on" if settings[name] else "off"}
    for name in ("route_localnet", "rp_filter"):
        for device, value in mapping(settings, name).items():
            if not _GENERATED.fullmatch(device) and isinstance(value, int):
                yield "setting", f"{place} {name} of {device}", {"value": str(value)}


def _filters(place: str, ruleset: Mapping[str, Any]) -> Iterator[_Thing]:
    for table in sequence(ruleset, "tables"):
        where = f"{place} {text(table, 'origin')} {text(table, 'family')} {text(table, 'name')}"
        for chain in sequence(table, "chains"):
            name = f"{where} {text(chain, 'name')}"
            yield "chain", name, {"policy": text(chain, "policy")} if text(chain, "policy") else {}
            for rule in sequence(chain, "rules"):
                yield "filter rule", f"{name}: {_rule_text(rule)}", {}
        for each in sequence(table, "sets"):
            elements = sorted(" ".join(texts({"e": pair}, "e")) for pair in sequence(each, "elements"))
            if not flag(each, "anonymous"):
                yield "set", f"{where} {text(each, 'name')}", {"elements": ", ".join(elements)}


def _rule_text(rule: Any) -> str:
    """Without counters, and without the port that the engine's resolver listens on this time."""
    said = _COUNTERS.sub("counter", text(rule, "text"))
    return _DNS_PORT.sub(r"\1#", said) if _EMBEDDED_DNS in said else said


def _endpoint(endpoint: Mapping[str, Any]) -> str:
    host = text(endpoint, "host")
    return f"{host or '*'}:{number(endpoint, 'port')}" if endpoint else ""


def _yes(value: bool) -> str:
    return "yes" if value else "no"


FORMAT = "netdiag-topology"
VERSION = 1

_HINT = "create it with netdiag topology --format json --out FILE"


class ChangeKind(StrEnum):
    """What became of a thing; the value is the word users see."""

    APPEARED = "appeared"
    GONE = "gone"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """One fact of a thing, before and after; "" where it was not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not as it was. `kind` is a word ("link"), `name` holds no number that a restart changes."""

    turn: ChangeKind
    kind: str
    name: str
    facts: tuple[FactChange, ...] = ()


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The changes between two documents of `netdiag topology`, in the order of the later one; what went is last."""
    old, new = take_snapshot(before), take_snapshot(after)
    changes: list[Difference] = []
    for (kind, name), facts in new.items():
        if (kind, name) not in old:
            told = tuple(FactChange(name=key, before="", after=word) for key, word in facts.items() if word)
            changes.append(Difference(turn=ChangeKind.APPEARED, kind=kind, name=name, facts=told))
        elif facts != old[kind, name]:
            changes.append(
                Difference(turn=ChangeKind.CHANGED, kind=kind, name=name, facts=tuple(_facts(old[kind, name], facts)))
            )
    gone = [Difference(turn=ChangeKind.GONE, kind=kind, name=name) for kind, name in old if (kind, name) not in new]
    return (*changes, *gone)


def load_document(data: bytes, where: str) -> Mapping[str, Any]:
    """The document that a file holds, if it is one that can be compared; InputError in one line otherwise."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("is not JSON", where=where, hint=_HINT) from error
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise InputError("is not a document of netdiag topology", where=where, hint=_HINT)
    version = document.get("version")
    if version != VERSION:
        told = version if isinstance(version, int) and abs(version) < 1_000_000 else "of another kind"
        raise InputError(
            f"is version {told} of the document, but this netdiag reads version {VERSION}",
            where=where,
            hint="write both with the same version of netdiag",
        )
    # Compared with nothing, everything would seem to have come.
    damaged = [name for name in ("places", "namespaces") if not isinstance(document.get(name), list)]
    if damaged:
        raise InputError(f"has no list of {damaged[0]}", where=where, hint=_HINT)
    return document


def _facts(old: Mapping[str, str], new: Mapping[str, str]) -> list[FactChange]:
    names = dict.fromkeys((*old, *new))
    return [
        FactChange(name=name, before=old.get(name, ""), after=new.get(name, ""))
        for name in names
        if old.get(name, "") != new.get(name, "")
    ]
