"""A whole inventory held against what iproute2, ss, lsns and `ip netns` say of the same namespaces.

Everything is read once as users read it. A namespace in which something ran on between the two readings (a timer, a
neighbour's state) is read again until it stands still.
"""

import os
import re
import subprocess
from collections.abc import Iterator

from netdiag.io.kernel.inventory import read_inventory
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from tests.io.kernel import socket_statistics
from tests.netlab.compare import Comparison, Thing, compare, hold_against, settled
from tests.netlab.compare_rules import compare_rules
from tests.netlab.filtering import inside, restore
from tests.netlab.lab import Lab, Room
from tests.netlab.said import Said, ask
from tests.tools import tool

_MULTICAST = re.compile(r"neighbour \('[^']+', '(?:ff0|22[4-9]\.|23\d\.)[^']*', False\): .*'state': \['NOARP'\]")
_RULES = (
    "-A FORWARD -s 10.0.0.0/8 ! -d 10.1.2.3/32 -i eth+ -p tcp -m tcp --dport 80 -j DROP",
    '-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -m comment --comment "let it <b>" -j ACCEPT',
    "-A FORWARD -p udp -m udp --sport 1024:2000 -j side",
    "-A side -m addrtype --dst-type LOCAL -j REJECT --reject-with icmp-port-unreachable",
)
_NAT = (
    "-A PREROUTING ! -i br-1 -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.18.0.2:9092",
    "-A POSTROUTING -s 172.18.0.0/16 ! -o br-1 -j MASQUERADE",
)
_NATIVE = """
table inet own {
    set allowed { type ipv4_addr; elements = { 10.0.0.1, 10.0.0.2 } }
    chain input {
        type filter hook input priority 0; policy accept;
        ip saddr @allowed tcp dport 9092 counter accept
        meta l4proto udp drop
    }
}
"""
SOURCES = {
    "name": {"bind mount"},
    "process": {"process"},
    "thread": {"thread"},
    "descriptor": {"descriptor"},
    "socket": set(),
    "mount": {"bind mount"},
}


def add_filters(lab: Lab) -> None:
    """Rules by all three interfaces in the hub, and in its neighbours that have a name."""
    for room in lab.rooms[:3]:
        if room.name:
            for command in ("iptables-nft", "iptables-legacy"):
                restore(room.name, command, "filter", _RULES)
                restore(room.name, command, "nat", _NAT)
            inside(room.name, "nft", "-f", "-", stdin=_NATIVE)


def hold(lab: Lab) -> Comparison:
    """Every object of every namespace of the lab."""
    inventory = read_inventory()
    total = Comparison()
    said: dict[int, Said] = {}
    for room in lab.rooms:
        facts = inventory.namespaces.get(room.inode)
        total.compared["namespace"] += 1
        if facts is None or not facts.entered:
            total.missing.append(f"namespace {room}")
            continue
        total.differing += [f"namespace {room.inode}: {line}" for line in _named(room, facts, lab.listener_pid)]
        descriptor = room.open()
        try:
            said[room.inode] = ask(descriptor)
            total.add(_of_room(room, facts, said[room.inode], descriptor))
        finally:
            os.close(descriptor)
    total.add(_ends(lab, inventory, said))
    total.add(_listed(lab, inventory))
    return total


def _of_room(room: Room, facts: NamespaceFacts, said: Said, descriptor: int) -> Comparison:
    result = compare(facts, said)
    if not result.equal:
        result = settled(lambda: (read_inventory(only=[room.inode]).namespaces[room.inode], ask(descriptor)))
    _pass_over_multicast(result)
    theirs = socket_statistics.listed(descriptor)
    hold_against("socket", list(socket_statistics.ours(facts.listeners)), theirs, result)
    _filters(facts, descriptor, result)
    return result


def _pass_over_multicast(result: Comparison) -> None:
    """The kernel notes a neighbour for each group that it sends to itself, and forgets one whenever the table is full.

    That table is one for the whole machine: with many namespaces it never stands still. What came or went between the
    readings is counted apart, and is neither missing nor extra.
    """
    for lines in (result.missing, result.extra):
        passing = [line for line in lines if _MULTICAST.match(line)]
        result.compared["multicast neighbour in passing"] += len(passing)
        lines[:] = [line for line in lines if line not in passing]


