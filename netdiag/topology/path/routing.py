"""The route that a packet takes: policy rules, tables, longest prefix, metrics, source address.

Sources: net/core/fib_rules.c, net/ipv4/fib_semantics.c, fib_frontend.c, route.c, net/ipv6/route.c; RFC 6724.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from netdiag.linux.rtnetlink import Detail, InterfaceAddress, Link, NextHop, Route, RoutingRule
from netdiag.topology.inventory import IndexedNamespace, address_bits, family_of, in_prefix, parse_prefix
from netdiag.values import dataclass

LOOPBACK_INDEX = 1
_LOCAL_TABLE = 255
_DEAD = 0x1
_ERRNOS = {"unreachable": "EHOSTUNREACH", "prohibit": "EACCES", "blackhole": "EINVAL"}
_ACTIONS = {"unreachable": "ENETUNREACH", "prohibit": "EACCES", "blackhole": "EINVAL"}
_PROTOCOLS = {"tcp": 6, "udp": 17}
# Conditions of rules that are looked at here, and what else stands among them without being one.
_CONDITIONS = frozenset(
    {
        *("fwmark", "fwmask", "iif", "oif", "ipproto", "sport", "sport_start", "sport_end"),
        *("dport", "dport_start", "dport_end", "sport_mask", "dport_mask", "not", "l3mdev"),
    }
)
_OTHER = frozenset({"protocol", "suppress_prefixlen", "goto", "unresolved", "flow_to", "flow_from"})
# No first packet of a connection has these; a device that is gone brings none.
_NEVER = frozenset({"tos", "dscp", "tun_id", "iif_detached", "oif_detached"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What routing looks at; `iif` None is a packet that this namespace sends itself."""

    destination: str
    source: str = ""
    iif: Link | None = None
    oif: Link | None = None
    mark: int = 0
    protocol: str = "tcp"
    source_port: int = 0
    port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRoute:
    """The route that was found; `hop` is None for a local one without a device."""

    route: Route
    rule: RoutingRule
    hop: NextHop | None

    @property
    def text(self) -> str:
        """As `ip route` prints it, without its device."""
        return route_text(self.route)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRoute:
    """There is none; `errno` is what a program here gets."""

    errno: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownRoute:
    """Something that is not modelled decides."""

    because: str


RouteLookup = ChosenRoute | NoRoute | UnknownRoute


def look_up_route(namespace: IndexedNamespace, flow: Flow) -> RouteLookup:
    """The route that the rules and tables of a namespace choose."""
    family = family_of(flow.destination)
    if any(u.what.startswith(("routes", "rules")) for u in namespace.facts.unread):
        return UnknownRoute(because="its routes could not be read")
    rules = namespace.rules[family]
    position = 0
    for _ in range(4 * len(rules) + 1):
        if position >= len(rules):
            break
        rule = rules[position]
        position += 1
        matches = _matches(namespace, rule, flow)
        if isinstance(matches, UnknownRoute):
            return matches
        if not matches:
            continue
        if rule.action == "goto":
            wanted = rule.details.get("goto")
            position = next((i for i, r in enumerate(rules) if r.priority == wanted and i >= position), len(rules))
            continue
        found = _by_rule(namespace, rule, flow)
        if found is not None:
            return found
    return NoRoute(errno="ENETUNREACH", because=f"no route to {flow.destination}")


def route_text(route: Route) -> str:
    """A route as `ip route` prints it, without its device."""
    kind = "" if route.type == "unicast" else f"{route.type} "
    default = route.destination in ("0.0.0.0/0", "::/0")
    target = "default" if default else route.destination.removesuffix("/32").removesuffix("/128")
    return f"{kind}{target}"


def _by_rule(namespace: IndexedNamespace, rule: RoutingRule, flow: Flow) -> RouteLookup | None:
    """What a rule decides; None where the next rule does."""
    if rule.action in _ACTIONS:
        because = f"policy rule {rule.priority}: {rule.action}"
        return NoRoute(errno=_ACTIONS[rule.action], because=because)
    if rule.action == "nop":
        return None
    if rule.action != "lookup":
        return UnknownRoute(
            because=f'policy rule {rule.priority} has the action "{rule.action}", which netdiag does not model'
        )
    found = _in_table(namespace, rule, flow)
    if isinstance(found, ChosenRoute):
        least = rule.details.get("suppress_prefixlen")
        if isinstance(least, int) and least < 129 and parse_prefix(found.route.destination)[2] <= least:
            return None
    return found


