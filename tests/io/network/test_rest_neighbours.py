"""Groups of Connect workers, as honest and hostile coordinators and URLs tell of them, in bounds."""

import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Answered, Contact, Failed, Reason, Unknown
from netdiag.deployment.observation.live_view import LiveVantage, SeenGroup, SeenWorker
from netdiag.io.network.rest_neighbours import read_neighbours
from netdiag.kafka.protocol import decode_request, encode_response
from netdiag.linux.netns import OwnNamespace
from tests.deployment.stacks import deployment_of
from tests.io.network import hostile
from tests.io.network.authorities import issue
from tests.io.network.hostile import Behaviour, ScriptedBroker, serving
from tests.io.network.secured_servers import World, behind_tls, context_for
from tests.kafka.test_connect_group import assignment, member, metadata

TIMEOUT = 1.0
BOUND = 2 * TIMEOUT + 2
FILE = """\
services:
  connect-1: &one
    image: confluentinc/cp-kafka-connect:7.9.2
    networks: {{net: {{ipv4_address: 172.30.0.2}}}}
    environment: &worker
      CONNECT_BOOTSTRAP_SERVERS: {bootstrap}
      CONNECT_GROUP_ID: connect
      CONNECT_CONFIG_STORAGE_TOPIC: configs
      CONNECT_OFFSET_STORAGE_TOPIC: offsets
      CONNECT_STATUS_STORAGE_TOPIC: status
      CONNECT_REST_ADVERTISED_HOST_NAME: connect-1
  connect-2:
    <<: *one
    networks: {{net: {{ipv4_address: 172.30.0.3}}}}
networks: {{net: {{ipam: {{config: [{{subnet: 172.30.0.0/24}}]}}}}}}
"""


def read(bootstrap: str) -> SeenGroup:
    """The group as the two workers can learn of it, who both stand in our own namespace."""
    deployment = deployment_of(FILE.format(bootstrap=bootstrap))
    vantages = [
        LiveVantage(
            vantage=Vantage(kind=VantageKind.CONTAINER, label=f"container {name}", member=name), entrance=OwnNamespace()
        )
        for name in ("connect-1", "connect-2")
    ]
    begin = time.perf_counter()
    (group,), _ = read_neighbours(deployment, vantages, timeout=TIMEOUT)
    assert time.perf_counter() - begin < BOUND
    return group


def coordinator(first: str, second: str) -> Behaviour:
    """A broker that manages the group itself; the second worker leads."""

    def answer(channel: socket.socket, api_key: int) -> bytes:
        if api_key == 10:
            port = channel.getsockname()[1]
            return encode_response(10, 0, 1, {"error_code": 0, "node_id": 1, "host": "127.0.0.1", "port": port})
        assigned = assignment("b", second)
        members = (
            member("a", "/172.30.0.2", metadata(first), assigned),
            member("b", "/172.30.0.3", metadata(second), assigned),
        )
        group = {
            "error_code": 0,
            "group_id": "connect",
            "group_state": "Stable",
            "protocol_type": "connect",
            "protocol_data": "sessioned",
            "members": members,
        }
        return encode_response(15, 0, 1, {"groups": (group,)})

    def behave(channel: socket.socket, over: threading.Event) -> None:
        while head := channel.recv(4, socket.MSG_WAITALL):
            request = decode_request(channel.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL))
            channel.sendall(answer(channel, request.api_key))

    return behave