def _filters(facts: NamespaceFacts, descriptor: int, result: Comparison) -> None:
    rules = compare_rules(facts.ruleset, f"/proc/{os.getpid()}/fd/{descriptor}")
    result.compared["filter rule"] += rules.compared
    result.missing += rules.missing
    result.extra += rules.extra
    result.differing += [f"rule {theirs}, we say {ours}" for theirs, ours in rules.differing]
    result.differing += [f"net:[{facts.netns.inode}]: {line}" for line in facts.ruleset.unread]


def _named(room: Room, facts: NamespaceFacts, listener_pid: int) -> Iterator[str]:
    expected = (room.name,) if room.name else ()
    if facts.netns.names != expected:
        yield f"its names are {expected}, we say {facts.netns.names}"
    # the lab's listeners are sockets in every one of them
    found = {source.value for source in facts.netns.sources} - {"listns", "socket"}
    if facts.netns.pids == (listener_pid,):
        # the process that listens everywhere stays where it went last
        found.discard("process")
    if room.held_by != "descriptor":
        # somebody else who reads the machine just now holds every namespace open
        found.discard("descriptor")
    if found != SOURCES[room.held_by]:
        yield f"it is held by {room.held_by}, we found it by {found}"


def _ends(lab: Lab, inventory: Inventory, said: dict[int, Said]) -> Comparison:
    """Where every veth leads to: the lab has made those between namespaces, `ip` names the peers within one."""
    result = Comparison()
    expected: dict[LinkId, LinkId] = {}
    indexes = {room.inode: {one["ifname"]: one["ifindex"] for one in said[room.inode]["link"]} for room in lab.rooms}
    hub = lab.rooms[0].inode
    for room in lab.rooms[1:]:
        port = LinkId(netns=hub, ifindex=indexes[hub][f"port{room.number}"])
        other = LinkId(netns=room.inode, ifindex=indexes[room.inode]["eth0"])
        expected[port], expected[other] = other, port
    for inode, document in said.items():
        for one in document["link"]:
            peer = indexes[inode].get(one.get("link", ""))
            if one.get("linkinfo", {}).get("info_kind") == "veth" and peer is not None:
                expected[LinkId(netns=inode, ifindex=one["ifindex"])] = LinkId(netns=inode, ifindex=peer)
    found = {
        LinkId(netns=room.inode, ifindex=link.ifindex): inventory.namespaces[room.inode].ends.get(link.ifindex)
        for room in lab.rooms
        for link in inventory.namespaces[room.inode].links
        if link.kind == "veth"
    }
    ours: list[Thing] = [(place, {"end": end}) for place, end in found.items()]
    theirs: list[Thing] = [(place, {"end": end}) for place, end in expected.items()]
    hold_against("veth", ours, theirs, result)
    return result


def _listed(lab: Lab, inventory: Inventory) -> Comparison:
    """Those that lsns and `ip netns` know are known here, with the same number of processes."""
    result = Comparison()
    inodes = {room.inode for room in lab.rooms}
    lsns = _lines(tool("lsns"), "-t", "net", "-n", "-r", "-o", "NS,NPROCS")
    processes = {int(inode): int(count) for inode, count in (line.split()[:2] for line in lsns)}
    named = {line.split()[0] for line in _lines(tool("ip"), "netns", "list") if line.strip()}
    theirs: list[Thing] = [
        (inode, {"processes": count}) for inode, count in processes.items() if inode in inodes and count
    ]
    ours: list[Thing] = [
        (inode, {"processes": inventory.namespaces[inode].netns.process_count})
        for inode in inodes
        if inventory.namespaces[inode].netns.process_count
    ]
    hold_against("namespace of lsns", ours, theirs, result)
    mine = {room.name for room in lab.rooms if room.name}
    our_names: list[Thing] = [(name, {}) for inode in inodes for name in inventory.namespaces[inode].netns.names]
    their_names: list[Thing] = [(name, {}) for name in named if name in mine]
    hold_against("namespace of ip netns", our_names, their_names, result)
    return result


def _lines(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