def _in_table(namespace: IndexedNamespace, rule: RoutingRule, flow: Flow) -> RouteLookup | None:
    family = family_of(flow.destination)
    target = address_bits(flow.destination)
    source = address_bits(flow.source) if flow.source else None
    for route in namespace.tables.get((family, rule.table), ()):
        if not in_prefix(target, parse_prefix(route.destination)) or route.tos:
            continue
        if route.from_prefix and (source is None or not in_prefix(source, parse_prefix(route.from_prefix))):
            continue
        if route.type == "throw":
            return None
        if route.type in _ERRNOS:
            return NoRoute(errno=_ERRNOS[route.type], because=f"route {route_text(route)} in table {route.table}")
        hops = [hop for hop in route.hops if _usable(namespace, hop, flow, route)]
        if not hops and route.hops:
            continue
        if route.type == "local":
            return ChosenRoute(route=route, rule=rule, hop=hops[0] if hops else None)
        hops = _equal_next_hops(namespace, rule, route, flow, hops)
        if len(hops) > 1:
            return UnknownRoute(because=f"route {route_text(route)} has {len(hops)} next hops, used in turn")
        if hops:
            return ChosenRoute(route=route, rule=rule, hop=hops[0])
    return None


def _equal_next_hops(
    namespace: IndexedNamespace, rule: RoutingRule, route: Route, flow: Flow, hops: list[NextHop]
) -> list[NextHop]:
    """IPv6 lists the next hops of one route as routes of equal prefix and metric; only gateways are taken by turns."""
    if route.family == 4 or len(hops) != 1 or not hops[0].gateway:
        return hops
    equal = [
        hop
        for other in namespace.tables.get((6, rule.table), ())
        if other.destination == route.destination and other.priority == route.priority and other.type == "unicast"
        for hop in other.hops
        if hop.gateway and _usable(namespace, hop, flow, other)
    ]
    return list(dict.fromkeys(equal)) or hops


def _usable(namespace: IndexedNamespace, hop: NextHop, flow: Flow, route: Route) -> bool:
    if hop.flags & _DEAD:
        return False
    if flow.oif is not None and hop.ifindex != flow.oif.ifindex and route.type != "local":
        return False
    link = namespace.links.get(hop.ifindex) if hop.ifindex is not None else None
    return link is None or link.up or route.type == "local"


def _matches(namespace: IndexedNamespace, rule: RoutingRule, flow: Flow) -> bool | UnknownRoute:
    unknown = rule.details.keys() - _CONDITIONS - _OTHER - _NEVER
    if "l3mdev" in rule.details and any(link.kind == "vrf" for link in namespace.facts.links):
        unknown = {"l3mdev"}
    if unknown:
        condition = min(unknown)
        return UnknownRoute(
            because=f"policy rule {rule.priority} has the condition {condition!r}, which netdiag does not model"
        )
    return all(_conditions(rule, flow)) != ("not" in rule.details)


def _conditions(rule: RoutingRule, flow: Flow) -> Iterator[bool]:
    details = rule.details
    yield not details.keys() & (_NEVER | {"l3mdev"})
    if rule.from_prefix:
        # The kernel compares with zero as long as a packet has no source address.
        source = address_bits(flow.source) if flow.source else 0
        yield in_prefix(source, parse_prefix(rule.from_prefix))
    if rule.to_prefix:
        yield in_prefix(address_bits(flow.destination), parse_prefix(rule.to_prefix))
    if "fwmark" in details:
        mask = _int(details.get("fwmask", 0xFFFFFFFF))
        yield flow.mark & mask == _int(details["fwmark"]) & mask
    if details.get("iif"):
        yield details["iif"] == (flow.iif.ifname if flow.iif else "lo")
    if details.get("oif"):
        yield flow.oif is not None and details["oif"] == flow.oif.ifname
    if details.get("ipproto"):
        yield details["ipproto"] in (flow.protocol, _PROTOCOLS.get(flow.protocol), str(_PROTOCOLS.get(flow.protocol)))
    for name, port in (("sport", flow.source_port), ("dport", flow.port)):
        low, high = _ports(details, name)
        if low is not None:
            yield low <= port <= high if low != high else not (low ^ port) & _int(details.get(f"{name}_mask", 0xFFFF))


