"""What contacting an address gave, and the verdict of a cell: the same values whether predicted or observed.

`Mechanism` is the closed set of reasons why a connection does not work: what a prediction names, and what a diagnosis
looks for. Each of them stands for a row (or rows) of the decision table in docs/reachability.md. `parse_address` takes
an address as users write it.

A verdict puts both hops of a client together by fixed precedence. Hop 1 is the contact with the bootstrap address, hop
2 the contact with every endpoint that its answer names. All usable is `ok`, some is `partial k/n`; none usable takes
the first of wrong-broker, not-kafka, tls, sasl that any endpoint gave, else the reason of the lowest node id. A name
that leads to brokers of different clusters makes a cell `ambiguous`, whatever else there is. A bootstrap address at
which a broker answers that is not asked about is `wrong-broker` at the first hop.
"""

import dataclasses
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import assert_never

from netdiag.digits import number_of
from netdiag.errors import UsageError
from netdiag.kafka.listeners import bracketed
from netdiag.values import dataclass


class Mechanism(StrEnum):
    """The value is the word in JSON; what it means stands beside it."""

    # names
    NO_SUCH_NAME = "no-such-name"  # nobody has it, from anywhere
    NAME_ON_OTHER_NETWORK = "name-on-other-network"  # a container has it, on a network that the client is not on
    NO_EMBEDDED_DNS = "no-embedded-dns"  # the default bridge, the docker host, the LAN: container names mean nothing
    NAME_OF_STOPPED = "name-of-stopped"  # its container does not run
    HOST_ALIAS_MISSING = "host-alias-missing"  # host.docker.internal without extra_hosts on Linux
    NAME_SERVER_SILENT = "name-server-silent"  # the name server does not answer, or answers SERVFAIL
    # the client's own loopback
    OWN_LOOPBACK = "own-loopback"  # localhost is the client itself, and nobody listens there
    # the target's socket
    NOBODY_LISTENS = "nobody-listens"  # the port is closed
    BOUND_TO_LOOPBACK = "bound-to-loopback"  # listens on 127.0.0.1 of its container only
    BOUND_TO_OTHER_ADDRESS = "bound-to-other-address"  # listens on its address on another network only
    NO_IPV6_BINDING = "no-ipv6-binding"  # ::1 or an IPv6 address, served on IPv4 only
    BACKLOG_FULL = "backlog-full"  # listens, and its queue of connections overflows
    # the target's process
    NOT_RUNNING = "not-running"  # the container has ended; its address answers nothing
    PAUSED = "paused"  # the kernel accepts, the process is frozen
    HUNG = "hung"  # accepts and never answers, though it runs
    DIED_BEHIND_PROXY = "died-behind-proxy"  # docker-proxy accepts, then finds nobody behind
    PROXY_STOPPED = "proxy-stopped"  # docker-proxy itself does not run, or is frozen
    # publishing
    NOT_PUBLISHED = "not-published"  # nothing is published on this port of the docker host
    PUBLISHED_ON_OTHER_ADDRESS = "published-on-other-address"  # of the docker host, loopback included
    PUBLISHED_TO_DEAD_PORT = "published-to-dead-port"  # leads to a container port where nobody listens
    PUBLISHED_BY_INTERNAL = "published-by-internal"  # asked for by a container on internal networks: not in force
    PUBLISHED_BY_DISCONNECTED = "published-by-disconnected"  # asked for by a container that left its network
    PUBLISHED_IN_HOST_MODE = "published-in-host-mode"  # discarded; the service listens on another port
    NOT_PUBLISHED_ROUTED = "not-published-routed"  # gateway mode routed: no NAT, the host's port is closed
    PORT_TAKEN = "port-taken"  # somebody else owns it: another container, another service, another cluster
    # ways between networks
    NETWORK_ISOLATION = "network-isolation"  # the engine drops between bridges
    ICC_OFF = "icc-off"  # the network forbids its containers to reach each other
    HAIRPIN_DROPPED = "hairpin-dropped"  # a published port from a container, without the userland proxy
    DIRECT_ACCESS_DROPPED = "direct-access-dropped"  # a container's address from outside its bridge, engine 28+
    FORWARD_POLICY = "forward-policy"  # FORWARD drops what nothing accepts
    INTERNAL_EGRESS = "internal-egress"  # from an internal network to the outside: dropped, or no route
    HOST_FIREWALL = "host-firewall"  # a rule of the docker host that is not the engine's drops
    REJECTED = "rejected"  # a rule answers with a reset or an ICMP message
    BRIDGE_FILTER_OFF = "bridge-filter-off"  # hairpin NAT needs bridge-nf-call-iptables, which is off
    FORWARDING_OFF = "forwarding-off"  # ip_forward is 0 on the docker host
    # routes and links
    NO_ROUTE = "no-route"  # no route to the address: ENETUNREACH
    NO_NETWORK = "no-network"  # network_mode none: only loopback
    NOBODY_HAS_ADDRESS = "nobody-has-address"  # neighbour questions stay unanswered: EHOSTUNREACH after 3 s
    PARENT_ISOLATION = "parent-isolation"  # macvlan or ipvlan and its own host do not reach each other
    LINK_DOWN = "link-down"  # a device on the way is down
    PORT_OFF_BRIDGE = "port-off-bridge"  # a veth that is on no bridge, or a bridge port that does not forward
    STALE_NEIGHBOUR = "stale-neighbour"  # an entry for an address whose owner has gone
    PATH_MTU = "path-mtu"  # small packets arrive, large ones are lost without a word
    DESKTOP_NO_ROUTE = "desktop-no-route"  # Docker Desktop: container addresses are inside its machine
    # what answers
    NOT_KAFKA = "not-kafka"  # another protocol answers
    CONTROLLER_LISTENER = "controller-listener"  # a KRaft controller's, which serves no clients
    TLS_EXPECTED = "tls-expected"  # the listener speaks TLS, the client does not
    TLS_UNEXPECTED = "tls-unexpected"  # the client speaks TLS, the listener does not
    SASL_EXPECTED = "sasl-expected"  # the listener wants SASL first
    WRONG_BROKER = "wrong-broker"  # the endpoint belongs to another broker or cluster


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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Address:
    """host:port as a client is given it; port 0 is one that a host in angle brackets says in words."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}" if self.port else self.host


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
class Meeting:
    """One of several addresses of a name, and the member that has it, "" where none is known to.

    `refuses` is one at which a client does not stay, but tries the next address.
    """

    member: str
    ip: str | None
    refuses: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChoice:
    """The addresses of a name that several members answer to.

    librdkafka takes any of them. Java and Python take the first that the resolver gives: one of `first`, by member.
    Where an address refuses, each of them goes on to another one. In words, `owners` has the name, and `clients` says
    which client meets whom.
    """

    name: str
    meetings: tuple[Meeting, ...]
    first: tuple[str, ...]
    owners: str = ""
    clients: str = ""

    @property
    def first_met(self) -> tuple[str, ...]:
        """Those of them that Java and Python meet: the first of the resolver's order that does not refuse."""
        return tuple(name for name in self.first if name in self.members) or self.members

    @property
    def because(self) -> str:
        """Who has the name, and who meets whom."""
        return f'"{self.name}" leads to {self.owners}; {self.clients}'

    @property
    def members(self) -> tuple[str, ...]:
        """Those that a client stays at."""
        return tuple(dict.fromkeys(one.member or one.ip or "" for one in self.meetings if not one.refuses))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A broker answered. `node_id` or `cluster_id` of None is one that did not say who it is.

    `cluster_id` only serves comparison within one run: the real id when observed, the quorum when predicted.
    `leaderless` are the topics with a partition that has no leader, where topics were asked for. `member` is whose
    listener it is, where that is known; `foreign` where that is neither asked about nor of a cluster that is. `choice`
    are the addresses of the name where all others refuse, `silent` those that do not answer at all: a client that takes
    one of them first waits before it goes on to the next.
    """

    node_id: int | None
    cluster_id: str | None
    brokers: tuple[NodeEndpoint, ...] = ()
    listener: str | None = None
    ip: str | None = None
    because: str = ""
    leaderless: tuple[str, ...] = ()
    member: str = ""
    foreign: bool = False
    choice: NameChoice | None = None
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """A name leads to members that have nothing to do with each other: the client decides which of them it meets."""

    choice: NameChoice
    ip: str | None = None

    @property
    def because(self) -> str:
        """Who has the name, and who meets whom."""
        return self.choice.because


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No broker answered; `because` tells the mechanism in a few words, `mechanism` as one of a closed set.

    `container` is the one that it is about, where a prediction knows one to repair.
    """

    reason: Reason
    because: str
    ip: str | None = None
    mechanism: Mechanism | None = None
    container: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Cannot be said, and why."""

    because: str


Contact = Answered | Ambiguous | Failed | Unknown


def unresolved(mechanism: Mechanism, because: str, container: str = "") -> Failed:
    """Nobody answers for the name."""
    return Failed(reason=Reason.UNRESOLVED, because=because, mechanism=mechanism, container=container)


def refused(mechanism: Mechanism, because: str, container: str = "") -> Failed:
    """Somebody answers that there is nothing."""
    return Failed(reason=Reason.REFUSED, because=because, mechanism=mechanism, container=container)


def timed_out(mechanism: Mechanism, because: str, container: str = "") -> Failed:
    """Nobody answers."""
    return Failed(reason=Reason.TIMEOUT, because=because, mechanism=mechanism, container=container)


def unreachable(mechanism: Mechanism, because: str) -> Failed:
    """The client's own kernel, or one on the way, says that there is no way."""
    return Failed(reason=Reason.UNREACHABLE, because=because, mechanism=mechanism)


