"""What contacting one address gave: the same values whether predicted or observed."""

from dataclasses import dataclass
from enum import StrEnum

from netdiag.deployment.mechanism import Mechanism
from netdiag.kafka.listeners import bracketed


class Reason(StrEnum):
    """Why an endpoint could not be used; the value is the word in a cell."""

    UNRESOLVED = "unresolved"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    CLOSED = "closed"
    NOT_KAFKA = "not-kafka"
    TLS = "tls"
    SASL = "sasl"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Address:
    """host:port as a client is given it."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEndpoint:
    """One broker as an answer names it."""

    node_id: int
    host: str
    port: int

    @property
    def address(self) -> Address:
        """Where the client goes next."""
        return Address(host=self.host, port=self.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A broker answered. `node_id` or `cluster_id` of None is one that did not say who it is.

    `cluster_id` only serves comparison within one run: the real id when observed, the quorum when predicted.
    """

    node_id: int | None
    cluster_id: str | None
    brokers: tuple[NodeEndpoint, ...] = ()
    listener: str | None = None
    ip: str | None = None
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No broker answered; `because` tells the mechanism in a few words, `mechanism` as one of a closed set."""

    reason: Reason
    because: str
    ip: str | None = None
    mechanism: Mechanism | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Cannot be said, and why."""

    because: str


Contact = Answered | Failed | Unknown