def _ports(details: Mapping[str, Detail], name: str) -> tuple[int | None, int]:
    if details.get(name):
        low, _, high = str(details[name]).partition("-")
        return int(low), int(high or low)
    if f"{name}_start" in details:
        return _int(details[f"{name}_start"]), _int(details.get(f"{name}_end", details[f"{name}_start"]))
    return None, 0


def _int(value: Detail) -> int:
    return int(value, 0) if isinstance(value, str) else int(value) if isinstance(value, int) else 0


def is_local(namespace: IndexedNamespace, address: str) -> bool:
    """Whether an address is one of the namespace's own, as the kernel's local table has it."""
    family, bits = family_of(address), address_bits(address)
    for route in namespace.tables.get((family, _LOCAL_TABLE), ()):
        if in_prefix(bits, parse_prefix(route.destination)):
            return route.type == "local"
    return False


def device_address(namespace: IndexedNamespace, ifindex: int, family: int, towards: str) -> str:
    """The address for masquerading behind a link, "" for none (inet_select_addr(), ipv6_dev_get_saddr())."""
    found = [
        a
        for a in namespace.addresses.get(ifindex, ())
        if family_of(a.address) == family and a.scope == 0 and not (_secondary(a) if family == 4 else a.flags & 0x48)
    ]
    if family == 4 and family_of(towards) == 4:
        found = [
            a for a in found if in_prefix(address_bits(towards), parse_prefix(f"{a.address}/{a.prefix_length}"))
        ] or found
    if not found and family == 4:
        # A device without one, lo among them, borrows from the others.
        found = [a for a in namespace.facts.addresses if ":" not in a.address and a.scope == 0 and not _secondary(a)]
    return found[0].address if found else ""


def source_address(namespace: IndexedNamespace, chosen: ChosenRoute, destination: str) -> str:
    """The source address of a packet that this namespace sends; "" where there is none."""
    if chosen.route.type == "local":
        return chosen.route.source or destination.partition("%")[0]
    if chosen.route.source:
        return chosen.route.source
    if family_of(destination) == 6:
        return _source_6(namespace, chosen, destination)
    return _source_4(namespace, chosen, destination)


def _source_4(namespace: IndexedNamespace, chosen: ChosenRoute, destination: str) -> str:
    """inet_select_addr() of net/ipv4/devinet.c."""
    hop = chosen.hop
    index = hop.ifindex if hop is not None else None
    towards = address_bits(hop.gateway) if hop is not None and hop.gateway and family_of(hop.gateway) == 4 else None
    if towards is None:
        towards = address_bits(destination)
    usable = [
        a
        for a in namespace.addresses.get(index or 0, ())
        if family_of(a.address) == 4 and a.scope <= chosen.route.scope and not _secondary(a)
    ]
    near = [a for a in usable if in_prefix(towards, parse_prefix(f"{a.peer or a.address}/{a.prefix_length}"))]
    if near or usable:
        return (near or usable)[0].address
    elsewhere = (a for a in namespace.facts.addresses if family_of(a.address) == 4 and not _secondary(a))
    return next((a.address for a in elsewhere if a.scope != 253 and a.scope <= chosen.route.scope), "")


def _secondary(address: InterfaceAddress) -> bool:
    return bool(address.flags & 0x01)


