"""Reading everything: ends across namespaces, owners, what dies, what may not be read, what is left behind."""

import errno
import gc
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.io.kernel import inventory as under_test
from netdiag.io.kernel.inventory import FactReader, read_inventory, read_settings
from netdiag.io.kernel.namespaces import Calls, run_in_thread
from netdiag.io.kernel.netlink import ROUTE, SOCK_DIAG, Channel, Refused
from netdiag.linux.netlink.links import LinkSettings
from netdiag.linux.netlink.routes import request_routes
from netdiag.linux.netns import Netns, NetnsSource
from netdiag.linux.rtnetlink import KernelSettings
from netdiag.linux.sockets import Protocol
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from tests.figures import Report
from tests.io.kernel import socket_statistics
from tests.io.namespaces import FAR, NEAR, Pair, ip, joined_namespaces, needs_root
from tests.netlab.compare import Comparison, Thing, compare, hold_against, settled
from tests.netlab.compare_rules import compare_rules
from tests.netlab.filtering import inside, restore
from tests.netlab.iproute2_output import Iproute2Output, ask
from tests.netlab.lab import Lab, Room, netlab
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
    said: dict[int, Iproute2Output] = {}
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


def _of_room(room: Room, facts: NamespaceFacts, said: Iproute2Output, descriptor: int) -> Comparison:
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


def _ends(lab: Lab, inventory: Inventory, said: dict[int, Iproute2Output]) -> Comparison:
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


def inode(name: str) -> int:
    return os.stat(f"/run/netns/{name}").st_ino


def facts(inventory: Inventory, name: str) -> NamespaceFacts:
    return next(one for one in inventory.namespaces.values() if name in one.netns.names)


def test_everything_of_two_namespaces_and_their_pair_is_read(pair: Pair) -> None:
    inventory = read_inventory()
    near, far = (facts(inventory, name) for name in (pair.near, pair.far))
    assert (near.netns.inode, far.netns.inode) == (inode(pair.near), inode(pair.far))
    assert [link.ifname for link in near.links] == ["lo", "eth0"]
    ends = [dict(one.ends) for one in (near, far)]
    # the pair was made in both namespaces at once: its two ends have the same index
    assert ends == [
        {2: LinkId(netns=inode(pair.far), ifindex=2)},
        {2: LinkId(netns=inode(pair.near), ifindex=2)},
    ]
    assert set(near.nsids.values()) == {inode(pair.far)}
    assert NEAR in [address.address for address in near.addresses]
    assert {"10.77.0.0/24", "10.88.0.0/16", "10.99.0.0/16"} <= {route.destination for route in near.routes}
    assert {rule.priority for rule in near.rules} >= {0, 32766}
    assert near.netns.cookie != far.netns.cookie
    assert dict(near.settings.rp_filter).keys() == {"all", "lo", "eth0"}
    assert not near.unread
    assert inventory.own == os.stat("/proc/self/ns/net").st_ino
    assert (inventory.hostname, inventory.kernel) == (os.uname().nodename, os.uname().release)


# Whoever else reads the machine meanwhile holds every socket open, too.
@pytest.mark.alone
def test_listeners_have_their_owners_wherever_these_are(pair: Pair) -> None:
    """The sockets are made in the namespace by this process, which itself is in another, as an engine's DNS is."""

    def listen() -> list[socket.socket]:
        descriptor = os.open(f"/run/netns/{pair.far}", os.O_RDONLY)
        try:
            Calls().enter(descriptor)
        finally:
            os.close(descriptor)
        accepting = socket.socket()
        accepting.bind((FAR, 9092))
        accepting.listen(7)
        both = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        both.bind(("::", 53))
        return [accepting, both]

    made = run_in_thread(listen)
    try:
        inventory = read_inventory()
    finally:
        for one in made:
            one.close()
    tcp, udp = facts(inventory, pair.far).listeners
    assert (tcp.protocol, tcp.address, tcp.port, tcp.backlog) == (Protocol.TCP, FAR, 9092, 7)
    assert (udp.protocol, udp.address, udp.port, udp.family, udp.v6only) == (Protocol.UDP, "::", 53, 6, False)
    assert tcp.pids == udp.pids == (os.getpid(),)
    owner = inventory.processes[os.getpid()]
    assert owner.netns == inventory.own != inode(pair.far)
    assert NetnsSource.SOCKET in facts(inventory, pair.far).netns.sources


def test_only_those_asked_for_are_looked_into(pair: Pair) -> None:
    inventory = read_inventory(only=[inode(pair.near)])
    near, far = (facts(inventory, name) for name in (pair.near, pair.far))
    assert near.entered
    assert (far.entered, far.links, far.netns.names) == (False, (), (pair.far,))
    assert near.ends == {2: LinkId(netns=inode(pair.far), ifindex=2)}
    assert inventory.complete


