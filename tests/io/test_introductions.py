"""Strangers that are silent on a Kafka greeting say who they are when greeted in their own words."""

import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from netdiag.deployment.model.contact import Address, Failed, Reason
from netdiag.io.probing import Question, probe
from netdiag.linux.netns import OwnNamespace
from tests.io import hostile
from tests.io.hostile import serving


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
