"""How a client of given settings gets from a connected socket to its first request: TLS, whom it trusts, the login.

What Kafka's Java client would refuse is refused. Credentials go only to who has shown a certificate that the client
trusts, as far as its settings ask for TLS; they are in no value that leaves this module.
"""

import asyncio
import secrets
import socket
import ssl
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from netdiag.deployment.model.verdict import Contact, Failed, Reason, Unknown
from netdiag.io.network.certificates import anchored, read_certificates
from netdiag.io.network.client_identity import Client, context_of
from netdiag.io.network.connection import Line, PlainLine, Target, TlsBroken, TlsLine, converse
from netdiag.io.network.limits import AnswerAllowance
from netdiag.kafka.conversation import Conversation
from netdiag.kafka.questions import Event
from netdiag.kafka.sasl import SPOKEN, LoggedIn, Login, Refused, RefusedBy
from netdiag.kafka.security import CertificateFault, TrustAnchor, faults_of

_DATES = (9, 10)
"""OpenSSL's codes for "not yet valid" and "has expired" (X509_V_ERR_CERT_NOT_YET_VALID and the next)."""
_DECIDED = frozenset(
    {
        CertificateFault.EXPIRED,
        CertificateFault.NOT_YET_VALID,
        CertificateFault.UNKNOWN_AUTHORITY,
        CertificateFault.SELF_SIGNED,
        CertificateFault.INCOMPLETE_CHAIN,
    }
)
"""What OpenSSL decides, with the authorities and the clock of this machine."""
_REASONS = {
    RefusedBy.CREDENTIALS: Reason.SASL,
    RefusedBy.MECHANISM: Reason.SASL,
    RefusedBy.NOT_SASL: Reason.SASL,
    RefusedBy.NOT_TRUSTED: Reason.SASL,
    RefusedBy.TLS: Reason.TLS,
    RefusedBy.NOT_KAFKA: Reason.NOT_KAFKA,
    RefusedBy.CLOSED: Reason.CLOSED,
    RefusedBy.NO_ANSWER: Reason.TIMEOUT,
}


class TrustedAsItIs(Exception):
    """The server's own certificate is in the truststore, out of date as it is: to be greeted again by `pinned`."""


