"""What a port really speaks: everybody who may answer; a login of the client is test_speaking.py's."""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from netdiag.io.securing import secure
from netdiag.kafka.protocol import encode_response
from netdiag.kafka.security import CertificateFault, SecuritySight, Spoken
from tests.io import hostile
from tests.io.authorities import authority, issue
from tests.io.hostile import Behaviour, ScriptedBroker, serving
from tests.io.secured_servers import SaslBroker, behind_tls, context_for

ROOT = authority()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue("kafka", by=ROOT, names=["kafka"]).write(tmp_path_factory.mktemp("securing") / "own.pem")


def sight(behaviour: Behaviour, *, host: str = "kafka", limit: float = 30) -> SecuritySight:
    async def run(port: int) -> SecuritySight:
        @contextlib.asynccontextmanager
        async def dial() -> AsyncIterator[socket.socket | None]:
            with socket.socket() as channel:
                channel.setblocking(False)
                connected = False
                with contextlib.suppress(OSError):
                    await asyncio.get_running_loop().sock_connect(channel, ("127.0.0.1", port))
                    connected = True
                yield channel if connected else None

        return await secure(dial, host, client=None, login=None, deadline=asyncio.get_running_loop().time() + limit)

    with serving(behaviour) as port:
        return asyncio.run(run(port))


class Controller(ScriptedBroker):
    """A KRaft controller's listener: Vote, and no Metadata."""

    def answer(self, api_key: int, api_version: int, correlation_id: int) -> bytes:
        if api_key == 18 and api_version > 0:
            return encode_response(18, 0, correlation_id, {"error_code": 35, "api_keys": []})
        if api_key == 17:
            return encode_response(17, api_version, correlation_id, {"error_code": 34, "mechanisms": []})
        keys = [{"api_key": key, "min_version": 0, "max_version": 1} for key in (17, 18, 52)]
        return encode_response(18, 0, correlation_id, {"error_code": 0, "api_keys": keys})


def zookeeper(channel: socket.socket, over: threading.Event) -> None:
    """Closes on everything but its own words."""
    words = channel.recv(4096)
    if words[:4] == b"srvr":
        channel.sendall(b"Zookeeper version: 3.8.4\nMode: standalone\n")


def only_http(channel: socket.socket, over: threading.Event) -> None:
    """Closes on everything but HTTP."""
    if channel.recv(4096).startswith(b"GET "):
        channel.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")


def a_broker() -> ScriptedBroker:
    return ScriptedBroker(node_id=1, brokers=[(1, "kafka", 9092)])


def a_sasl_broker() -> SaslBroker:
    return SaslBroker(mechanisms=("PLAIN", "SCRAM-SHA-512"), port=lambda: 1)


@pytest.mark.parametrize(
    ("behaviour", "spoken"),
    [
        (a_broker(), Spoken.PLAINTEXT),
        (a_sasl_broker(), Spoken.SASL_PLAINTEXT),
        (Controller(node_id=1, brokers=[]), Spoken.CONTROLLER),
        (hostile.http, Spoken.HTTP),
        (only_http, Spoken.HTTP),
        (zookeeper, Spoken.ZOOKEEPER),
        (hostile.garbage, Spoken.UNKNOWN),
        (hostile.immediate_close, Spoken.UNKNOWN),
        (hostile.reset, Spoken.UNKNOWN),
        (hostile.two_gigabytes, Spoken.UNKNOWN),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_who_answers_in_plaintext(behaviour: Behaviour, spoken: Spoken) -> None:
    found = sight(behaviour)
    assert (found.spoken, found.tls) == (spoken, None)
    if spoken is Spoken.SASL_PLAINTEXT:
        assert found.sasl is not None
        assert (found.sasl.mechanisms, found.sasl.authenticated) == (("PLAIN", "SCRAM-SHA-512"), None)


@pytest.mark.parametrize(
    ("inside", "spoken"),
    [
        (a_broker(), Spoken.SSL),
        (a_sasl_broker(), Spoken.SASL_SSL),
        (Controller(node_id=1, brokers=[]), Spoken.CONTROLLER),
        (hostile.http, Spoken.HTTP),
        (hostile.immediate_close, Spoken.UNKNOWN),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_who_answers_within_tls(own: Path, inside: Behaviour, spoken: Spoken) -> None:
    found = sight(behind_tls(context_for(own), inside))
    assert found.spoken is spoken
    assert found.tls is not None
    assert [certificate.common_name for certificate in found.tls.chain] == ["kafka"]
    assert found.tls.faults == ()
    assert (found.sasl is not None) is (spoken is Spoken.SASL_SSL)


def test_faults_hold_for_the_name_asked_for(own: Path) -> None:
    found = sight(behind_tls(context_for(own), a_broker()), host="localhost")
    assert found.tls is not None
    assert [fault for fault, _ in found.tls.faults] == [CertificateFault.NAME]


@pytest.mark.parametrize("versions", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize("needs", [True, False])
def test_the_wish_for_a_clients_certificate(own: Path, tmp_path: Path, versions: str, needs: bool) -> None:
    (tmp_path / "ca.pem").write_bytes(ROOT.pem)
    context = context_for(own, client_authorities=tmp_path / "ca.pem", needs=needs, versions=versions)
    found = sight(behind_tls(context, a_broker()))
    assert found.tls is not None
    assert (found.spoken, found.tls.needs_client) == (Spoken.SSL, needs)
    # What a server of TLS 1.3 only would like is said in secret.
    assert found.tls.wants_client is (needs or versions == "TLSv1.2")


def test_a_server_that_floods_in_tls_is_left(own: Path) -> None:
    def flood(channel: socket.socket, over: threading.Event) -> None:
        channel.recv(4096)
        channel.sendall(struct.pack(">iI", 1 << 19, 1))
        while not over.is_set():
            channel.sendall(bytes(1 << 16))

    found = sight(behind_tls(context_for(own), flood))
    assert found.spoken is Spoken.UNKNOWN


def test_silence_is_given_up() -> None:
    assert sight(hostile.silence, limit=0.5).spoken is Spoken.UNKNOWN
