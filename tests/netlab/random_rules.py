"""Rules at random, of iptables and of nft, that say something about the connections of the small world."""

import random

from tests.netlab.filtering_world import (
    BORROWED,
    CLIENT,
    CLIENT_SIDE,
    IN,
    OPEN,
    OUT,
    SERVER,
    SERVER_SIDE,
    SERVER_TOO,
    SHUT,
    Attempt,
    World,
)

_PORTS = (*OPEN, *SHUT)
_NETWORKS = (
    "10.71.1.0/24",
    "10.71.2.0/24",
    "10.71.0.0/16",
    "10.0.0.0/8",
    "192.168.0.0/16",
    "10.71.2.2/31",
)
_ADDRESSES = (CLIENT, CLIENT_SIDE, SERVER_SIDE, SERVER, SERVER_TOO)
_REJECTS = (
    "tcp-reset",
    "icmp-port-unreachable",
    "icmp-host-unreachable",
    "icmp-admin-prohibited",
    "icmp-net-unreachable",
)


def attempts(chance: random.Random, world: World, count: int) -> list[Attempt]:
    """To anywhere where somebody is."""
    return [
        Attempt(source_port=world.source_port(), address=chance.choice(_ADDRESSES[1:]), port=chance.choice(_PORTS))
        for _ in range(count)
    ]


def iptables_rules(chance: random.Random) -> dict[str, list[str]]:
    """By table the lines of iptables-restore: chains with policies, then rules."""
    rules = {table: _table(chance, table) for table in ("raw", "mangle", "nat", "filter")}
    return {table: lines for table, lines in rules.items() if table in ("filter", "nat") or chance.random() < 0.5}


def _table(chance: random.Random, table: str) -> list[str]:
    chains = {
        "raw": ("PREROUTING",),
        "mangle": ("PREROUTING", "FORWARD", "INPUT"),
        "nat": ("PREROUTING", "POSTROUTING"),
        "filter": ("FORWARD", "INPUT"),
    }[table]
    lines = []
    if table == "filter":
        lines += [f":{chain} {chance.choice(('ACCEPT',) * 5 + ('DROP',))} [0:0]" for chain in chains]
    own = ("one", "two") if table != "raw" else ()
    lines += [f":{chain} - [0:0]" for chain in own]
    if table == "filter" and chance.random() < 0.8:
        lines += [f"-A {chain} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT" for chain in chains]
    for chain in (*chains, *own):
        for _ in range(chance.randrange(1, 6)):
            lines.append(_rule(chance, table, chain, own))
    return lines


def _rule(chance: random.Random, table: str, chain: str, own: tuple[str, ...]) -> str:
    words = [f"-A {chain}", *_conditions(chance, chain)]
    tcp = any(word.startswith("-p tcp") for word in words)
    if table == "nat":
        target = _translation(chance, chain, tcp) if chain.isupper() else "-j RETURN"
    else:
        targets = ["-j ACCEPT", "-j ACCEPT", "-j RETURN", ""]
        targets += ["-j DROP"] * (1 if table in ("raw", "mangle") else 3)
        if table == "filter":
            reject = chance.choice(_REJECTS)
            targets += [f"-j REJECT --reject-with {reject if tcp or reject != 'tcp-reset' else _REJECTS[1]}"] * 2
        if table == "mangle":
            targets += [f"-j MARK --set-xmark {chance.randrange(4)}/0xff"] * 3
            targets += [f"-j CONNMARK --set-xmark {chance.randrange(4)}/0xffffffff"]
        if chain.isupper():
            targets += [f"-{chance.choice('jg')} {name}" for name in own]
        target = chance.choice(targets)
    return " ".join(word for word in (*words, target) if word)


def _conditions(chance: random.Random, chain: str) -> list[str]:
    """In the order of iptables-save."""
    words: list[str] = []
    if chance.random() < 0.3:
        words.append(f"{_no(chance)}-s {chance.choice((*_NETWORKS, CLIENT, SERVER))}")
    if chance.random() < 0.4:
        words.append(f"{_no(chance)}-d {chance.choice((*_NETWORKS, *_ADDRESSES))}")
    if chance.random() < 0.3 and chain != "POSTROUTING":
        words.append(f"{_no(chance)}-i {chance.choice((IN, OUT, 'c+', 'lo'))}")
    if chance.random() < 0.2 and chain in ("FORWARD", "POSTROUTING"):
        words.append(f"{_no(chance)}-o {chance.choice((IN, OUT, 's+'))}")
    if chance.random() < 0.7:
        words.append(chance.choice(("-p tcp",) * 6 + ("-p udp", "! -p tcp", "-p icmp")))
        if words[-1] == "-p tcp":
            words += _tcp(chance)
    return words + _matches(chance)


