"""Connections, plain and within TLS, against servers that end them in every way: what an errno and what an end mean."""

import asyncio
import errno
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from netdiag.deployment.model.verdict import Answered, Contact, Failed, Reason, Unknown
from netdiag.io.network.client_identity import context_of
from netdiag.io.network.connection import (
    Line,
    PlainLine,
    Target,
    TlsBroken,
    TlsLine,
    connect,
    connect_failure,
    converse,
)
from netdiag.io.network.limits import Allowance
from netdiag.kafka.conversation import Conversation
from tests.io.network import hostile
from tests.io.network.authorities import authority, issue
from tests.io.network.hostile import Behaviour, ScriptedBroker, serving
from tests.io.network.secured_servers import behind_tls, context_for


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue("kafka", by=authority(), names=["kafka"]).write(tmp_path_factory.mktemp("lines") / "own.pem")


def echo(channel: socket.socket, over: threading.Event) -> None:
    """Sends back what comes, until it is told to stop."""
    while data := channel.recv(65536):
        channel.sendall(data)
        if data.endswith(b"stop"):
            return


def on_line(behaviour: Behaviour, work: Callable[[Line], Awaitable[bytes]], *, tls: bool) -> bytes:
    async def run(port: int) -> bytes:
        with socket.socket() as channel:
            channel.setblocking(False)
            await asyncio.get_running_loop().sock_connect(channel, ("127.0.0.1", port))
            async with asyncio.timeout(30):
                line: Line = PlainLine(channel)
                if tls:
                    secured = TlsLine(channel, context_of(None, verify=False), "kafka")
                    await secured.greet()
                    assert secured.version.startswith("TLSv1.")
                    assert secured.cipher
                    assert len(secured.chain) == 1
                    line = secured
                return await work(line)

    with serving(behaviour) as port:
        return asyncio.run(run(port))


@pytest.mark.parametrize("tls", [False, True])
def test_what_is_sent_comes_back(own: Path, tls: bool) -> None:
    message = bytes(range(256)) * 2000 + b"stop"

    async def work(line: Line) -> bytes:
        await line.send(message)
        data = b""
        while piece := await line.receive():
            data += piece
        return data

    assert on_line(behind_tls(context_for(own), echo) if tls else echo, work, tls=tls) == message


def listen_and_close(channel: socket.socket, over: threading.Event) -> None:
    """Ends without an answer, and without a reset: all has been read."""
    channel.settimeout(0.2)
    while channel.recv(65536):
        pass


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (hostile.garbage, ""),
        (hostile.http, ""),
        (listen_and_close, "closed during the handshake"),
        (hostile.tls_alert, "alert: "),
    ],
)
def test_a_handshake_that_does_not_come_about(behaviour: Behaviour, said: str) -> None:
    async def work(line: Line) -> bytes:
        return b""

    with pytest.raises(TlsBroken) as raised:
        on_line(behaviour, work, tls=True)
    assert raised.value.words.startswith(said)
    assert "_ssl.c" not in raised.value.words


def test_a_name_that_cannot_be_told_is_not_told(own: Path) -> None:
    channel = socket.socket()
    with channel:
        for host in ("10.0.0.1", "::1", "", "a..b", "x" * 300, "kafka.", "ž.lab", "under_score"):
            TlsLine(channel, context_of(None, verify=False), host)


TARGET = Target(ip="10.0.0.1", port=9092)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ECONNREFUSED, Reason.REFUSED),
        (errno.ETIMEDOUT, Reason.TIMEOUT),
        (errno.EHOSTUNREACH, Reason.UNREACHABLE),
        (errno.ENETUNREACH, Reason.UNREACHABLE),
        (errno.EACCES, Reason.UNREACHABLE),
        (errno.EINVAL, Reason.UNREACHABLE),
        (errno.ECONNRESET, Reason.CLOSED),
        (errno.EMFILE, None),
        (errno.EADDRNOTAVAIL, None),
    ],
)
def test_an_errno_has_its_reason(number: int, reason: Reason | None) -> None:
    found = connect_failure(OSError(number, os.strerror(number)), TARGET)
    if reason is None:
        # Our own limits say nothing about the target.
        assert isinstance(found, Unknown)
    else:
        assert isinstance(found, Failed)
        assert (found.reason, found.ip) == (reason, "10.0.0.1")


def test_an_ipv6_target_has_its_family_and_brackets() -> None:
    target = Target(ip="2001:db8::1", port=9092)
    assert target.family is socket.AF_INET6
    assert str(target) == "[2001:db8::1]:9092"


async def _contact(port: int) -> Contact:
    deadline = asyncio.get_running_loop().time() + 2
    target = Target(ip="127.0.0.1", port=port)
    with socket.socket() as channel, Allowance().answer() as share:
        channel.setblocking(False)
        failure = await connect(channel, target, deadline, 2)
        return failure or await converse(PlainLine(channel), target, Conversation(), share, deadline)


def test_a_broker_answers_with_what_it_is() -> None:
    broker = ScriptedBroker(node_id=7, brokers=[(7, "h" * 300, 9092), (8, "other", 1)])
    with serving(broker) as port:
        contact = asyncio.run(_contact(port))
    assert isinstance(contact, Answered)
    assert contact.node_id == 7
    assert contact.ip == "127.0.0.1"
    assert contact.because == f"node 7 answers from 127.0.0.1:{port}"
    # No host name is longer: what is cut cannot be resolved in any case.
    assert [len(b.host) for b in contact.brokers] == [255, 5]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [(hostile.immediate_close, Reason.CLOSED), (hostile.tls_alert, Reason.TLS), (hostile.http, Reason.NOT_KAFKA)],
)
def test_an_end_without_an_answer(behaviour: Behaviour, reason: Reason) -> None:
    with serving(behaviour) as port:
        contact = asyncio.run(_contact(port))
    assert isinstance(contact, Failed)
    assert contact.reason is reason