def test_twenty_readings_leave_nothing_behind(pair: Pair) -> None:
    def mine() -> tuple[list[str], int]:
        return sorted(os.listdir("/proc/self/fd")), threading.active_count()

    read_inventory(only=[])
    # Else what earlier tests left to the garbage would be closed in between.
    gc.collect()
    before, tasks = mine(), len(os.listdir("/proc/self/task"))
    for _ in range(20):
        read_inventory(only=[inode(pair.near)])
    assert mine() == before
    # a thread that was waited for still has to leave the kernel
    deadline = time.monotonic() + 30
    while len(os.listdir("/proc/self/task")) > tasks:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_reading_numbers_no_namespace_and_changes_no_device(pair: Pair) -> None:
    def told() -> list[object]:
        links = [
            [link["ifindex"], link["ifname"], link["flags"], link["mtu"], link["address"], link.get("link_netnsid")]
            for name in (pair.near, pair.far)
            for link in json.loads(_said("ip", "-n", name, "-j", "link"))
        ]
        return [*links, *(_said("ip", "-n", name, "netns", "list-id") for name in (pair.near, pair.far))]

    before = told()
    read_inventory()
    assert told() == before


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout


def test_nobody_sees_the_own_namespace_and_is_told_why_there_is_no_more() -> None:
    needs_root()
    program = (
        "import ctypes, os\n"
        "from netdiag.io.kernel.inventory import read_inventory\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "ctypes.CDLL(None).prctl(4, 1)\n"
        "inventory = read_inventory()\n"
        "own = inventory.namespaces[inventory.own]\n"
        "print(inventory.complete, own.entered, 'lo' in [link.ifname for link in own.links])\n"
        "print(*(f'{one.what}: {one.because}' for one in inventory.unread), sep='\\n')\n"
    )
    with joined_namespaces():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    first, *unread = done.stdout.splitlines()
    assert first == "False True True"
    assert "other namespaces and processes: this needs CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_NET_ADMIN" in unread
    # the names of `ip netns` can be opened by everybody, and entered by root only
    assert any("entering it needs CAP_SYS_ADMIN" in line for line in unread)
    assert any(line.startswith(f"process {os.getpid()}: permission denied") for line in unread)


def test_namespaces_that_die_while_they_are_read_give_no_error_and_no_wrong_pair() -> None:
    """Pairs a3-b3, a4-b4, ... across two namespaces are made and removed all the time, with the indexes of others."""
    needs_root()
    token = f"ndd{os.getpid()}x"
    ended = threading.Event()
    churning = threading.Thread(target=_churn, args=(token, ended))
    churning.start()
    seen = 0
    try:
        deadline = time.monotonic() + 120
        while seen < 10:
            assert time.monotonic() < deadline, seen
            seen += _right_pairs(read_inventory(), token)
    finally:
        ended.set()
        churning.join()
    assert not [name for name in os.listdir("/run/netns") if name.startswith(token)]


def _right_pairs(inventory: Inventory, token: str) -> int:
    """How many ends lead to the device that was made together with theirs; any other is a failure."""
    right = 0
    for one in inventory.namespaces.values():
        if not any(name.startswith(token) for name in one.netns.names):
            continue
        for ifindex, place in one.ends.items():
            link, other = one.link(ifindex), inventory.link(place)
            assert link is not None
            assert other is not None
            assert {link.ifname, other.ifname} == {f"a{link.ifname[1:]}", f"b{link.ifname[1:]}"}
            assert inventory.namespaces[place.netns].ends[place.ifindex].ifindex == ifindex
            right += 1
    return right


def _churn(token: str, ended: threading.Event) -> None:
    """Five pairs at a time; the oldest goes when a new one comes."""
    standing: list[list[str]] = []
    number = 0
    try:
        while not ended.is_set():
            number += 1
            one, other = names = [f"{token}{number}-{side}" for side in "ab"]
            standing.append(names)
            for name in names:
                ip("netns", "add", name)
            peer = ("type", "veth", "peer", "name", f"b{number}", "netns", other)
            ip("link", "add", f"a{number}", "netns", one, *peer)
            if len(standing) > 5:
                for name in standing.pop(0):
                    ip("netns", "delete", name)
    finally:
        for name in (name for names in standing for name in names):
            ip("netns", "delete", name)


