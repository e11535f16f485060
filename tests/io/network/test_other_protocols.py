"""Strangers that are silent on a Kafka greeting say who they are when greeted in their own words."""

import asyncio
import contextlib
import http.server
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from netdiag.deployment.model.verdict import Address, Failed, Reason
from netdiag.io.network.other_protocols import answers_tls
from netdiag.io.network.probe import Question, probe
from netdiag.linux.netns import OwnNamespace
from tests.io.network import hostile
from tests.io.network.hostile import Behaviour, serving


@contextmanager
def web_server() -> Iterator[int]:
    """The one of Python's library, which waits for the end of a line, one connection at a time."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def tls_that_waits(channel: socket.socket, over: threading.Event) -> None:
    if channel.recv(4096)[:1] == b"\x16":
        channel.sendall(b"\x16\x03\x03\x00\x02\x02\x00")
    else:
        over.wait(30)


def keeper(channel: socket.socket, over: threading.Event) -> None:
    if channel.recv(4096) == b"srvr":
        channel.sendall(b"Zookeeper version: 3.9.3-x, built on y\nMode: standalone\nNode count: 5\n")


def found(port: int) -> Failed:
    question = Question(bootstraps=(Address(host="127.0.0.1", port=port),), group="shop", timeout=8)
    (story,) = probe("host", OwnNamespace(), question).bootstraps
    assert isinstance(story.dialogue.contact, Failed)
    return story.dialogue.contact


def test_a_web_server() -> None:
    with web_server() as port:
        failed = found(port)
    assert failed.reason is Reason.NOT_KAFKA
    assert "HTTP" in failed.because


@pytest.mark.parametrize(
    ("behaviour", "reason", "word"),
    [
        (tls_that_waits, Reason.TLS, "answers TLS"),
        (keeper, Reason.NOT_KAFKA, "ZooKeeper"),
        (hostile.silence, Reason.TIMEOUT, "silent"),
        (hostile.immediate_close, Reason.CLOSED, "closed"),
        (hostile.reset, Reason.CLOSED, "127.0.0.1"),
    ],
)
def test_others(behaviour: Callable[..., None], reason: Reason, word: str) -> None:
    with serving(behaviour) as port:
        failed = found(port)
    assert failed.reason is reason
    assert word in failed.because


def real_tls(channel: socket.socket, over: threading.Event) -> None:
    """A TLS server of Python's that has no certificate: it answers with an alert, as TLS does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with contextlib.suppress(ssl.SSLError):
        context.wrap_socket(channel, server_side=True)


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (real_tls, True),
        (hostile.tls_that_closes, True),
        (hostile.tls_alert, True),
        (hostile.immediate_close, False),
        (hostile.http, False),
        (hostile.garbage, False),
        (hostile.silence, False),
    ],
)
def test_who_answers_tls(behaviour: Behaviour, expected: bool) -> None:
    async def ask(port: int) -> bool:
        with socket.socket() as channel:
            channel.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(channel, ("127.0.0.1", port))
            return await answers_tls(channel, loop.time() + 0.5)

    with serving(behaviour) as port:
        assert asyncio.run(ask(port)) is expected
