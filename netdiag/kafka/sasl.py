"""Logging in at a SASL listener, without any I/O: SaslHandshake, SaslAuthenticate, SCRAM, and what came of it.

    login = Login(mechanism="PLAIN", username="alice", password="...", nonce=...)
    send(login.start())
    while login.outcome is None:
        login.receive(receive())                     # b"" or a reset: login.closed(); the timer: login.timed_out()
        send(login.bytes_to_send())
    login.outcome                                    # LoggedIn | Refused

After `LoggedIn` the same connection serves requests. Versions are the oldest that wrap tokens in frames (SaslHandshake
1 and SaslAuthenticate 0, Kafka 1.0), which every broker since then knows. Whatever the endpoint sends ends in an
outcome. No secret is in an outcome, a text or a `repr`.

`Scram` is the client's side of RFC 5802 and RFC 7677 as Kafka speaks it: three texts out, two in. The server's
signature is checked: who does not know the password is not believed to be the server. As Kafka's own client does, texts
are taken as UTF-8, without SASLprep.
"""

import base64
import binascii
import hashlib
import hmac
from enum import StrEnum

from netdiag.digits import number_of
from netdiag.kafka import questions
from netdiag.kafka.error_codes import (
    ILLEGAL_SASL_STATE,
    NONE,
    SASL_AUTHENTICATION_FAILED,
    UNSUPPORTED_SASL_MECHANISM,
    error_name,
)
from netdiag.kafka.other_protocols import OtherProtocol, who_answers
from netdiag.kafka.protocol import (
    FrameError,
    FrameSplitter,
    LocalProtocolError,
    RemoteProtocolError,
    decode_response,
    encode_request,
)
from netdiag.kafka.questions import Step
from netdiag.values import dataclass

SCRAM_MECHANISMS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
FEWEST_ITERATIONS = 4096
MOST_ITERATIONS = 65_536
"""Kafka allows 16,384; a server must not keep a client counting."""
_LONGEST = 4096
_HEADER = "n,,"


class ScramError(Exception):
    """The other side does not follow SCRAM, or does not know the password."""


class Scram:
    """One exchange. `nonce` is fresh randomness, printable and without a comma."""

    def __init__(self, *, mechanism: str, username: str, password: str, nonce: str) -> None:
        self._hash = SCRAM_MECHANISMS[mechanism]
        self._password = password
        self._nonce = nonce
        self._bare = f"n={_escaped(username)},r={nonce}"
        self._signature = b""

    def first(self) -> bytes:
        """client-first-message."""
        return (_HEADER + self._bare).encode()

    def final(self, server_first: bytes) -> bytes:
        """client-final-message, for server-first-message."""
        text = _text(server_first)
        fields = _fields(text)
        nonce, salt, iterations = (
            fields.get("r", ""),
            _decoded(fields.get("s", "")),
            number_of(fields.get("i", "")) or 0,
        )
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise ScramError("its nonce does not continue ours")
        if not salt:
            raise ScramError("it sends no salt")
        if not FEWEST_ITERATIONS <= iterations <= MOST_ITERATIONS:
            raise ScramError(f"it requires {iterations} iterations")
        salted = hashlib.pbkdf2_hmac(self._hash, self._password.encode(), salt, iterations)
        without_proof = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
        message = ",".join((self._bare, text, without_proof)).encode()
        client_key = self._hmac(salted, b"Client Key")
        client_signature = self._hmac(hashlib.new(self._hash, client_key).digest(), message)
        self._signature = self._hmac(self._hmac(salted, b"Server Key"), message)
        proof = bytes(a ^ b for a, b in zip(client_key, client_signature, strict=True))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def check(self, server_final: bytes) -> None:
        """Check that server-final-message comes from a server that knows the password; `ScramError` otherwise."""
        fields = _fields(_text(server_final))
        if "e" in fields:
            raise ScramError(f"it says {fields['e'][:80]}")
        if not self._signature or not hmac.compare_digest(_decoded(fields.get("v", "")), self._signature):
            raise ScramError("its signature is wrong: it does not know the password")

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._hash).digest()