def _source_6(namespace: IndexedNamespace, chosen: ChosenRoute, destination: str) -> str:
    """The main rules of RFC 6724, section 5: scope, outgoing device, deprecation, longest common prefix."""
    target, index = address_bits(destination), chosen.hop.ifindex if chosen.hop else None
    link_local = _scope_6(target) == 2
    usable = [
        a
        for a in namespace.facts.addresses
        if family_of(a.address) == 6 and not a.flags & 0x48 and (not link_local or a.ifindex == index)
    ]
    if not usable:
        return ""

    def rank(a: InterfaceAddress) -> tuple[int, bool, bool, int]:
        bits = address_bits(a.address)
        scope, wanted = _scope_6(bits), _scope_6(target)
        # Too small a scope is worst, then too large a one.
        fit = 0 if scope == wanted else (100 - scope if scope < wanted else scope)
        return fit, bool(a.flags & 0x20), a.ifindex != index, -(128 - (bits ^ target).bit_length())

    return min(usable, key=rank).address


def _scope_6(bits: int) -> int:
    if bits == 1 or bits >> 118 == 0xFE80 >> 6:
        return 2
    return 5 if bits >> 118 == 0xFEC0 >> 6 else 14


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRoute:
    """The decision about a packet that came in: `local`, forwarded by `chosen`, or discarded.

    `errno` is what the sender of a discarded packet gets, "" for silence.
    """

    local: bool = False
    chosen: ChosenRoute | None = None
    errno: str = ""
    because: str = ""
    unknown: bool = False


def route_input(namespace: IndexedNamespace, flow: Flow) -> InputRoute:
    """Routing of a packet that a device received (ip_route_input_slow() of net/ipv4/route.c)."""
    family = family_of(flow.destination)
    link = flow.iif
    if family == 4 and (martian := _martian(namespace, flow)):
        return InputRoute(because=martian)
    forwards = namespace.forwards(family)
    found = look_up_route(namespace, flow)
    if isinstance(found, UnknownRoute):
        return InputRoute(unknown=True, because=found.because)
    if isinstance(found, NoRoute):
        if not forwards:
            return InputRoute(because=f"{found.because}, and {_off(family)} is off")
        return InputRoute(errno="" if found.errno == "EINVAL" else found.errno, because=found.because)
    if found.route.type == "local":
        refused = _source_refused(namespace, flow) if family == 4 else ""
        return InputRoute(because=refused) if refused else InputRoute(local=True, chosen=found)
    if found.route.type != "unicast":
        return InputRoute(because=f"{found.text} accepts no connections")
    if not forwards:
        return InputRoute(because=f"{flow.destination} is elsewhere and is not forwarded: {_off(family)} is off")
    if family == 4 and (refused := _source_refused(namespace, flow)):
        return InputRoute(because=refused)
    if family == 6 and link is not None and flow.destination.lower().startswith("fe80:"):
        return InputRoute(because="link-local addresses are not forwarded")
    return InputRoute(chosen=found)


def _off(family: int) -> str:
    return "net.ipv4.ip_forward" if family == 4 else "net.ipv6.conf.all.forwarding"


def _martian(namespace: IndexedNamespace, flow: Flow) -> str:
    loopback = parse_prefix("127.0.0.0/8")
    if namespace.setting("route_localnet", flow.iif):
        return ""
    name = flow.iif.ifname if flow.iif else "lo"
    if in_prefix(address_bits(flow.source), loopback):
        return f"{flow.source} is a loopback address, but the packet came in through {name}"
    if in_prefix(address_bits(flow.destination), loopback):
        return f"{flow.destination} is a loopback address, and route_localnet is off for {name}"
    return ""


def _source_refused(namespace: IndexedNamespace, flow: Flow) -> str:
    """fib_validate_source() of net/ipv4/fib_frontend.c: why the source address is not believed, "" if it is."""
    mode = namespace.setting("rp_filter", flow.iif)
    if flow.iif is None:
        return ""
    if not mode:
        return f"the source {flow.source} is an address of its own" if flow.source in namespace.own else ""
    back = replace(flow, destination=flow.source, source=flow.destination, iif=None, oif=None)
    found = look_up_route(namespace, back)
    if not isinstance(found, ChosenRoute):
        return f"rp_filter: no route back to {flow.source}"
    if found.route.type != "unicast":
        return f"rp_filter: the route back to {flow.source} is {found.text}"
    if any(hop.ifindex == flow.iif.ifindex for hop in found.route.hops):
        return ""
    if mode == 2:
        return ""
    return f"rp_filter: {flow.source} is not reachable through {flow.iif.ifname}"