def _no(chance: random.Random) -> str:
    return "! " if chance.random() < 0.25 else ""


def _tcp(chance: random.Random) -> list[str]:
    first = chance.choice(_PORTS)
    match chance.randrange(7):
        case 0 | 1:
            return [f"-m tcp {_no(chance)}--dport {first}"]
        case 2:
            return [f"-m tcp {_no(chance)}--dport {first}:{first + chance.randrange(1, 9)}"]
        case 3:
            return [f"-m multiport {_no(chance)}--dports {first},{chance.choice(_PORTS)},8000:8001"]
        case 4:
            return [f"-m tcp --sport {chance.choice((1, 30000, 40000))}:65535"]
        case 5:
            return [f"-m tcp {_no(chance)}--tcp-flags FIN,SYN,RST,ACK SYN"]
        case _:
            return []


def _matches(chance: random.Random) -> list[str]:
    found = []
    if chance.random() < 0.15:
        states = chance.choice(("NEW", "ESTABLISHED", "NEW,RELATED", "INVALID", "DNAT", "NEW,ESTABLISHED", "UNTRACKED"))
        found.append(f"-m conntrack {_no(chance)}--ctstate {states}")
    if chance.random() < 0.1:
        found.append(f"-m conntrack --ctorigdst {chance.choice(_ADDRESSES)}")
    if chance.random() < 0.12:
        found.append(f"-m addrtype {_no(chance)}--dst-type {chance.choice(('LOCAL', 'UNICAST', 'BROADCAST'))}")
    if chance.random() < 0.1:
        found.append(f"-m mark {_no(chance)}--mark {chance.randrange(4)}/0x3")
    if chance.random() < 0.05:
        found.append(f"-m connmark --mark {chance.randrange(4)}/0x3")
    if chance.random() < 0.08:
        found.append(f"-m iprange {_no(chance)}--dst-range {SERVER_SIDE}-{chance.choice((SERVER, SERVER_TOO))}")
    if chance.random() < 0.05:
        found.append('-m comment --comment "by chance"')
    if chance.random() < 0.03:
        found.append("-m statistic --mode random --probability 0.5")
    return found


def _translation(chance: random.Random, chain: str, tcp: bool) -> str:
    if chain == "POSTROUTING":
        return chance.choice(("-j MASQUERADE", f"-j SNAT --to-source {BORROWED}", "-j RETURN", "-j ACCEPT"))
    port = f":{chance.choice(_PORTS)}" if tcp and chance.random() < 0.7 else ""
    targets = [f"-j DNAT --to-destination {chance.choice(_ADDRESSES[1:])}{port}", "-j RETURN", "-j ACCEPT", "-j one"]
    targets.append(f"-j REDIRECT --to-ports {chance.choice(_PORTS)}" if tcp else "-j REDIRECT")
    return chance.choice(targets)


def nft_rules(chance: random.Random) -> str:
    """A file for `nft -f`."""
    family = chance.choice(("ip", "inet"))
    parts = [f"table {family} chance {{", *_sets(chance)]
    parts += ["chain one {", *(_statement(chance, family, ()) for _ in range(chance.randrange(1, 5))), "}"]
    parts += ["chain two {", *(_statement(chance, family, ("one",)) for _ in range(chance.randrange(1, 5))), "}"]
    for hook in ("prerouting", "forward", "input", "forward"):
        priority = chance.choice((-310, -150, -10, 0, 10, 50))
        policy = chance.choice(("accept",) * 7 + ("drop",)) if hook != "prerouting" else "accept"
        name = f"{hook[:3]}{len(parts)}"
        parts.append(f"chain {name} {{ type filter hook {hook} priority {priority}; policy {policy};")
        if priority > -200 and chance.random() < 0.8:
            parts.append("ct state established,related accept")
        parts += [_statement(chance, family, ("one", "two")) for _ in range(chance.randrange(1, 6))]
        parts.append("}")
    for hook, place in (("prerouting", "dstnat"), ("postrouting", "srcnat")):
        parts.append(f"chain nat{hook} {{ type nat hook {hook} priority {place};")
        parts += [_nat_statement(chance, family, hook) for _ in range(chance.randrange(0, 4))]
        parts.append("}")
    return "\n".join([*parts, "}", ""])


