"""Logging in at a SASL listener, without any I/O: SaslHandshake, SaslAuthenticate, and what came of it.

    login = Login(mechanism="PLAIN", username="alice", password="...", nonce=...)
    send(login.start())
    while login.outcome is None:
        login.receive(receive())                     # b"" or a reset: login.closed(); the timer: login.timed_out()
        send(login.bytes_to_send())
    login.outcome                                    # LoggedIn | Refused

After `LoggedIn` the same connection serves requests. Versions are the oldest that wrap tokens in frames (SaslHandshake
1 and SaslAuthenticate 0, Kafka 1.0), which every broker since then knows. Whatever the endpoint sends ends in an
outcome. No secret is in an outcome, a text or a `repr`.
"""

from enum import StrEnum

from netdiag.kafka import questions
from netdiag.kafka.error_codes import (
    ILLEGAL_SASL_STATE,
    NONE,
    SASL_AUTHENTICATION_FAILED,
    UNSUPPORTED_SASL_MECHANISM,
    error_name,
)
from netdiag.kafka.other_protocols import OtherProtocol, who_answers
from netdiag.kafka.outcomes import Step
from netdiag.kafka.protocol import (
    FrameError,
    FrameSplitter,
    LocalProtocolError,
    RemoteProtocolError,
    decode_response,
    encode_request,
)
from netdiag.kafka.scram import MECHANISMS as SCRAM
from netdiag.kafka.scram import Scram, ScramError
from netdiag.values import dataclass

PLAIN = "PLAIN"
SPOKEN = (PLAIN, *SCRAM)
SASL_HANDSHAKE = questions.API_KEYS[Step.SASL_HANDSHAKE]
SASL_AUTHENTICATE = 36
HANDSHAKE_VERSION, AUTHENTICATE_VERSION = 1, 0
LARGEST_ANSWER = 64 * 1024
_FIRST_CORRELATION_ID = 0x6E64_4000
_LONGEST_WORDS = 300


class RefusedBy(StrEnum):
    """What a login ended at."""

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
            raise LocalProtocolError(f"{mechanism} is not spoken")
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
        """What is to be sent next; empty when nothing is."""
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
            stranger, what = who_answers(self._frames.pending)
            by = RefusedBy.TLS if stranger is OtherProtocol.TLS else RefusedBy.NOT_KAFKA
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
        """The caller waits no longer."""
        self._refused(RefusedBy.NO_ANSWER, "no answer to SaslHandshake in time")

    def _take(self, frame: bytes) -> None:
        if frame[:4] != self._correlation_id.to_bytes(4, "big"):
            self._refused(RefusedBy.NOT_KAFKA, "it answers another request than SaslHandshake")
        elif self._tokens == 0:
            self._take_handshake(frame)
        else:
            self._take_token(frame)

    def _take_handshake(self, frame: bytes) -> None:
        response = decode_response(frame, SASL_HANDSHAKE, HANDSHAKE_VERSION, max_values=1000)
        error_code, self._mechanisms = questions.read_sasl_mechanisms(response)
        if error_code == ILLEGAL_SASL_STATE:
            self._refused(RefusedBy.NOT_SASL, "it wants no SASL")
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
