"""Kafka brokers on loopback behind TLS and SASL, their certificates, and the settings of a client that trusts them."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from netdiag.kafka.protocol import decode_request, encode_response
from tests.io.network.authorities import Issued, authority, issue
from tests.io.network.hostile import Behaviour, ScriptedBroker
from tests.kafka.test_sasl import Server

USER, PASSWORD = "alice", "alice-secret-7"


def context_for(
    path: Path, *, client_authorities: Path | None = None, needs: bool = True, versions: str = ""
) -> ssl.SSLContext:
    """A server's side of TLS; `client_authorities` asks for a client's certificate, `needs` insists on it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(path)
    if versions == "TLSv1.3":
        context.minimum_version = ssl.TLSVersion.TLSv1_3
    if versions == "TLSv1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if client_authorities is not None:
        context.verify_mode = ssl.CERT_REQUIRED if needs else ssl.CERT_OPTIONAL
        context.load_verify_locations(client_authorities)
    return context


def behind_tls(context: ssl.SSLContext, inside: Behaviour) -> Behaviour:
    """What `inside` does, within TLS; who does not greet is left."""

    def behave(channel: socket.socket, over: threading.Event) -> None:
        with contextlib.suppress(OSError), context.wrap_socket(channel, server_side=True) as secured:
            inside(secured, over)

    return behave


class SaslBroker(ScriptedBroker):
    """A broker that answers after a login only, by PLAIN or SCRAM."""

    def __init__(self, *, mechanisms: tuple[str, ...], port: Callable[[], int]) -> None:
        super().__init__(node_id=1, brokers=[])
        self.mechanisms = mechanisms
        self.port = port
        self.tokens: list[bytes] = []

    def __call__(self, channel: socket.socket, over: threading.Event) -> None:
        logged_in, chosen, scram = False, "", None
        while True:
            head = _exactly(channel, 4)
            if head is None or struct.unpack(">i", head)[0] > 1 << 20:
                return
            data = _exactly(channel, struct.unpack(">i", head)[0]) or b""
            api_key, api_version, correlation_id = struct.unpack_from(">hhi", data)
            if api_key == 18 and api_version > 0:
                answer = encode_response(18, 0, correlation_id, {"error_code": 35, "api_keys": []})
            elif api_key == 18:
                keys = [{"api_key": key, "min_version": 0, "max_version": 1} for key in (3, 17, 18, 32, 36)]
                answer = encode_response(18, 0, correlation_id, {"error_code": 0, "api_keys": keys})
            elif api_key == 17:
                chosen = decode_request(data).body.value["mechanism"]
                code = 0 if chosen in self.mechanisms else 33
                answer = encode_response(
                    17, api_version, correlation_id, {"error_code": code, "mechanisms": self.mechanisms}
                )
                scram = Server(chosen, PASSWORD) if chosen.startswith("SCRAM") else None
            elif api_key == 36:
                token = bytes(decode_request(data).body.value["auth_bytes"])
                self.tokens.append(token)
                words, said = self._login(scram, token)
                logged_in = logged_in or (not words and (scram is None or said.startswith(b"v=")))
                body = {"error_code": 58 if words else 0, "error_message": words or None, "auth_bytes": said}
                answer = encode_response(36, api_version, correlation_id, body)
            elif not logged_in:
                return
            else:
                self.brokers = [(1, "127.0.0.1", self.port())]
                answer = self.answer(api_key, api_version, correlation_id)
            channel.sendall(answer)

    def _login(self, scram: Server | None, token: bytes) -> tuple[str, bytes]:
        """What is wrong, and the token in answer."""
        if scram is None:
            good = token == b"\0".join((b"", USER.encode(), PASSWORD.encode()))
            return ("" if good else f"Authentication failed for {token!r}", b"")
        if token.startswith(b"n,,"):
            return "", scram.answer(token)
        said = scram.verdict(token)
        return ("Authentication failed" if said.startswith(b"e=") else "", said)


def _exactly(channel: socket.socket, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        piece = channel.recv(count - len(data))
        if not piece:
            return None
        data += piece
    return data


@dataclass(slots=True)
class World:
    """Certificates and the files that name them."""

    folder: Path
    root: Issued = field(default_factory=authority)

    def __post_init__(self) -> None:
        (self.folder / "ca.pem").write_bytes(self.root.pem)
        other = authority("Another Authority")
        (self.folder / "other.pem").write_bytes(other.pem)
        issue("client", by=self.root).write(self.folder / "client.pem")

    def server(self, issued: Issued) -> Path:
        return issued.write(self.folder / f"{issued.certificate.serial_number}.pem")

    def properties(
        self, protocol: str, *, trust: str = "ca.pem", extra: str = "", mechanism: str = "", password: str = PASSWORD
    ) -> Path:
        lines = [
            f"security.protocol={protocol}",
            "ssl.truststore.type=PEM",
            f"ssl.truststore.location={self.folder / trust}",
        ]
        if mechanism:
            module = f'x.LoginModule required username="{USER}" password="{password}";'
            lines += [f"sasl.mechanism={mechanism}", f"sasl.jaas.config={module}"]
        path = self.folder / "client.properties"
        path.write_text("\n".join([*lines, extra, ""]), encoding="utf-8")
        return path