@pytest.mark.parametrize("beside", ["True", "False", "fails"])
def test_two_processes_read_the_same_as_one(pair: Pair, beside: str) -> None:
    """In a process of its own, for this one may have threads; every namespace of the pair by another of the two."""
    program = (
        "import sys\n"
        "from netdiag.io.kernel import child_process, inventory\n"
        "how, inodes = sys.argv[1], [int(one) for one in sys.argv[2:]]\n"
        "inventory._MANY = 2\n"
        "inventory.possible = lambda: how != 'False'\n"
        "if how == 'fails':\n"
        "    child_process._work = lambda work, target: child_process.os._exit(1)\n"
        "found = inventory.read_inventory(only=inodes)\n"
        "for inode in inodes:\n"
        "    one = found.namespaces[inode]\n"
        "    print(one.entered, [link.ifname for link in one.links], dict(one.ends), dict(one.nsids), one.unread)\n"
        # other namespaces of this machine come and go
        "print([one for one in found.unread if any(f'net:[{inode}]' in one.what for inode in inodes)])\n"
    )
    inodes = [inode(pair.near), inode(pair.far)]
    command = [sys.executable, "-c", program, beside, *map(str, inodes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    ends = [{2: LinkId(netns=other, ifindex=2)} for other in reversed(inodes)]
    expected = [
        f"True ['lo', 'eth0'] {end} {{0: {other}}} ()" for end, other in zip(ends, reversed(inodes), strict=True)
    ]
    assert done.stdout.splitlines() == [*expected, "[]"]
    assert done.stderr == ""


HOSTILE = (
    "tcp   LISTEN 0      7    [::1%lo]:9093    [::]:*    "
    'users:(("a) pid=1,fd=2",pid=17,fd=3),("b",pid=18,fd=3)) ino:5 sk:2 v6only:1 <->'
)
LONG = pytest.mark.bar("topology-truth", long=True)


@pytest.mark.bar("topology-truth")
@pytest.mark.parametrize(
    "count",
    [
        5,
        pytest.param(50, marks=pytest.mark.bar("topology-truth", long=True)),
        pytest.param(200, marks=pytest.mark.bar("topology-truth", long=True)),
    ],
)
def test_a_lab_is_read_as_it_is(count: int, figure: Report) -> None:
    with netlab(count) as lab:
        add_filters(lab)
        result = hold(lab)
    figure(f"objects compared with {count} namespaces", result.compared.total())
    figure(f"fields compared with {count} namespaces", result.fields)
    figure(f"missing with {count} namespaces", len(result.missing))
    figure(f"extra with {count} namespaces", len(result.extra))
    figure(f"differing with {count} namespaces", len(result.differing))
    figure(f"veth ends compared with {count} namespaces", result.compared["veth"])
    figure(
        f"multicast neighbours that came or went with {count} namespaces",
        result.compared["multicast neighbour in passing"],
    )
    assert result.equal, str(result)
    # a comparison of nothing with nothing would be equal, too
    assert result.compared["veth"] >= 2 * count
    assert result.compared["socket"] >= 4 * count
    assert result.compared["namespace"] == count + 1
    assert result.compared["filter rule"] >= 14
    assert result.compared["namespace of lsns"] >= 1
    assert result.compared["namespace of ip netns"] == count + 1 - 5


def test_only_groups_that_the_kernel_notes_itself_may_come_and_go() -> None:
    told = "{'lladdr': '33:33:00:00:00:02', 'state': ['NOARP'], 'router': False}"
    passing = f"neighbour ('port1', 'ff02::2', False): {told}"
    kept = [
        f"neighbour ('port1', 'fe80::2', False): {told}",
        f"neighbour ('port1', 'ff02::2', False): {told.replace('NOARP', 'PERMANENT')}",
        f"fdb ('port1', 'ff02::2', False): {told}",
    ]
    result = Comparison(missing=[passing, *kept], extra=[passing])
    _pass_over_multicast(result)
    assert (result.missing, result.extra) == (kept, [])
    assert result.compared["multicast neighbour in passing"] == 2


def test_a_line_of_ss_is_read_whatever_a_process_calls_itself() -> None:
    ((name, fields),) = socket_statistics.parse(HOSTILE)
    assert name == ("tcp", "::1", 9093, 5)
    assert fields == {"queue": 0, "backlog": 7, "pids": [17, 18], "v6only": True, "bound": True}


ROUTES = request_routes()


class Moody(Channel):
    """A channel to this kernel that spoils the answers about routes, or does not come about at all."""

    spoil: str = ""

    def __init__(self, protocol: int, buffer: bytearray | None = None) -> None:
        if self.spoil == f"protocol {protocol}":
            raise Refused("protocol not supported", number=errno.EPROTONOSUPPORT)
        super().__init__(protocol, buffer=buffer)

    def payloads(self, request: bytes) -> list[bytes]:
        found = super().payloads(request)
        if request == ROUTES:
            if self.spoil == "refused":
                raise Refused("operation not supported", number=errno.EOPNOTSUPP)
            if self.spoil == "interrupted":
                self.interrupted = True
            if self.spoil == "malformed":
                return [*found[:1], b"x", *found[1:]]
        return found


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        ("", []),
        ("refused", ["routes of net:[5]: operation not supported"]),
        ("interrupted", ["routes of net:[5]: they changed every time they were read"]),
        ("malformed", ["routes of net:[5]: not understood: "]),
        (f"protocol {SOCK_DIAG}", ["listeners of net:[5]: protocol not supported"]),
    ],
)
def test_one_fact_that_is_missing_does_not_cost_the_others(
    spoil: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "Channel", Moody)
    monkeypatch.setattr(Moody, "spoil", spoil)
    found = FactReader(Calls(), {}, 5).read(Netns(inode=5)).facts
    told = [f"{one.what}: {one.because}" for one in found.unread]
    assert [line[: len(start)] for line, start in zip(told, expected, strict=True)] == expected
    assert [link.ifname for link in found.links if link.loopback] == ["lo"]
    assert (found.rules, found.settings.ip_forward is None) != ((), True)
    if spoil in ("", "interrupted"):
        assert found.routes