_MOST_BOOTSTRAPS = 100
_HIGHEST_PORT = 65535


def parse_address(text: str) -> Address:
    """`name:port`, `1.2.3.4:port`, `[::1]:port`; UsageError for others."""
    host, _, number = text.rpartition(":")
    port = number_of(number) or 0
    if not 0 < port <= _HIGHEST_PORT:
        raise UsageError(f"{text!r} is not an address with a port: write broker-1:9092 or [::1]:9092")
    bracketed = host.startswith("[") and host.endswith("]")
    if not host or (":" in host and not bracketed):
        raise UsageError(f"{text!r} is not an address with a port: write IPv6 addresses in brackets")
    return Address(host=host[1:-1] if bracketed else host, port=port)


def parse_bootstraps(text: str) -> tuple[Address, ...]:
    """`a:1,b:2`, also with `PLAINTEXT://` before them, each once; UsageError for others."""
    words = [word.strip().rpartition("://")[2] for word in text.split(",") if word.strip()]
    if not words:
        raise UsageError("no address: write broker-1:9092 or [::1]:9092")
    if len(words) > _MOST_BOOTSTRAPS:
        raise UsageError(f"{len(words)} addresses: at most {_MOST_BOOTSTRAPS} at a time")
    return tuple(dict.fromkeys(map(parse_address, words)))


