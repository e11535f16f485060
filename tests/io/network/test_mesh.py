"""Looking along edges: from the namespace of each source, ZooKeeper in its own words, nothing left behind."""

import os
import socket
import struct
import threading
from collections.abc import Callable

import pytest

from netdiag.deployment.model.contact import Address, Answered
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, edge_outcome, is_cut
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.observation import Look, observe, observe_mesh
from netdiag.linux.netns import NamedNamespace, NamespaceId, OwnNamespace
from tests.io.namespaces import FAR, joined_namespaces
from tests.io.network import hostile
from tests.io.network.hostile import ScriptedBroker, serving


def stance(member: str, entrance: NamespaceId) -> LiveVantage:
    vantage = Vantage(kind=VantageKind.BROKER, label=f"inside {member}", member=member)
    return LiveVantage(vantage=vantage, entrance=entrance)


def edge(kind: EdgeKind, port: int, *, source: str = "a", host: str = "127.0.0.1", node_id: int | None = None) -> Edge:
    return Edge(kind=kind, source=source, target="b", address=Address(host=host, port=port), node_id=node_id)


def seen(*edges: Edge, timeout: float = 4) -> list[str]:
    mesh = observe_mesh(Look(stances=(stance("a", OwnNamespace()),), edges=edges, timeout=timeout))
    assert not mesh.skipped
    return [edge_outcome(one, one.observed) for one in mesh.edges if one.observed is not None]


def zookeeper(channel: socket.socket, over: threading.Event) -> None:
    if channel.recv(4) == b"srvr":
        channel.sendall(b"Zookeeper version: 3.9.3-x, built on y\nMode: standalone\n")


def not_whitelisted(channel: socket.socket, over: threading.Event) -> None:
    word = channel.recv(4).decode()
    channel.sendall(f"{word} is not executed because it is not in the whitelist.\n".encode())


class SessionsOnly:
    """A server that closes on a word and opens sessions."""

    def __init__(self) -> None:
        self.farewells: list[bytes] = []

    def __call__(self, channel: socket.socket, over: threading.Event) -> None:
        asked = channel.recv(4096)
        if len(asked) != 48:
            return
        response = struct.pack(">iiqi", 0, 4000, 7, 16) + bytes(16)
        channel.sendall(struct.pack(">i", len(response)) + response)
        self.farewells.append(channel.recv(4096))


def test_brokers_right_and_wrong() -> None:
    brokers = [ScriptedBroker(node_id=n, brokers=[]) for n in (1, 2)]
    with serving(brokers[0]) as one, serving(brokers[1]) as two, serving(hostile.immediate_close) as closing:
        kind = EdgeKind.INTER_BROKER
        edges = [edge(kind, port, node_id=n) for n, port in ((1, one), (2, two), (3, two), (4, closing), (5, 1))]
        assert seen(*edges) == ["ok", "ok", "wrong-broker", "closed", "refused"]
        # The two edges to one address share a contact.
        assert [broker.connections for broker in brokers] == [1, 1]


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (zookeeper, "ok"),
        (not_whitelisted, "ok"),
        (hostile.immediate_close, "closed"),
        (hostile.http, "not-kafka"),
        (hostile.garbage, "not-kafka"),
        (hostile.silence, "timeout"),
    ],
)
def test_zookeepers(behaviour: Callable[..., None], expected: str) -> None:
    with serving(behaviour) as port:
        assert seen(edge(EdgeKind.ZOOKEEPER, port), timeout=2) == [expected]


def test_a_zookeeper_without_words_is_asked_for_a_session_which_is_closed() -> None:
    server = SessionsOnly()
    with serving(server) as port:
        assert seen(edge(EdgeKind.ZOOKEEPER, port)) == ["ok"]
    assert server.farewells == [b"\0\0\0\x08\0\0\0\x01\xff\xff\xff\xf5"]


def test_nobody_there_and_no_such_name() -> None:
    kind = EdgeKind.ZOOKEEPER
    assert seen(edge(kind, 1), edge(kind, 2181, host="no..name")) == ["refused", "unresolved"]


def test_from_inside_other_namespaces_and_nothing_is_left_behind() -> None:
    with joined_namespaces() as pair, open_namespace(NamedNamespace(name=pair.far)) as far:
        broker = ScriptedBroker(node_id=1, brokers=[])
        with serving(broker, address=FAR, namespace=far) as port:
            stances = (stance("near", NamedNamespace(name=pair.near)), stance("gone", NamedNamespace(name="nd-none")))
            edges = (
                edge(EdgeKind.INTER_BROKER, port, source="near", host=FAR, node_id=1),
                edge(EdgeKind.INTER_BROKER, port, source="near", host="127.0.0.1", node_id=2),
                edge(EdgeKind.INTER_BROKER, port, source="gone", host=FAR),
            )
            look = Look(stances=stances, edges=edges)
            mesh = observe_mesh(look)
            assert [is_cut(one) for one in mesh.edges] == [False, True, None]
            ((who, because),) = mesh.skipped
            assert who == "gone"
            assert "there is none of that name" in because
            before = len(os.listdir("/proc/self/fd"))
            for _ in range(5):
                observe_mesh(look)
            assert not [thread for thread in threading.enumerate() if thread.name == "netns"]
            assert len(os.listdir("/proc/self/fd")) <= before + 10


def test_a_look_at_cells_looks_along_edges_as_well() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(1, "127.0.0.1", port)]
        edges = (edge(EdgeKind.INTER_BROKER, port, node_id=1), edge(EdgeKind.INTER_BROKER, 1, source="elsewhere"))
        address = Address(host="127.0.0.1", port=port)
        found = observe((stance("a", OwnNamespace()),), (address,), edges=edges)
    assert [str(cell.observed) for cell in found.cells] == ["ok"]
    assert isinstance(found.mesh.edges[0].observed, Answered)
    assert found.mesh.edges[1].observed is None
    assert [who for who, _ in found.mesh.skipped] == ["elsewhere"]
    # The edge and the cell are one contact.
    assert broker.connections == 1
