"""Talking on a socket, plain and within TLS, against servers that end it in every way."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from netdiag.io.client_identity import context_of
from netdiag.io.lines import Line, PlainLine, TlsBroken, TlsLine
from tests.io import hostile
from tests.io.authorities import authority, issue
from tests.io.hostile import Behaviour, serving
from tests.io.secured_servers import behind_tls, context_for


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
