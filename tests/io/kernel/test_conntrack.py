"""Connections of a namespace, translated and not."""

import socket

from netdiag.io.kernel.conntrack import read_connections
from netdiag.io.kernel.netlink import NETFILTER, Channel
from netdiag.io.kernel.netns import open_namespace
from netdiag.linux.conntrack import TrackedConnection
from netdiag.linux.netns import NamedNamespace
from tests.netlab.filtering import made_namespace, restore


def test_a_connection_that_was_redirected() -> None:
    with made_namespace() as name, open_namespace(NamedNamespace(name=name)) as opened:
        rule = "-A OUTPUT -p tcp -m tcp --dport 7000 -j DNAT --to-destination 127.0.0.1:7001"
        restore(name, "iptables-nft", "nat", [rule])

        def read() -> tuple[tuple[TrackedConnection, ...], tuple[str, ...]]:
            with Channel(NETFILTER) as channel:
                return read_connections(channel)

        assert opened.run(read) == ((), ())
        with (
            opened.run(lambda: socket.create_server(("127.0.0.1", 7001))) as server,
            opened.run(lambda: socket.create_connection(("127.0.0.1", 7000), timeout=10)) as client,
        ):
            accepted, _ = server.accept()
            with accepted:
                (found,), unread = opened.run(read)
                assert unread == ()
                assert found.original.source_port == client.getsockname()[1]
    assert (found.original.destination_port, found.reply.source_port) == (7000, 7001)
    assert (found.destination_translated, found.source_translated) == (True, False)
    assert (found.family, found.protocol, found.state, found.answered) == (4, "tcp", "ESTABLISHED", True)
