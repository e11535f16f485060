"""Holds what a real connection did against the way that was foretold: device by device, rule by rule, and the end."""

from collections.abc import Collection, Sequence

from netdiag.linux.ruleset import RuleAddress
from netdiag.topology.hops import End, Hop, HopKind, Path
from netdiag.topology.inventory import LinkId
from netdiag.topology.proof import Agreement, Attempted, Moved, Seen, agreement

# A route names a device, too, but a packet may still be dropped before it gets there.
_DEVICES = (HopKind.LINK, HopKind.BRIDGE, HopKind.NEIGHBOUR)
_BY_RULES = (End.DROPPED, End.REFUSED)


def devices_of(path: Path) -> tuple[LinkId, ...]:
    """The devices that the first packet is said to pass, in order; what a docker-proxy sends is another connection."""
    passed = (hop.link for hop in _there(path) if hop.kind in _DEVICES and hop.link is not None)
    return tuple(dict.fromkeys(passed))


def demanded(path: Path) -> frozenset[LinkId]:
    """Those on which it must be seen: not where it ends before it is sent or taken up."""
    hops = _there(path)
    sure = [hop for hop in hops if hop.kind in _DEVICES]
    if path.end not in (End.CONNECTED, End.CLOSED) and hops:
        if hops[-1].kind is HopKind.NEIGHBOUR:
            sure = sure[:-1]
        elif sure and sure[-1].kind is HopKind.BRIDGE:
            # Rules about bridged frames are asked before they are sent on, or taken up.
            sure = sure[:-1]
    return frozenset(hop.link for hop in sure if hop.link is not None)


def _there(path: Path) -> list[Hop]:
    hops = [hop for hop in path.hops if not hop.details.get("answer")]
    proxy = next((index for index, hop in enumerate(hops) if hop.kind is HopKind.PROXY), len(hops))
    return hops[:proxy]


def deciding_rule(path: Path) -> tuple[int, RuleAddress] | None:
    """The rule that is said to end the way, and its namespace."""
    if path.end not in _BY_RULES or not path.hops:
        return None
    filters = [hop for hop in path.hops if hop.kind is HopKind.FILTER and not hop.details.get("answer")]
    last = [hop for hop in path.hops if not hop.details.get("answer")][-1:]
    if not filters or not last or last[0] is not filters[-1] or not last[0].rules:
        return None
    return last[0].netns, last[0].rules[0]


def judged(
    path: Path,
    attempted: Attempted,
    seen: Sequence[Seen],
    moved: Sequence[Moved],
    *,
    demanded: Collection[LinkId],
    counted: Collection[tuple[int, RuleAddress]],
) -> tuple[Agreement, str]:
    """Whether all of it agrees, and why not or how in one line."""
    came = attempted.errno or ("closed at once" if attempted.closed else "connected")
    foretold = f"{path.end.value} {path.errno}".rstrip()
    word = agreement(path, attempted.errno, closed=attempted.closed)
    if word is Agreement.OPEN:
        return word, f"nothing was foretold, came {came}"
    if word is Agreement.DISAGREES:
        return word, f"foretold {foretold}, came {came}"
    missed = [one for one in seen if one.link in demanded and not one.first]
    if missed:
        return (
            Agreement.DISAGREES,
            f"{came} as foretold, but the packet was not seen on {len(missed)} devices of the way",
        )
    rule = deciding_rule(path)
    if rule is not None and rule in counted:
        evidence = next((one for one in moved if (one.netns, one.rule) == rule), None)
        if evidence is None:
            return Agreement.DISAGREES, f"{came} as foretold, but the counter of {rule[1]} did not move"
        how = "consistent with" if evidence.others else "counted by"
        return word, f"{came} as foretold, {how} {rule[1]}"
    where = (
        f", seen on all {len(demanded)} devices of the way" if len(demanded) > 1 and len(seen) >= len(demanded) else ""
    )
    return word, f"{came} as foretold{where}"
