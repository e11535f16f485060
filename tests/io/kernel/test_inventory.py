"""Reading everything: ends across namespaces, owners, what dies, what may not be read, what is left behind."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from netdiag.io.kernel.inventory import read_inventory
from netdiag.io.kernel.namespaces import Calls, run_in_thread
from netdiag.linux.netns import NetnsSource
from netdiag.linux.sockets import Protocol
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from tests.figures import Report
from tests.io.kernel import socket_statistics, truth
from tests.io.kernel.truth import add_filters, hold
from tests.io.namespaces import FAR, NEAR, Pair, ip, joined_namespaces, needs_root
from tests.netlab.compare import Comparison
from tests.netlab.lab import netlab


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


def test_a_hundred_readings_leave_nothing_behind(pair: Pair) -> None:
    def mine() -> tuple[list[str], int]:
        return sorted(os.listdir("/proc/self/fd")), threading.active_count()

    read_inventory(only=[])
    before, tasks = mine(), len(os.listdir("/proc/self/task"))
    for _ in range(100):
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
    truth._pass_over_multicast(result)
    assert (result.missing, result.extra) == (kept, [])
    assert result.compared["multicast neighbour in passing"] == 2


def test_a_line_of_ss_is_read_whatever_a_process_calls_itself() -> None:
    ((name, fields),) = socket_statistics.parse(HOSTILE)
    assert name == ("tcp", "::1", 9093, 5)
    assert fields == {"queue": 0, "backlog": 7, "pids": [17, 18], "v6only": True, "bound": True}
