"""The numbers of a coverage line."""

from netdiag.linux.address import InterfaceAddress
from netdiag.linux.link import Link
from netdiag.linux.netns import Netns
from netdiag.linux.route import Route
from netdiag.linux.ruleset import Chain, FilterRule, Origin, Ruleset, Table
from netdiag.linux.socket import Listener, Protocol
from netdiag.topology.coverage import Coverage, measure
from netdiag.topology.inventory import Inventory, NamespaceFacts, Unread

RULE = FilterRule(number=1, handle=None, expressions=(), text="-j ACCEPT")


def test_everything_is_counted_once() -> None:
    full = NamespaceFacts(
        netns=Netns(inode=1),
        links=(Link(ifindex=1, ifname="lo"), Link(ifindex=2, ifname="eth0")),
        addresses=(InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),),
        routes=(
            Route(family=4, destination="0.0.0.0/0", table=254, type="unicast", scope=0, protocol=2),
            Route(family=4, destination="10.0.0.0/8", table=254, type="unicast", scope=0, protocol=2),
            Route(family=4, destination="11.0.0.0/8", table=254, type="unicast", scope=0, protocol=2),
        ),
        listeners=(Listener(protocol=Protocol.TCP, family=4, address="0.0.0.0", port=9092, inode=7),),
        ruleset=Ruleset(
            tables=(
                Table(family="ip", name="nat", origin=Origin.NFTABLES, chains=(Chain(name="a", rules=(RULE, RULE)),)),
                Table(family="ip", name="raw", origin=Origin.IPTABLES_LEGACY, chains=(Chain(name="b", rules=(RULE,)),)),
            )
        ),
        unread=(Unread(what="routes of net:[1]", because="too many"),),
    )
    closed = NamespaceFacts(netns=Netns(inode=2), entered=False)
    unread = (
        Unread(what="process 1", because="permission denied"),
        Unread(what="process 1", because="permission denied"),
        Unread(what="process 17", because="permission denied"),
        Unread(what="process 9", because="it holds 300000 files open"),
        Unread(what="sockets of process 1", because="not permitted"),
        Unread(what="net:[2]", because="too many"),
    )
    found = measure(Inventory(namespaces={1: full, 2: closed}, own=1, unread=unread, complete=False))
    assert found == Coverage(
        namespaces=2,
        links=2,
        addresses=1,
        routes=3,
        listeners=1,
        filter_rules=3,
        closed=1,
        unread_processes=(("permission denied", 2), ("it holds 300000 files open", 1)),
        unread_facts=(("too many", 2), ("not permitted", 1)),
        complete=False,
    )
    assert (found.processes, found.facts) == (3, 3)


def test_nothing_is_nothing() -> None:
    found = measure(Inventory(namespaces={}, own=1))
    assert (found.namespaces, found.processes, found.facts, found.complete) == (0, 0, 0, True)