class Speaker:
    """Speaks as one client, or in plaintext where there is none; `logins` is what became of the logins by target."""

    def __init__(self, client: Client | None) -> None:
        self.client = client
        self.logins: dict[Target, LoggedIn | Refused] = {}
        self._contexts: dict[bool, ssl.SSLContext] = {}

    @property
    def protocol(self) -> str:
        """The security protocol that is spoken."""
        return self.client.properties.security_protocol if self.client else "PLAINTEXT"

    @property
    def uses_tls(self) -> bool:
        """Whether a connection begins with a handshake."""
        return self.client is not None and self.client.properties.uses_tls

    @property
    def entries(self) -> int:
        """How many steps the way in has: TLS, the login."""
        return 0 if self.client is None else self.client.properties.uses_tls + self.client.properties.uses_sasl

    async def converse(
        self,
        channel: socket.socket,
        target: Target,
        host: str,
        talk: Conversation,
        share: AnswerAllowance,
        deadline: float,
        *,
        pinned: bool = False,
        entered: Callable[[str], None] | None = None,
        told: Callable[[Sequence[Event]], None] | None = None,
    ) -> Contact:
        """Enter, then hold the conversation; `TrustedAsItIs` asks for a second time with `pinned`, on a new socket.

        `entered` hears what each step of the way in has come to, `told` every event of the conversation.
        """
        line = await self.enter(channel, target, host, deadline, pinned=pinned, entered=entered)
        if isinstance(line, Failed | Unknown):
            return line
        contact = await converse(line, target, talk, share, deadline, told)
        if isinstance(line, TlsLine) and isinstance(contact, Failed) and contact.reason is Reason.CLOSED:
            return self._ended_after_handshake(target)
        return contact

    async def enter(
        self,
        channel: socket.socket,
        target: Target,
        host: str,
        deadline: float,
        *,
        pinned: bool = False,
        entered: Callable[[str], None] | None = None,
    ) -> Line | Failed | Unknown:
        """A line for requests, after TLS and the login; or why there is none. `pinned` and `entered` as above."""
        if self.client is None:
            return PlainLine(channel)
        try:
            async with asyncio.timeout_at(deadline):
                return await self._enter(channel, target, host, pinned, entered or _nobody_hears)
        except TimeoutError:
            because = f"{target} accepts connections, but does not answer the TLS handshake"
            return Failed(reason=Reason.TIMEOUT, because=because, ip=target.ip)

    async def _enter(
        self, channel: socket.socket, target: Target, host: str, pinned: bool, entered: Callable[[str], None]
    ) -> Line | Failed | Unknown:
        assert self.client is not None
        line: Line = PlainLine(channel)
        if self.client.properties.uses_tls:
            tls = TlsLine(channel, self._context(verify=not pinned), host)
            refused = await self._greeted(tls, target, host, pinned)
            if refused is not None:
                return refused
            entered(f"{tls.version}: its certificate is trusted{self._for(host)}")
            line = tls
        if self.client.properties.uses_sasl:
            ended = await self._logged_in(line, target)
            if ended is not None:
                return ended
            entered(f"logged in with {self.client.properties.mechanism}")
        return line

    async def _greeted(self, line: TlsLine, target: Target, host: str, pinned: bool) -> Failed | None:
        assert self.client is not None
        try:
            await line.greet()
        except TlsBroken as error:
            if error.verify_code in _DATES and self.client.authorities and not pinned:
                raise TrustedAsItIs from None
            return _broken(error, target)
        except OSError:
            return Failed(reason=Reason.CLOSED, because=f"{target} ends the TLS handshake", ip=target.ip)
        chain = line.chain
        leads = anchored(chain, self.client.authorities)
        faults = faults_of(
            read_certificates(chain),
            hosts=[host],
            anchored=leads,
            now=datetime.now(UTC),
            checks_names=self.client.properties.checks_names,
        )
        # Whether the chain can be trusted OpenSSL has decided by now, unless it was told to look at nothing.
        decided = not pinned or leads is TrustAnchor.PINNED
        refused = [fault for fault in faults if fault.refused and not (decided and fault.fault in _DECIDED)]
        if not refused and decided:
            return None
        why = f"{refused[0].fault.value}: {refused[0].detail}" if refused else "it is out of date"
        because = f"{target}: its certificate is refused: {why}"
        return Failed(reason=Reason.TLS, because=because, ip=target.ip)

    async def _logged_in(self, line: Line, target: Target) -> Failed | Unknown | None:
        """None where the login went well."""
        assert self.client is not None
        given = self.client.properties
        if given.mechanism not in SPOKEN:
            return Unknown(because=f"{target}: {given.mechanism} is not supported, only {', '.join(SPOKEN)}")
        login = Login(
            mechanism=given.mechanism,
            username=given.username,
            password=given.password,
            nonce=secrets.token_urlsafe(24),
        )
        try:
            await line.send(login.start())
            while login.outcome is None:
                data = await line.receive()
                if not data:
                    login.closed()
                    break
                login.receive(data)
                if reply := login.bytes_to_send():
                    await line.send(reply)
        except TlsBroken as error:
            return Failed(reason=Reason.TLS, because=f"{target} ends TLS: {error.words}", ip=target.ip)
        except OSError:
            login.closed()
        assert login.outcome is not None
        self.logins[target] = login.outcome
        if isinstance(login.outcome, LoggedIn):
            return None
        if login.outcome.by is RefusedBy.CLOSED and isinstance(line, TlsLine):
            return self._ended_after_handshake(target)
        return Failed(reason=_REASONS[login.outcome.by], because=f"{target}: {login.outcome.detail}", ip=target.ip)

    def _ended_after_handshake(self, target: Target) -> Failed:
        """In TLS 1.3 a server looks at the client's certificate after the client is done."""
        without = self.client is not None and not self.client.key
        why = "it may require a client certificate, and the client has none" if without else "before any answer"
        return Failed(reason=Reason.TLS, because=f"{target} closes after the TLS handshake: {why}", ip=target.ip)

    def _for(self, host: str) -> str:
        checked = self.client is not None and self.client.properties.checks_names
        return f" for {host}" if checked else ", and netdiag does not check its names"

    def _context(self, *, verify: bool) -> ssl.SSLContext:
        if verify not in self._contexts:
            self._contexts[verify] = context_of(self.client, verify=verify)
        return self._contexts[verify]


def _nobody_hears(step: str) -> None:
    """Where only the outcome counts."""


def _broken(error: TlsBroken, target: Target) -> Failed:
    if error.verify_code:
        because = f"{target}: its certificate is refused: {error.words}"
    elif error.alert:
        because = f"{target} ends the TLS handshake: {error.words}"
    elif error.words.startswith("closed"):
        return Failed(reason=Reason.CLOSED, because=f"{target}: {error.words}", ip=target.ip)
    else:
        because = f"{target} does not answer in TLS: {error.words}"
    return Failed(reason=Reason.TLS, because=because, ip=target.ip)
