"""What no dump of devices shows: numbers of namespaces, and why the kernel refuses."""

import os
import socket
import struct

from netdiag.linux.netlink.messages import DUMP, MessageType, decode_refusal, messages, request
from netdiag.linux.netlink.nsids import UNASSIGNED, decode_nsid, request_nsid, request_nsids
from tests.netlab.dumps import inside, read_facts
from tests.netlab.lab import netlab

_SOL_NETLINK, _EXT_ACK, _GET_STRICT_CHK = 270, 11, 12


def asked(*requests: bytes) -> list[list[tuple[int, bytes]]]:
    """Types and payloads of the answers in the namespace of this thread, one datagram each."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as one:
        found = []
        for each in requests:
            one.send(each)
            found.append([(message.type, bytes(message.payload)) for message in messages(one.recv(65536))])
        return found


def test_the_hub_numbers_every_namespace_that_it_has_a_veth_to() -> None:
    with netlab(5) as lab:
        hub, *others = descriptors = [room.open() for room in lab.rooms]
        try:
            links = {link.ifname: link for link in read_facts(hub).links}
            answers = inside(hub, lambda: asked(*(request_nsid(other) for other in others)))
            (every,) = inside(hub, lambda: asked(request_nsids()))
            (backwards,) = inside(others[0], lambda: asked(request_nsid(others[1])))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
    numbers = [decode_nsid(payload) for ((_, payload),) in answers]
    assert numbers == [links[f"port{number}"].link_netnsid for number in range(1, len(others) + 1)]
    assert len(set(numbers)) == len(others)
    told = {decode_nsid(payload) for kind, payload in every if kind == MessageType.NEW_NSID}
    assert set(numbers) <= told
    # two of the others are joined to the hub only: neither has a number for the other, and asking gave it none
    assert [decode_nsid(payload) for _, payload in backwards] == [UNASSIGNED]


def test_the_kernel_says_why_it_refuses() -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as one:
        one.setsockopt(_SOL_NETLINK, _EXT_ACK, 1)
        one.setsockopt(_SOL_NETLINK, _GET_STRICT_CHK, 1)
        # a prefix length in a dump of all addresses
        one.send(request(MessageType.GET_ADDRESS, struct.pack("=BBBBI", 0, 9, 0, 0, 0), flags=DUMP))
        (message,) = messages(one.recv(65536))
    refusal = decode_refusal(message)
    assert refusal.errno == 22
    assert "Invalid values in header" in refusal.message
