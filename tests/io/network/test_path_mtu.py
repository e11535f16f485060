"""Packets that get lost on the way: what the kernel must have said before a path is blamed."""

import asyncio
import socket

import pytest

from netdiag.deployment.model.verdict import Mechanism, Reason
from netdiag.io.network.connection import Target
from netdiag.io.network.path_mtu import Sent, judged_path, lost_large_packets, sent_packets
from netdiag.kafka.questions import large_request
from tests.io.network.hostile import ScriptedBroker, serving

TARGET = Target(ip="192.0.2.1", port=9092)


@pytest.mark.parametrize(
    ("retransmissions", "unacknowledged", "lost"), [(3, 14, True), (2, 1, True), (1, 14, False), (3, 0, False)]
)
def test_only_packets_that_nobody_acknowledges_prove_it(retransmissions: int, unacknowledged: int, lost: bool) -> None:
    sent = Sent(retransmissions=retransmissions, mss=1460, unacknowledged=unacknowledged)
    found = judged_path(sent, TARGET)
    assert (found is not None) is lost
    if found is not None:
        assert (found.reason, found.mechanism) == (Reason.TIMEOUT, Mechanism.PATH_MTU)
        assert "1460 bytes" in found.because


def test_the_request_takes_several_packets_of_the_largest_size() -> None:
    assert len(large_request()) > 2 * 9000


def test_a_broker_that_answers_or_is_slow_is_no_path() -> None:
    async def tried(port: int) -> object:
        with socket.socket() as channel:
            channel.setblocking(False)
            loop = asyncio.get_running_loop()
            target = Target(ip="127.0.0.1", port=port)
            await loop.sock_connect(channel, (target.ip, target.port))
            assert sent_packets(channel).mss > 500
            return await lost_large_packets(channel, target, loop.time() + 0.5)

    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        assert asyncio.run(tried(port)) is None
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert asyncio.run(tried(silent.getsockname()[1])) is None