def worker(channel: socket.socket, over: threading.Event) -> None:
    """A worker's root."""
    assert channel.recv(4096).startswith(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:")
    channel.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


def test_a_group_and_its_urls() -> None:
    with serving(worker) as port:
        good, bad = f"http://127.0.0.1:{port}/", "http://127.0.0.1:1/"
        with serving(coordinator(bad, good)) as broker:
            group = read(f"127.0.0.1:{broker}")
    assert group.workers == (
        SeenWorker(url=bad, client_host="172.30.0.2", member="connect-1"),
        SeenWorker(url=good, client_host="172.30.0.3", member="connect-2", leads=True),
    )
    assert [(one.source, one.url, type(one.contact)) for one in group.forwards] == [
        ("connect-1", good, Answered),
        ("connect-2", bad, Failed),
    ]
    assert str(group) == f"Connect group connect: connect-2 at {good} leads, connect-1 at {bad}"


HOSTILE: list[Callable[[socket.socket, threading.Event], None]] = [
    hostile.garbage,
    hostile.two_gigabytes,
    hostile.announced_and_withheld,
    hostile.one_byte_a_second,
    hostile.immediate_close,
    hostile.reset,
    hostile.silence,
    hostile.tls_alert,
    hostile.http,
]


@pytest.mark.alone
@pytest.mark.parametrize("behaviour", HOSTILE, ids=[one.__name__ for one in HOSTILE])
def test_a_hostile_coordinator_is_a_reason(behaviour: Behaviour) -> None:
    with serving(behaviour) as port:
        group = read(f"127.0.0.1:{port}")
    assert group.workers == ()
    assert group.because
    assert str(group).startswith("Connect group connect: not read, ")


@pytest.mark.alone
@pytest.mark.parametrize("behaviour", HOSTILE[:-1], ids=[one.__name__ for one in HOSTILE[:-1]])
def test_a_hostile_url_is_a_failure(behaviour: Behaviour) -> None:
    with serving(behaviour) as port, serving(coordinator(f"http://127.0.0.1:{port}/", "ftp://x")) as broker:
        group = read(f"127.0.0.1:{broker}")
    assert [type(one.contact) for one in group.forwards] == [Failed, Failed]


def test_no_worker_can_be_entered() -> None:
    deployment = deployment_of(FILE.format(bootstrap="127.0.0.1:1"))
    assert read_neighbours(deployment, (), timeout=TIMEOUT) == ((), ())


TOLD = """\
services:
  console:
    image: example/console
    environment:
      SCHEMA_REGISTRY_URL: {url}
"""


def at_url(url: str) -> Contact:
    """What a console in our own namespace gets at the URL that it is told."""
    vantage = Vantage(kind=VantageKind.CONTAINER, label="container console", member="console")
    vantages = [LiveVantage(vantage=vantage, entrance=OwnNamespace())]
    begin = time.perf_counter()
    groups, (seen,) = read_neighbours(deployment_of(TOLD.format(url=url)), vantages, timeout=TIMEOUT)
    assert time.perf_counter() - begin < BOUND
    assert groups == ()
    assert seen.source == "console"
    assert "secret" not in seen.url
    return seen.contact


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_url_is_asked_for_its_root_without_secrets_and_redirects(tmp_path: Path, scheme: str) -> None:
    requests: list[bytes] = []

    def redirecting(channel: socket.socket, over: threading.Event) -> None:
        requests.append(channel.recv(4096))
        channel.sendall(b"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

    context = context_for(World(tmp_path).server(issue("another")))
    with serving(redirecting if scheme == "http" else behind_tls(context, redirecting)) as port:
        assert isinstance(at_url(f"{scheme}://user:secret@127.0.0.1:{port}/secret?secret"), Answered)
    host = f"127.0.0.1:{port}"
    expected = f"GET / HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    assert requests == [expected.encode()]


@pytest.mark.alone
@pytest.mark.parametrize(
    ("inside", "reason", "because"),
    [
        (ScriptedBroker(node_id=1, brokers=[]), Reason.CLOSED, "answers TLS and closes on HTTP within it"),
        (hostile.garbage, Reason.NOT_KAFKA, "does not speak HTTP"),
        (hostile.two_gigabytes, Reason.NOT_KAFKA, "does not speak HTTP"),
        (hostile.one_byte_a_second, Reason.TIMEOUT, "accepted, then silent"),
        (hostile.silence, Reason.TIMEOUT, "accepted, then silent"),
    ],
)
def test_what_speaks_tls_is_no_service_yet(tmp_path: Path, inside: Behaviour, reason: Reason, because: str) -> None:
    context = context_for(World(tmp_path).server(issue("another")))
    with serving(behind_tls(context, inside)) as port:
        contact = at_url(f"https://127.0.0.1:{port}")
    assert isinstance(contact, Failed)
    assert contact.reason is reason
    assert because in contact.because


@pytest.mark.parametrize("versions", ["TLSv1.2", "TLSv1.3"])
def test_a_service_that_asks_for_a_certificate_is_unknown(tmp_path: Path, versions: str) -> None:
    world = World(tmp_path)
    own = world.server(issue("another"))
    context = context_for(own, client_authorities=tmp_path / "ca.pem", versions=versions)
    with serving(behind_tls(context, hostile.http)) as port:
        contact = at_url(f"https://127.0.0.1:{port}")
    assert isinstance(contact, Unknown)
    assert "asks for a client's certificate" in contact.because


@pytest.mark.alone
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("behaviour", HOSTILE[:-2], ids=[one.__name__ for one in HOSTILE[:-2]])
def test_what_is_no_service_is_a_failure(behaviour: Behaviour, scheme: str) -> None:
    with serving(behaviour) as port:
        assert isinstance(at_url(f"{scheme}://127.0.0.1:{port}"), Failed)


def closes_on_http(channel: socket.socket, over: threading.Event) -> None:
    """A server of OpenSSL, which gives no alert to HTTP."""
    if channel.recv(4096).startswith(b"\x16\x03"):
        channel.sendall(b"\x15\x03\x03\x00\x02\x02\x28")


@pytest.mark.parametrize(
    ("behaviour", "scheme", "because"),
    [
        (hostile.tls_alert, "http", "speaks TLS"),
        (closes_on_http, "http", "closes on HTTP and answers TLS"),
        (hostile.http, "https", "does not speak TLS"),
    ],
)
def test_http_and_https_are_told_apart(behaviour: Behaviour, scheme: str, because: str) -> None:
    with serving(behaviour) as port:
        contact = at_url(f"{scheme}://127.0.0.1:{port}")
    assert isinstance(contact, Failed)
    assert contact.reason is Reason.TLS
    assert because in contact.because