def test_a_kernel_without_rtnetlink_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "Channel", Moody)
    monkeypatch.setattr(Moody, "spoil", f"protocol {ROUTE}")
    before = os.listdir("/proc/self/fd")
    found = FactReader(Calls(), {}, 5).read(Netns(inode=5)).facts
    assert [one.what for one in found.unread] == ["network of net:[5]"]
    assert found.links == ()
    assert os.listdir("/proc/self/fd") == before


NET = Path("/proc/sys/net")


def _tree(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return f"{folder}/"


DEVICES = (
    ("eth0", LinkSettings(rp_filter=1, route_localnet=0, ipv6_disabled=True)),
    ("tun0", LinkSettings()),
    ("eth1", LinkSettings(rp_filter=2, route_localnet=1, ipv6_disabled=True)),
)


def test_each_switch_is_read_from_its_file(tmp_path: Path) -> None:
    files = {
        "ipv4/ip_local_port_range": "1024\t2048\n",
        "ipv4/conf/all/route_localnet": "1\n",
        "bridge/bridge-nf-call-iptables": "1\n",
        "bridge/bridge-nf-call-ip6tables": "0\n",
    }
    net = _tree(tmp_path, files)
    with Channel(ROUTE) as channel:
        settings = read_settings(channel, DEVICES, files=True, net=net)
        without = read_settings(channel, DEVICES, files=False, net=net)
    assert settings.bridge_nf_call_iptables is True
    assert settings.bridge_nf_call_ip6tables is False
    assert settings.local_port_range == (1024, 2048)
    assert settings.route_localnet == (("all", 1), ("eth0", 0), ("eth1", 1))
    assert settings.rp_filter[1:] == (("eth0", 1), ("eth1", 2))
    assert settings.ipv6_disabled is True
    assert (without.bridge_nf_call_iptables, without.bridge_nf_call_ip6tables) == (None, None)
    assert (without.route_localnet, without.local_port_range) == ((("eth0", 0), ("eth1", 1)), None)


def test_one_device_with_ipv6_is_enough() -> None:
    with Channel(ROUTE) as channel:
        settings = read_settings(channel, (*DEVICES, ("lo", LinkSettings(ipv6_disabled=False))), files=False)
    assert settings.ipv6_disabled is False


def test_what_is_not_there_or_no_number_is_unknown(tmp_path: Path) -> None:
    net = _tree(tmp_path, {"ipv4/conf/all/route_localnet": "yes\n", "ipv4/ip_local_port_range": "1\n"})
    # a channel on which nobody knows of switches
    with Channel(SOCK_DIAG) as channel:
        assert read_settings(channel, files=True, net=net) == KernelSettings()


def test_the_kernel_says_over_netlink_what_its_files_say() -> None:
    with Channel(ROUTE) as channel:
        settings = read_settings(channel, files=True)
    assert settings.ip_forward == (int((NET / "ipv4/ip_forward").read_text()) != 0)
    assert settings.rp_filter == (("all", int((NET / "ipv4/conf/all/rp_filter").read_text())),)
    forwarding = NET / "ipv6/conf/all/forwarding"
    assert settings.ipv6_forwarding == (int(forwarding.read_text()) != 0 if forwarding.exists() else None)
    first, last = (NET / "ipv4/ip_local_port_range").read_text().split()
    assert settings.local_port_range == (int(first), int(last))