NO_BROKERS = "no-brokers"


class Word(StrEnum):
    """The first word of a cell."""

    OK = "ok"
    PARTIAL = "partial"
    BOOTSTRAP = "bootstrap"
    ADVERTISED = "advertised"
    WRONG_BROKER = "wrong-broker"
    NOT_KAFKA = "not-kafka"
    TLS = "tls"
    SASL = "sasl"
    AMBIGUOUS = "ambiguous"
    UNKNOWN = "unknown"


_SECURITY_WORDS = {Reason.NOT_KAFKA: Word.NOT_KAFKA, Reason.TLS: Word.TLS, Reason.SASL: Word.SASL}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOutcome:
    """One advertised endpoint: the contact, and in one word what it is worth (`ok`, `wrong-broker`, a reason)."""

    endpoint: NodeEndpoint
    contact: Contact
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One cell. `reached` and `advertised` count brokers and are None where hop 1 failed."""

    word: Word
    reason: str | None = None
    reached: int | None = None
    advertised: int | None = None
    bootstrap: Contact
    endpoints: tuple[EndpointOutcome, ...] = ()

    def __str__(self) -> str:
        if self.word is Word.PARTIAL:
            return f"partial {self.reached}/{self.advertised}"
        return f"{self.word}: {self.reason}" if self.reason else str(self.word)

    @property
    def usable(self) -> bool:
        """Whether a client works here."""
        return self.word is Word.OK

    @property
    def choices(self) -> tuple[NameChoice, ...]:
        """The names on the way that several members answer to, each once."""
        contacts = (self.bootstrap, *(one.contact for one in self.endpoints))
        found = (one.choice for one in contacts if isinstance(one, Answered | Ambiguous) and one.choice)
        return tuple({choice.name: choice for choice in found}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One vantage x bootstrap address; each verdict is None where nobody looked.

    `seconds` is how long the contact with the bootstrap address took, second tries included.
    """

    vantage: str
    bootstrap: Address
    predicted: Verdict | None = None
    observed: Verdict | None = None
    seconds: float | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether both say the same; None while one of them says nothing."""
        if self.predicted is None or self.observed is None:
            return None
        if Word.UNKNOWN in (self.predicted.word, self.observed.word):
            return None
        return str(self.predicted) == str(self.observed)


def judge(bootstrap: Contact, contact: Callable[[NodeEndpoint], Contact]) -> Verdict:
    """The verdict for a bootstrap contact, asking `contact` for every endpoint that the answer names."""
    return weigh(bootstrap, lambda answered: tuple(outcomes(answered, contact)))


def weigh(bootstrap: Contact, ask: Callable[[Answered], tuple[EndpointOutcome, ...]]) -> Verdict:
    """The verdict for a bootstrap contact, asking `ask` what became of the endpoints that an answer names."""
    match bootstrap:
        case Failed():
            return _bootstrap_failed(bootstrap)
        case Unknown():
            return Verdict(word=Word.UNKNOWN, bootstrap=bootstrap)
        case Ambiguous():
            return Verdict(word=Word.AMBIGUOUS, bootstrap=bootstrap)
        case Answered(foreign=True):
            return Verdict(word=Word.WRONG_BROKER, bootstrap=bootstrap)
        case Answered():
            return _weigh(bootstrap, ask(bootstrap))
        case _:
            assert_never(bootstrap)


def outcomes(answered: Answered, contact: Callable[[NodeEndpoint], Contact]) -> Iterator[EndpointOutcome]:
    """What becomes of a client at each endpoint that an answer names, by node id."""
    for endpoint in sorted(answered.brokers, key=lambda endpoint: endpoint.node_id):
        found = contact(endpoint)
        yield EndpointOutcome(endpoint=endpoint, contact=found, outcome=_outcome(endpoint, found, answered))


def _bootstrap_failed(failed: Failed) -> Verdict:
    word = _SECURITY_WORDS.get(failed.reason)
    if word is not None:
        return Verdict(word=word, bootstrap=failed)
    return Verdict(word=Word.BOOTSTRAP, reason=failed.reason.value, bootstrap=failed)


def _outcome(endpoint: NodeEndpoint, contact: Contact, bootstrap: Answered) -> str:
    match contact:
        case Failed():
            return contact.reason.value
        case Unknown():
            return Word.UNKNOWN.value
        case Ambiguous():
            return Word.AMBIGUOUS.value
        case Answered(foreign=True):
            return Word.WRONG_BROKER.value
        case Answered():
            same_cluster = contact.cluster_id is None or bootstrap.cluster_id in (None, contact.cluster_id)
            right = same_cluster and contact.node_id in (None, endpoint.node_id)
            return Word.OK.value if right else Word.WRONG_BROKER.value
        case _:
            assert_never(contact)


def _weigh(bootstrap: Answered, outcomes: tuple[EndpointOutcome, ...]) -> Verdict:
    words = [outcome.outcome for outcome in outcomes]
    reached, advertised = words.count(Word.OK.value), len(words)

    def verdict(word: Word, reason: str | None = None) -> Verdict:
        return Verdict(
            word=word, reason=reason, reached=reached, advertised=advertised, bootstrap=bootstrap, endpoints=outcomes
        )

    if not outcomes:
        return verdict(Word.ADVERTISED, NO_BROKERS)
    for word in (Word.AMBIGUOUS, Word.UNKNOWN):
        if word.value in words:
            return verdict(word)
    if reached:
        return verdict(Word.OK if reached == advertised else Word.PARTIAL)
    for word in (Word.WRONG_BROKER, Word.NOT_KAFKA, Word.TLS, Word.SASL):
        if word.value in words:
            return verdict(word)
    return verdict(Word.ADVERTISED, words[0])
