"""Numbers of namespaces, which no dump of links shows."""

import os

from netdiag.io.kernel.netlink import ROUTE, Channel
from netdiag.linux.netlink.links import UNASSIGNED, decode_nsid, request_nsid
from tests.netlab.dumps import inside, read_facts
from tests.netlab.lab import netlab


def nsids(*others: int) -> list[int]:
    """The numbers that the namespace of this thread has for these."""
    with Channel(ROUTE) as channel:
        return [decode_nsid(channel.ask(request_nsid(other))[1]) for other in others]


def test_the_hub_numbers_every_namespace_that_it_has_a_veth_to() -> None:
    with netlab(5) as lab:
        hub, *others = descriptors = [room.open() for room in lab.rooms]
        try:
            links = {link.ifname: link for link in read_facts(hub).links}
            numbers = inside(hub, lambda: nsids(*others))
            backwards = inside(others[0], lambda: nsids(others[1]))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
    assert numbers == [links[f"port{number}"].link_netnsid for number in range(1, len(others) + 1)]
    assert len(set(numbers)) == len(others)
    # two of the others are joined to the hub only: neither has a number for the other, and asking gave it none
    assert backwards == [UNASSIGNED]
