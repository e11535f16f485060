"""Resolving at a place: its files, its servers, its search list.

The servers run in namespaces and answer as a table says.
"""

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.io.network.name_service import NameService
from netdiag.io.network.resolver import Resolved, Resolver, Unresolved
from netdiag.linux.netns import NamedNamespace, OwnNamespace
from netdiag.linux.resolver import parse_hosts, parse_resolv_conf
from tests.io.namespaces import FAR, NOBODY, SWALLOWED, joined_namespaces

Records = Mapping[str, tuple[str, ...] | int | None]
"""A name's addresses, or a response code, or None for silence; other names are NXDOMAIN."""
# A name that the server knows, and is silent about when asked for its IPv6 addresses.
HALF_SILENT = "half-silent"


class NameServer:
    """What was asked, in order."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.asked: list[str] = []

    def answer(self, data: bytes) -> bytes | None:
        """The answer to one query; None for silence."""
        query = dns.message.from_wire(data)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True)
        kind = question.rdtype
        self.asked.append(f"{name} {dns.rdatatype.to_text(kind)}")
        found = self.records.get(name, dns.rcode.NXDOMAIN)
        if found is None or (name == HALF_SILENT and kind == dns.rdatatype.AAAA):
            return None
        response = dns.message.make_response(query)
        if isinstance(found, int):
            response.set_rcode(dns.rcode.Rcode(found))
            return response.to_wire()
        addresses = [a for a in found if (":" in a) == (kind == dns.rdatatype.AAAA)]
        if addresses:
            response.answer.append(
                dns.rrset.from_text(question.name, 60, "IN", dns.rdatatype.to_text(kind), *addresses)
            )
        return response.to_wire()


@contextlib.contextmanager
def name_server(namespace: Namespace, address: str, records: Records) -> Iterator[NameServer]:
    """Serve on port 53 of an address in a namespace for the block."""
    server = NameServer(records)
    channel = namespace.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    channel.bind((address, 53))
    channel.settimeout(0.1)
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                data, client = channel.recvfrom(4096)
            except TimeoutError:
                continue
            answer = server.answer(data)
            # First what any bystander could send.
            channel.sendto(b"\0\0garbage", client)
            channel.sendto(bytes([data[0] ^ 255]) + (answer or data)[1:], client)
            if answer is not None:
                channel.sendto(answer, client)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        over.set()
        thread.join()
        channel.close()


HERE = "127.0.0.53"
DEAD = "127.0.0.99"
RECORDS: Records = {
    "kafka": ("10.77.0.5",),
    "both": ("2001:db8::5", "10.77.0.6"),
    "six": ("2001:db8::6",),
    "kafka.lab.test": ("10.77.0.7",),
    "short.lab.test": ("10.77.0.8",),
    "empty": (),
    "broken": 2,
    "silent": None,
    HALF_SILENT: (),
}


@pytest.fixture(scope="module")
def namespace() -> Iterator[Namespace]:
    with joined_namespaces() as pair, open_namespace(NamedNamespace(name=pair.near)) as opened:
        yield opened


def resolve(
    namespace: Namespace, host: str, *, hosts: str = "", resolv_conf: str = f"nameserver {HERE}", patience: float = 2
) -> Resolved | Unresolved:
    names = NameService(hosts=parse_hosts(hosts), resolv_conf=parse_resolv_conf(resolv_conf))

    async def ask() -> Resolved | Unresolved:
        deadline = asyncio.get_running_loop().time() + patience
        return await Resolver(namespace, names).resolve(host, deadline)

    return asyncio.run(ask())


def said(outcome: Resolved | Unresolved) -> str:
    assert isinstance(outcome, Unresolved)
    return outcome.because


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("::1", "::1"),
        ("[2001:db8::1]", "2001:db8::1"),
    ],
)
def test_numbers_are_not_asked_for(host: str, expected: str) -> None:
    with open_namespace(OwnNamespace()) as own:
        assert resolve(own, host) == Resolved(addresses=(expected,))


def test_the_hosts_file_comes_first_and_ipv4_before_ipv6(namespace: Namespace) -> None:
    hosts = "::1 Localhost broker\n127.0.0.1 localhost\n10.0.0.9 broker\n"
    assert resolve(namespace, "localhost", hosts=hosts) == Resolved(addresses=("127.0.0.1", "::1"))
    assert resolve(namespace, "BROKER.", hosts=hosts) == Resolved(addresses=("10.0.0.9", "::1"))


def test_ipv6_is_not_tried_where_there_is_none(namespace: Namespace) -> None:
    hosts = "::1 localhost only-six\n127.0.0.1 localhost\n"
    before, namespace.ipv6 = namespace.ipv6, ()
    try:
        found = resolve(namespace, "localhost", hosts=hosts)
        assert found == Resolved(addresses=("127.0.0.1",), not_tried=("::1",))
        assert "no IPv6 here" in said(resolve(namespace, "only-six", hosts=hosts))
    finally:
        namespace.ipv6 = before


def test_localhost_needs_no_file(namespace: Namespace) -> None:
    assert resolve(namespace, "localhost") == Resolved(addresses=("127.0.0.1",))


def test_names_of_the_server(namespace: Namespace) -> None:
    with name_server(namespace, HERE, RECORDS):
        assert resolve(namespace, "kafka") == Resolved(addresses=("10.77.0.5",))
        both = resolve(namespace, "both")
        assert isinstance(both, Resolved)
        assert both.addresses[0] == "10.77.0.6"
        assert said(resolve(namespace, "nobody")) == f'"nobody" has no address here: name server {HERE} says NXDOMAIN'
        assert "says no address record" in said(resolve(namespace, "empty"))
        assert "says SERVFAIL" in said(resolve(namespace, "broken"))


def test_many_names_at_once_share_few_sockets(namespace: Namespace) -> None:
    before = len(os.listdir("/proc/self/fd"))
    names = NameService(hosts=parse_hosts(""), resolv_conf=parse_resolv_conf(f"nameserver {HERE}"))
    records = {f"broker-{number}": (f"10.77.1.{number}",) for number in range(1, 200)}

    async def ask() -> tuple[list[Resolved | Unresolved], int]:
        deadline = asyncio.get_running_loop().time() + 5
        resolver = Resolver(namespace, names)
        asked = asyncio.gather(*(resolver.resolve(name, deadline) for name in (*records, "nobody")))
        await asyncio.sleep(0.01)
        return await asked, len(os.listdir("/proc/self/fd"))

    with name_server(namespace, HERE, records):
        found, after = asyncio.run(ask())
    assert found[:-1] == [Resolved(addresses=addresses) for addresses in records.values()]
    assert "says NXDOMAIN" in said(found[-1])
    # Nothing but the loop, the server and spare sockets of the namespace is still open.
    assert after - before < 30


def test_a_refusal_is_an_answer_to_all_that_wait(namespace: Namespace) -> None:
    names = NameService(hosts=parse_hosts(""), resolv_conf=parse_resolv_conf(f"nameserver {DEAD}"))

    async def ask() -> list[Resolved | Unresolved]:
        deadline = asyncio.get_running_loop().time() + 5
        resolver = Resolver(namespace, names)
        return await asyncio.gather(*(resolver.resolve(f"name-{number}", deadline) for number in range(50)))

    begin = time.perf_counter()
    found = asyncio.run(ask())
    assert time.perf_counter() - begin < 4
    assert all("Connection refused" in said(one) for one in found)


def test_the_search_list(namespace: Namespace) -> None:
    conf = f"nameserver {HERE}\nsearch lab.test other.test\n"
    with name_server(namespace, HERE, RECORDS) as server:
        assert resolve(namespace, "kafka", resolv_conf=conf) == Resolved(addresses=("10.77.0.7",))
        assert resolve(namespace, "kafka", resolv_conf=f"{conf}options ndots:0") == Resolved(addresses=("10.77.0.5",))
        assert resolve(namespace, "kafka.", resolv_conf=conf) == Resolved(addresses=("10.77.0.5",))
        server.asked.clear()
        assert isinstance(resolve(namespace, "x.y", resolv_conf=conf), Unresolved)
        assert [asked for asked in server.asked if asked.endswith(" A")] == [
            "x.y A",
            "x.y.lab.test A",
            "x.y.other.test A",
        ]


def test_the_next_server_is_asked(namespace: Namespace) -> None:
    with name_server(namespace, HERE, RECORDS):
        assert resolve(namespace, "kafka", resolv_conf=f"nameserver {DEAD}\nnameserver {HERE}") == Resolved(
            addresses=("10.77.0.5",)
        )
        silent_first = f"nameserver {SWALLOWED.format(1)}\nnameserver {HERE}"
        assert resolve(namespace, "kafka", resolv_conf=silent_first) == Resolved(addresses=("10.77.0.5",))


@pytest.mark.parametrize(
    ("server", "because"),
    [
        (DEAD, "Connection refused"),
        (SWALLOWED.format(1), "no answer from name server"),
        ("192.0.2.1", "Network is unreachable"),
        (NOBODY, "no answer from name server"),
        (FAR, "Connection refused"),
    ],
)
@pytest.mark.alone
def test_no_server_is_a_reason_within_the_time(namespace: Namespace, server: str, because: str) -> None:
    begin = time.perf_counter()
    outcome = resolve(namespace, "kafka", resolv_conf=f"nameserver {server}", patience=1)
    assert time.perf_counter() - begin < 1.5
    assert because in said(outcome)


@pytest.mark.alone
def test_a_silent_server_ends_by_the_deadline(namespace: Namespace) -> None:
    with name_server(namespace, HERE, RECORDS):
        begin = time.perf_counter()
        outcome = resolve(namespace, "silent", resolv_conf=f"nameserver {HERE}\nsearch a b c d", patience=1)
        assert time.perf_counter() - begin < 1.5
    assert isinstance(outcome, Unresolved)


def test_half_an_answer_leaves_open_whether_the_name_has_an_address(namespace: Namespace) -> None:
    conf = f"nameserver {HERE}\nsearch lab.test\noptions timeout:1 attempts:1"
    with name_server(namespace, HERE, RECORDS) as server:
        outcome = resolve(namespace, f"{HALF_SILENT}.", resolv_conf=conf, patience=1)
    assert "no answer from name server" in said(outcome)
    assert "says no address record" not in said(outcome)
    assert {asked.partition(" ")[0] for asked in server.asked} == {HALF_SILENT}


@pytest.mark.parametrize("host", ["", "a..b", "x" * 64, "\0", "ü" * 70, "." * 300, "a b"])
def test_what_is_no_name(namespace: Namespace, host: str) -> None:
    with name_server(namespace, HERE, RECORDS):
        assert isinstance(resolve(namespace, host), Unresolved)
