"""What a port really speaks: everybody who may answer; a login of the client is in test_client_handshake.py."""

import asyncio
import contextlib
import socket
import struct
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from netdiag.io.network.listener_security import Dial, SeenTls, look_at_tls, read_security
from netdiag.kafka.protocol import encode_response
from netdiag.kafka.security import CertificateFault, ListenerSecurity, SpokenProtocol
from tests.io.network import hostile
from tests.io.network.authorities import Issued, authority, issue
from tests.io.network.hostile import Behaviour, ScriptedBroker, serving
from tests.io.network.secured_servers import SaslBroker, behind_tls, context_for
from tests.tools import tool

ROOT = authority()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue("kafka", by=ROOT, names=["kafka"]).write(tmp_path_factory.mktemp("securing") / "own.pem")


def dialling(port: int) -> Dial:
    """Connections to a port of loopback; None where there is none."""

    @contextlib.asynccontextmanager
    async def dial() -> AsyncIterator[socket.socket | None]:
        with socket.socket() as channel:
            channel.setblocking(False)
            connected = False
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().sock_connect(channel, ("127.0.0.1", port))
                connected = True
            yield channel if connected else None

    return dial


def sight(behaviour: Behaviour, *, host: str = "kafka", limit: float = 30) -> ListenerSecurity:
    async def run(port: int) -> ListenerSecurity:
        deadline = asyncio.get_running_loop().time() + limit
        return await read_security(dialling(port), host, client=None, login=None, deadline=deadline)

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
        (a_broker(), SpokenProtocol.PLAINTEXT),
        (a_sasl_broker(), SpokenProtocol.SASL_PLAINTEXT),
        (Controller(node_id=1, brokers=[]), SpokenProtocol.CONTROLLER),
        (hostile.http, SpokenProtocol.HTTP),
        (only_http, SpokenProtocol.HTTP),
        (zookeeper, SpokenProtocol.ZOOKEEPER),
        (hostile.garbage, SpokenProtocol.UNKNOWN),
        (hostile.immediate_close, SpokenProtocol.UNKNOWN),
        (hostile.reset, SpokenProtocol.UNKNOWN),
        (hostile.two_gigabytes, SpokenProtocol.UNKNOWN),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_who_answers_in_plaintext(behaviour: Behaviour, spoken: SpokenProtocol) -> None:
    found = sight(behaviour)
    assert (found.spoken, found.tls) == (spoken, None)
    if spoken is SpokenProtocol.SASL_PLAINTEXT:
        assert found.sasl is not None
        assert (found.sasl.mechanisms, found.sasl.authenticated) == (("PLAIN", "SCRAM-SHA-512"), None)


@pytest.mark.parametrize(
    ("inside", "spoken"),
    [
        (a_broker(), SpokenProtocol.SSL),
        (a_sasl_broker(), SpokenProtocol.SASL_SSL),
        (Controller(node_id=1, brokers=[]), SpokenProtocol.CONTROLLER),
        (hostile.http, SpokenProtocol.HTTP),
        (hostile.immediate_close, SpokenProtocol.UNKNOWN),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_who_answers_within_tls(own: Path, inside: Behaviour, spoken: SpokenProtocol) -> None:
    found = sight(behind_tls(context_for(own), inside))
    assert found.spoken is spoken
    assert found.tls is not None
    assert [certificate.common_name for certificate in found.tls.chain] == ["kafka"]
    assert found.tls.faults == ()
    assert (found.sasl is not None) is (spoken is SpokenProtocol.SASL_SSL)


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
    assert (found.spoken, found.tls.needs_client) == (SpokenProtocol.SSL, needs)
    # What a server of TLS 1.3 only would like is said in secret.
    assert found.tls.wants_client is (needs or versions == "TLSv1.2")


def test_a_server_that_floods_in_tls_is_left(own: Path) -> None:
    def flood(channel: socket.socket, over: threading.Event) -> None:
        channel.recv(4096)
        channel.sendall(struct.pack(">iI", 1 << 19, 1))
        while not over.is_set():
            channel.sendall(bytes(1 << 16))

    found = sight(behind_tls(context_for(own), flood))
    assert found.spoken is SpokenProtocol.UNKNOWN


def test_silence_is_given_up() -> None:
    assert sight(hostile.silence, limit=0.5).spoken is SpokenProtocol.UNKNOWN


LONG = 30.0


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Issued, Path]:
    leaf = issue("kafka", by=authority("Sub", by=authority()), names=["kafka"])
    folder = tmp_path_factory.mktemp("tls")
    assert leaf.issuer is not None
    (folder / "sub.pem").write_bytes(leaf.issuer.pem)
    return leaf, leaf.write(folder / "kafka.pem", with_issuers=False)


def look(port: int, *, limit: float = LONG) -> SeenTls | None:
    async def run() -> SeenTls | None:
        return await look_at_tls(dialling(port), "kafka", asyncio.get_running_loop().time() + limit)

    return asyncio.run(run())


@contextlib.contextmanager
def s_server(path: Path, *options: str) -> Iterator[int]:
    """`openssl s_server`; it says where it listens."""
    words = [tool("openssl"), "s_server", "-accept", "127.0.0.1:0", "-cert", str(path), "-key", str(path)]
    words += ["-cert_chain", str(path.parent / "sub.pem"), "-naccept", "100", *options]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("ACCEPT"):
                    yield int(line.rstrip().rpartition(":")[2])
                    return
            raise AssertionError("openssl did not listen")
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("options", "versions", "wants"),
    [
        ((), {"TLSv1.2", "TLSv1.3"}, False),
        (("-tls1_2",), {"TLSv1.2"}, False),
        (("-tls1_3",), {"TLSv1.3"}, False),
        (("-tls1_2", "-verify", "1"), {"TLSv1.2"}, True),
        (("-tls1_2", "-Verify", "1"), {"TLSv1.2"}, True),
    ],
)
def test_the_server_of_openssl(
    chain: tuple[Issued, Path], options: tuple[str, ...], versions: set[str], wants: bool
) -> None:
    leaf, path = chain
    assert leaf.issuer is not None
    with s_server(path, *options) as port:
        seen = look(port)
    assert seen is not None
    assert set(seen.versions) == versions
    assert seen.chain == (leaf.der, leaf.issuer.der)
    assert seen.wants_client is wants
    assert seen.cipher.startswith("TLS_")


@pytest.mark.parametrize("behaviour", [hostile.garbage, hostile.http, hostile.immediate_close, hostile.reset])
def test_who_speaks_no_tls(behaviour: hostile.Behaviour) -> None:
    with serving(behaviour) as port:
        assert look(port) is None


def test_who_says_only_that_it_is_tls() -> None:
    with serving(hostile.tls_alert) as port:
        assert look(port) == SeenTls(versions=(), cipher="", chain=(), wants_client=False)


def test_silence_seen_from_outside_is_given_up() -> None:
    with serving(hostile.silence) as port:
        assert look(port, limit=0.5) is None