def _sets(chance: random.Random) -> list[str]:
    ports = ", ".join(str(port) for port in sorted(set(chance.choices(_PORTS, k=2))))
    return [
        f"set ports {{ type inet_service; elements = {{ {ports} }}; }}",
        f"set nets {{ type ipv4_addr; flags interval; elements = {{ {CLIENT}, 10.71.2.0/30, 192.168.0.0/16 }}; }}",
        f"set pairs {{ type ipv4_addr . inet_service; flags interval; elements = {{ 10.71.2.0/24 . 8001-8002, "
        f"{CLIENT_SIDE} . 9092 }}; }}",
        f"map places {{ type inet_service : ipv4_addr; elements = {{ 8001 : {SERVER_TOO}, 9092 : {SERVER} }}; }}",
    ]


def _nft_conditions(chance: random.Random, family: str) -> list[str]:
    a_port, a_place, no = chance.choice(_PORTS), chance.choice(_ADDRESSES), chance.choice(("", "", "!= "))
    words = (
        f"tcp dport {no}{a_port}",
        f"tcp dport {no}{a_port}-{a_port + 5}",
        f"tcp dport {no}{{ {a_port}, 8000-8001 }}",
        f"tcp dport {no}@ports",
        f"tcp dport >= {a_port}",
        f"ip saddr {no}{chance.choice(_NETWORKS[:5])}",
        f"ip daddr {no}{a_place}",
        f"ip daddr {no}{{ {a_place}, 10.71.7.7 }}",
        f"ip daddr {no}@nets",
        "ip daddr . tcp dport @pairs",
        f"ip saddr . tcp dport {{ {CLIENT} . {a_port}, {CLIENT} . 8002 }}",
        f"ip saddr {CLIENT} ip daddr {a_place} tcp dport {a_port}",
        f'iifname {no}"{chance.choice((IN, OUT, "c*"))}"',
        f'oifname {no}"{chance.choice((IN, OUT, "s*"))}"',
        f'iifname {no}{{ "{IN}", "lo" }}',
        f"ct state {no}{chance.choice(('new', 'established', 'new,established', 'invalid'))}",
        f"ct status {chance.choice(('dnat', 'snat'))}",
        f"ct original ip daddr {a_place}",
        f"meta mark {no}0x{chance.randrange(4)}",
        f"meta mark & 0x3 == {chance.randrange(4)}",
        "meta l4proto { tcp, udp }",
        f"meta l4proto {chance.choice(('tcp', 'udp', 'icmp'))}",
        f"fib daddr type {no}{chance.choice(('local', 'unicast'))}",
        "tcp flags & (fin|syn|rst|ack) == syn",
        "tcp flags syn",
        "ip protocol tcp",
        "meta nfproto ipv4",
        "ip ttl > 1",
        "counter",
        'log prefix "x"',
    )
    return chance.sample(words, chance.randrange(0, 3))


def _statement(chance: random.Random, family: str, chains: tuple[str, ...]) -> str:
    conditions = _nft_conditions(chance, family)
    # a rule may ask for the same thing once only, and a condition of the network layer first
    ends = [
        "accept",
        "accept",
        "accept",
        "accept",
        "drop",
        "reject",
        "return",
        "",
        f"meta mark set 0x{chance.randrange(4)}",
    ]
    ends += [f"{chance.choice(('jump', 'goto'))} {name}" for name in chains]
    last = "jump one" if chains else "return"
    ends += [f"tcp dport vmap {{ {chance.choice(_PORTS[2:])} : drop, 8001-8002 : accept, 9091 : {last} }}"]
    ends += ["ct state vmap { established : accept, invalid : drop, new : continue }"]
    return " ".join([*conditions, chance.choice(ends)]) or "counter"


def _nat_statement(chance: random.Random, family: str, hook: str) -> str:
    word = "ip " if family == "inet" else ""
    if hook == "postrouting":
        condition = chance.choice((f'oifname "{OUT}"', f"ip saddr {CLIENT}", f"ip daddr {SERVER}"))
        return f"{condition} {chance.choice(('masquerade', f'snat {word}to {BORROWED}', 'accept'))}"
    a_port = chance.choice(_PORTS)
    condition = f"ip daddr {chance.choice(_ADDRESSES[1:])} tcp dport {a_port}"
    ends = (
        f"dnat {word}to {chance.choice(_ADDRESSES[1:])}:{chance.choice(_PORTS)}",
        f"dnat {word}to {chance.choice(_ADDRESSES[1:])}",
        f"redirect to :{chance.choice(_PORTS)}",
        f"dnat {word}to tcp dport map @places",
        "accept",
    )
    return f"{condition} {chance.choice(ends)}"
