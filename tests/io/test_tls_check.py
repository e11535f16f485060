"""Telling a TLS endpoint from others."""

import asyncio
import contextlib
import socket
import ssl
import threading

import pytest

from netdiag.io.tls_check import answers_tls
from tests.io import hostile
from tests.io.hostile import Behaviour, serving


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