def _escaped(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def _text(message: bytes) -> str:
    if len(message) > _LONGEST:
        raise ScramError(f"its message has {len(message)} bytes")
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise ScramError("its message is no text") from None


def _fields(text: str) -> dict[str, str]:
    """The attributes by letter; what has no letter is passed over."""
    pieces = [piece.partition("=") for piece in text.split(",")]
    if pieces and pieces[0][0] == "m":
        raise ScramError("it demands an extension")
    return {letter: value for letter, equals, value in pieces if equals and len(letter) == 1}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("its message holds broken base64") from None


PLAIN = "PLAIN"
SPOKEN = (PLAIN, *SCRAM_MECHANISMS)
SASL_HANDSHAKE = questions.API_KEYS[Step.SASL_HANDSHAKE]
SASL_AUTHENTICATE = 36
HANDSHAKE_VERSION, AUTHENTICATE_VERSION = 1, 0
LARGEST_ANSWER = 64 * 1024
_FIRST_CORRELATION_ID = 0x6E64_4000
_LONGEST_WORDS = 300


class RefusedBy(StrEnum):
    """Why a login failed."""

    CREDENTIALS = "credentials"
    MECHANISM = "mechanism"
    NOT_SASL = "not-sasl"
    TLS = "tls"
    NOT_KAFKA = "not-kafka"
    CLOSED = "closed"
    NO_ANSWER = "no-answer"
    NOT_TRUSTED = "not-trusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedIn:
    """The broker accepted the credentials."""

    mechanism: str
    mechanisms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """No login; `detail` is for people, with the broker's own words where it gave any."""

    by: RefusedBy
    mechanism: str
    detail: str
    mechanisms: tuple[str, ...] = ()


class Login:
    """One login on one connection; `nonce` is fresh randomness for SCRAM."""

    def __init__(self, *, mechanism: str, username: str, password: str, nonce: str, client_id: str = "netdiag") -> None:
        if mechanism not in SPOKEN:
            raise LocalProtocolError(f"{mechanism} is not supported")
        self._mechanism = mechanism
        self._client_id = client_id
        self._scram: Scram | None = None
        self._plain = b""
        self._password = password
        if mechanism == PLAIN:
            self._plain = b"\0".join((b"", username.encode(), password.encode()))
        else:
            self._scram = Scram(mechanism=mechanism, username=username, password=password, nonce=nonce)
        self._frames = FrameSplitter(LARGEST_ANSWER)
        self._correlation_id = _FIRST_CORRELATION_ID - 1
        self._to_send = b""
        self._mechanisms: tuple[str, ...] = ()
        self._tokens = 0
        self._came = False
        self.outcome: LoggedIn | Refused | None = None

    def start(self) -> bytes:
        """The first bytes to send."""
        return self._request(SASL_HANDSHAKE, HANDSHAKE_VERSION, {"mechanism": self._mechanism})

    def bytes_to_send(self) -> bytes:
        """The bytes to send next; empty when there are none."""
        data, self._to_send = self._to_send, b""
        return data

    def receive(self, data: bytes) -> None:
        """Take bytes from the endpoint, in any chunks. Bytes after the end are ignored."""
        if self.outcome is not None:
            return
        self._came = self._came or bool(data)
        try:
            for frame in self._frames.feed(data):
                self._take(frame)
                if self.outcome is not None:
                    return
        except FrameError:
            protocol, what = who_answers(self._frames.pending)
            by = RefusedBy.TLS if protocol is OtherProtocol.TLS else RefusedBy.NOT_KAFKA
            self._refused(by, f"it answers SaslHandshake with {what}")
        except RemoteProtocolError as error:
            self._refused(RefusedBy.NOT_KAFKA, f"its SASL answer cannot be read, {error}")
        except ScramError as error:
            self._refused(RefusedBy.NOT_TRUSTED, f"{self._mechanism}: {error}")

    def closed(self) -> None:
        """The endpoint ended or reset the connection."""
        where = f"during {self._mechanism}" if self._tokens else "without an answer to SaslHandshake"
        self._refused(RefusedBy.CREDENTIALS if self._tokens else RefusedBy.CLOSED, f"closed {where}")

    def timed_out(self) -> None:
        """The time-out of the caller is over."""
        self._refused(RefusedBy.NO_ANSWER, "no answer to SaslHandshake in time")

    def _take(self, frame: bytes) -> None:
        if frame[:4] != self._correlation_id.to_bytes(4, "big"):
            self._refused(RefusedBy.NOT_KAFKA, "its answer is not to SaslHandshake")
        elif self._tokens == 0:
            self._take_handshake(frame)
        else:
            self._take_token(frame)

    def _take_handshake(self, frame: bytes) -> None:
        response = decode_response(frame, SASL_HANDSHAKE, HANDSHAKE_VERSION, max_values=1000)
        error_code, self._mechanisms = questions.read_sasl_mechanisms(response)
        if error_code == ILLEGAL_SASL_STATE:
            self._refused(RefusedBy.NOT_SASL, "it does not require SASL")
        elif error_code == UNSUPPORTED_SASL_MECHANISM:
            enabled = ", ".join(self._mechanisms) or "none"
            self._refused(RefusedBy.MECHANISM, f"{self._mechanism} is not enabled, enabled: {enabled}")
        elif error_code != NONE:
            self._refused(RefusedBy.NOT_KAFKA, f"it answers SaslHandshake with {error_name(error_code)}")
        else:
            self._send(self._plain if self._scram is None else self._scram.first())

    def _take_token(self, frame: bytes) -> None:
        response = decode_response(frame, SASL_AUTHENTICATE, AUTHENTICATE_VERSION, max_values=1000)
        value = response.body.value
        error_code, words = value["error_code"], self._words(value["error_message"])
        if error_code != NONE:
            by = RefusedBy.CREDENTIALS if error_code == SASL_AUTHENTICATION_FAILED else RefusedBy.NOT_KAFKA
            self._refused(by, f"{self._mechanism} is refused: {words or error_name(error_code)}")
        elif self._scram is not None and self._tokens == 1:
            self._send(self._scram.final(bytes(value["auth_bytes"])))
        else:
            if self._scram is not None:
                self._scram.check(bytes(value["auth_bytes"]))
            self._end(LoggedIn(mechanism=self._mechanism, mechanisms=self._mechanisms))

    def _words(self, said: str | None) -> str:
        """What the broker says, without the password that it has just been told."""
        words = said or ""
        return (words.replace(self._password, "[hidden]") if self._password else words)[:_LONGEST_WORDS]

    def _send(self, token: bytes) -> None:
        self._tokens += 1
        self._to_send += self._request(SASL_AUTHENTICATE, AUTHENTICATE_VERSION, {"auth_bytes": token})

    def _request(self, api_key: int, api_version: int, body: dict[str, object]) -> bytes:
        self._correlation_id += 1
        return encode_request(api_key, api_version, self._correlation_id, self._client_id, body)

    def _refused(self, by: RefusedBy, detail: str) -> None:
        self._end(Refused(by=by, mechanism=self._mechanism, detail=detail, mechanisms=self._mechanisms))

    def _end(self, outcome: LoggedIn | Refused) -> None:
        if self.outcome is None:
            self.outcome = outcome
            self._to_send = b""
            self._scram, self._plain, self._password = None, b"", ""
