"""Our facts of a namespace against what iproute2 printed of it, object by object and field by field.

A field is compared where iproute2 prints it; what only we tell (newer attributes) cannot be held against it. Timers run
on between two readings and are left out; whatever else changes by itself (states, aging) is read again by `settled`.
"""

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from netdiag.topology.inventory import NamespaceFacts
from tests.netlab import link_words, route_words
from tests.netlab.iproute2_output import Iproute2Output

_ADDRESS_FLAGS = {
    0x02: "nodad",
    0x04: "optimistic",
    0x08: "dadfailed",
    0x10: "home",
    0x20: "deprecated",
    0x40: "tentative",
    0x100: "mngtmpaddr",
    0x200: "noprefixroute",
}
_SCOPES = {"global": 0, "site": 200, "link": 253, "host": 254, "nowhere": 255}

# What an object is called, and its fields: those of one side that the other side's are held against.
Thing = tuple[Hashable, dict[str, Any]]


@dataclass(slots=True)
class Comparison:
    """`compared` counts the objects of iproute2 by kind; the rest are lines for people, each naming its object."""

    compared: Counter[str] = field(default_factory=Counter)
    fields: int = 0
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether nothing is to be said."""
        return not (self.missing or self.extra or self.differing)

    def add(self, other: "Comparison") -> None:
        """Several namespaces together."""
        self.compared += other.compared
        self.fields += other.fields
        self.missing += other.missing
        self.extra += other.extra
        self.differing += other.differing

    def __str__(self) -> str:
        lines = [
            f"{self.compared.total()} objects and {self.fields} fields compared ({dict(self.compared)}), "
            f"{len(self.missing)} missing, {len(self.extra)} extra, {len(self.differing)} differing",
            *(f"missing: {line}" for line in self.missing[:20]),
            *(f"extra: {line}" for line in self.extra[:20]),
            *(f"differing: {line}" for line in self.differing[:20]),
        ]
        return "\n".join(lines)


def compare(facts: NamespaceFacts, said: Iproute2Output) -> Comparison:
    """Everything of one namespace."""
    names = {one["ifindex"]: one["ifname"] for one in said["link"]}
    numbers = {name: number for number, name in names.items()}
    result = Comparison()
    pairs: Mapping[str, tuple[Iterator[Thing], Iterator[Thing]]] = {
        "link": (link_words.ours(facts, names), link_words.theirs(said)),
        "address": (_our_addresses(facts), _their_addresses(said)),
        "route": (route_words.our_routes(facts, names), route_words.their_routes(said)),
        "rule": (route_words.our_rules(facts), route_words.their_rules(said)),
        "neighbour": (_our_neighbours(facts, names), _their_neighbours(said)),
        "fdb": (_our_forwarding(facts, names), _their_forwarding(said)),
        "vlan": (_our_vlans(facts, names), _their_vlans(said, numbers)),
    }
    for kind, (ours, theirs) in pairs.items():
        hold_against(kind, list(ours), list(theirs), result)
    return result


def settled(read: Callable[[], tuple[NamespaceFacts, Iproute2Output]], *, seconds: float = 15.0) -> Comparison:
    """The comparison once the namespace stands still: read again as long as the two differ, until the time is up."""
    deadline = time.monotonic() + seconds
    while True:
        result = compare(*read())
        if result.equal or time.monotonic() > deadline:
            return result
        time.sleep(0.2)


def hold_against(kind: str, ours: list[Thing], theirs: list[Thing], result: Comparison) -> None:
    """Note in `result` what of `theirs` is not in `ours`, and the other way round."""
    by_key: dict[Hashable, list[dict[str, Any]]] = {}
    for key, fields in ours:
        by_key.setdefault(key, []).append(fields)
    for key, fields in theirs:
        result.compared[kind] += 1
        candidates = by_key.get(key)
        if not candidates:
            result.missing.append(f"{kind} {key}: {fields}")
            continue
        best = min(candidates, key=lambda candidate: len(list(_different(candidate, fields))))
        candidates.remove(best)
        result.fields += len(fields)
        result.differing += [f"{kind} {key}: {line}" for line in _different(best, fields)]
    result.extra += [f"{kind} {key}: {one}" for key, left in by_key.items() for one in left]


def _different(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[str]:
    for name, value in theirs.items():
        if name not in ours:
            yield f"{name} is {value!r}, we do not tell it"
        elif ours[name] != value:
            yield f"{name} is {value!r}, we say {ours[name]!r}"


def _our_addresses(facts: NamespaceFacts) -> Iterator[Thing]:
    for one in facts.addresses:
        flags = {word for bit, word in _ADDRESS_FLAGS.items() if one.flags & bit}
        if one.flags & 0x01:
            flags.add("temporary" if ":" in one.address else "secondary")
        if not one.flags & 0x80:
            flags.add("dynamic")
        told = {"scope": one.scope, "label": one.label, "broadcast": one.broadcast, "flags": flags}
        yield (one.ifindex, one.address, one.prefix_length, one.peer), told


def _their_addresses(said: Iproute2Output) -> Iterator[Thing]:
    words = {*_ADDRESS_FLAGS.values(), "temporary", "secondary", "dynamic"}
    for link in said["addr"]:
        for one in link["addr_info"]:
            scope = one["scope"]
            told = {
                "scope": _SCOPES[scope] if scope in _SCOPES else int(scope),
                "label": one.get("label", ""),
                "broadcast": one.get("broadcast", ""),
                "flags": {word for word in words if one.get(word)},
            }
            yield (link["ifindex"], one["local"], one["prefixlen"], one.get("address", "")), told


def _our_neighbours(facts: NamespaceFacts, names: Mapping[int, str]) -> Iterator[Thing]:
    for one in facts.neighbours:
        told = {"lladdr": one.lladdr, "state": list(one.states), "router": one.router}
        yield (_device(one.ifindex, names), one.address, one.proxy), told


def _their_neighbours(said: Iproute2Output) -> Iterator[Thing]:
    for one in (*said["neigh"], *said["proxy"], *said["proxy6"]):
        # without a name in the namespace, iproute2 leaves the device out
        told = {"lladdr": one.get("lladdr", ""), "state": one.get("state", []), "router": "router" in one}
        told["state"] = [word for word in told["state"] if word != "NONE"]
        yield (one.get("dev", ""), one["dst"], "proxy" in one), told


def _our_forwarding(facts: NamespaceFacts, names: Mapping[int, str]) -> Iterator[Thing]:
    for one in facts.fdb:
        details = one.details
        via = details.get("via")
        told = {
            "master": _device(one.master, names),
            "state": one.state,
            "flags": sorted(one.flags),
            # an index of another namespace has no name in this one
            "via": _device(via, {} if "link_netnsid" in details else names) if isinstance(via, int) else "",
            "nhid": details.get("nhid"),
        }
        key = (one.vlan, one.destination, details.get("port"), details.get("vni"), details.get("src_vni"))
        yield (_device(one.ifindex, names), one.lladdr, *key), told


def _their_forwarding(said: Iproute2Output) -> Iterator[Thing]:
    for one in said["fdb"]:
        told = {
            "master": one.get("master", ""),
            "state": one["state"],
            "flags": sorted(one["flags"]),
            "via": one.get("viaIf", "") or (f"if{one['viaIfIndex']}" if "viaIfIndex" in one else ""),
            "nhid": one.get("nhid"),
        }
        key = (one.get("vlan"), one.get("dst", ""), one.get("port"), one.get("vni"), one.get("src_vni"))
        yield (one.get("ifname", ""), one["mac"], *key), told


def _our_vlans(facts: NamespaceFacts, names: Mapping[int, str]) -> Iterator[Thing]:
    for one in facts.vlans:
        yield (_device(one.ifindex, names), one.vlan, one.vlan_end), {"flags": sorted(one.flags)}


def _their_vlans(said: Iproute2Output, numbers: Mapping[str, int]) -> Iterator[Thing]:
    for port in said["vlan"]:
        assert port["ifname"] in numbers
        for one in port["vlans"]:
            told = {"flags": sorted(one.get("flags", []))}
            yield (port["ifname"], one["vlan"], one.get("vlanEnd", one["vlan"])), told


def _device(ifindex: int | None, names: Mapping[int, str]) -> str:
    return names.get(ifindex, f"if{ifindex}") if ifindex is not None else ""
