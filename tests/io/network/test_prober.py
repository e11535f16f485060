"""One run of contacts: each address once, nothing after the deadline, nothing beyond the limits."""

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable

import pytest

from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Reason, Unknown
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.name_service import NameService
from netdiag.io.network.prober import Place, Prober
from netdiag.io.network.resolver import Resolver
from netdiag.linux.netns import OwnNamespace
from netdiag.linux.resolver import ResolvConf, parse_hosts
from tests.io.network import hostile
from tests.io.network.hostile import ScriptedBroker, serving

HOSTS = "127.0.0.1 two\n127.0.0.2 two\n"


def run(work: Callable[[Prober, Place], Awaitable[None]], *, patience: float = 1, seconds: float = 1.5) -> None:
    async def scene() -> None:
        with open_namespace(OwnNamespace()) as namespace:
            names = NameService(hosts=parse_hosts(HOSTS), resolv_conf=ResolvConf())
            place = Place(namespace=namespace, resolver=Resolver(namespace, names))
            deadline = asyncio.get_running_loop().time() + seconds
            await work(Prober(patience=patience, deadline=deadline, sockets=8), place)

    asyncio.run(scene())


def test_an_address_is_contacted_once() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])

    async def work(prober: Prober, place: Place) -> None:
        address = Address(host="127.0.0.1", port=port)
        contacts = await asyncio.gather(*(prober.contact(place, address) for _ in range(20)))
        assert len(set(contacts)) == 1
        assert prober.known(place, address) is contacts[0]

    with serving(broker) as port:
        run(work)
    assert broker.connections == 1


def test_what_was_not_tried_is_unknown() -> None:
    async def work(prober: Prober, place: Place) -> None:
        assert isinstance(prober.known(place, Address(host="127.0.0.1", port=1)), Unknown)

    run(work)


def test_more_contacts_than_sockets_take_turns() -> None:
    brokers = [ScriptedBroker(node_id=n, brokers=[]) for n in range(3)]

    async def work(prober: Prober, place: Place) -> None:
        addresses = [Address(host=f"127.0.1.{n}", port=9) for n in range(60)]
        contacts = await asyncio.gather(*(prober.contact(place, address) for address in addresses))
        assert {c.reason for c in contacts if isinstance(c, Failed)} == {Reason.REFUSED}

    run(work)
    assert not any(broker.connections for broker in brokers)


def test_the_next_address_of_a_name_is_tried() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])

    async def work(prober: Prober, place: Place) -> None:
        contact = await prober.contact(place, Address(host="two", port=port))
        assert isinstance(contact, Answered)
        assert contact.ip == "127.0.0.2"

    with serving(broker, address="127.0.0.2") as port:
        run(work)


def test_an_address_that_is_slow_to_answer_is_not_overtaken() -> None:
    class Slow(ScriptedBroker):
        def __call__(self, channel: socket.socket, over: threading.Event) -> None:
            over.wait(0.6)
            super().__call__(channel, over)

    slow, fast = Slow(node_id=1, brokers=[]), ScriptedBroker(node_id=2, brokers=[])

    async def work(prober: Prober, place: Place) -> None:
        contact = await prober.contact(place, Address(host="two", port=port))
        assert isinstance(contact, Answered)
        assert contact.node_id == 1

    with serving(slow) as port, serving(fast, address="127.0.0.2", port=port):
        run(work, patience=2, seconds=3)
    assert fast.connections == 0


def test_of_all_addresses_that_fail_the_furthest_is_told() -> None:
    async def work(prober: Prober, place: Place) -> None:
        contact = await prober.contact(place, Address(host="two", port=port))
        assert isinstance(contact, Failed)
        assert contact.reason is Reason.NOT_KAFKA
        assert f"127.0.0.1:{port} refuses connections" in contact.because

    with serving(hostile.http, address="127.0.0.2") as port:
        run(work)


@pytest.mark.alone
def test_a_slow_close_is_not_repeated_and_ends_in_time() -> None:
    async def work(prober: Prober, place: Place) -> None:
        contact = await prober.contact(place, Address(host="127.0.0.1", port=port))
        assert isinstance(contact, Failed)
        assert contact.reason is Reason.CLOSED

    with serving(hostile.slow_close) as port:
        begin = time.perf_counter()
        run(work, patience=3, seconds=3.5)
        assert time.perf_counter() - begin < 3


class ScriptedProber(Prober):
    """Gives one contact after the other, without a network."""

    def __init__(self, *contacts: Contact) -> None:
        super().__init__(patience=1, deadline=asyncio.get_running_loop().time() + 60, sockets=1)
        self.left = list(contacts)

    async def _try(self, place: Place, address: Address, expected_node_id: int | None) -> Contact:
        return self.left.pop(0)


@pytest.mark.parametrize(
    ("first", "second", "stands"),
    [
        (Reason.UNREACHABLE, Reason.TIMEOUT, Reason.UNREACHABLE),
        (Reason.REFUSED, Reason.TIMEOUT, Reason.TIMEOUT),
        (Reason.REFUSED, Reason.UNREACHABLE, Reason.UNREACHABLE),
    ],
)
def test_silence_does_not_take_back_that_there_is_no_way(first: Reason, second: Reason, stands: Reason) -> None:
    async def scene() -> None:
        with open_namespace(OwnNamespace()) as namespace:
            names = NameService(hosts=parse_hosts(HOSTS), resolv_conf=ResolvConf())
            place = Place(namespace=namespace, resolver=Resolver(namespace, names))
            prober = ScriptedProber(*(Failed(reason=reason, ip="127.0.0.1", because="") for reason in (first, second)))
            contact = await prober.contact(place, Address(host="127.0.0.1", port=1))
            assert isinstance(contact, Failed)
            assert contact.reason is stands
            assert prober.left == []

    asyncio.run(scene())
