"""The verdict of a cell: both hops of a client put together by fixed precedence.

Hop 1 is the contact with the bootstrap address, hop 2 the contact with every endpoint that its answer names.
All usable is `ok`, some is `partial k/n`; none usable takes the first of wrong-broker, not-kafka, tls, sasl that
any endpoint gave, else the reason of the lowest node id. A name that leads to brokers of different clusters makes a
cell `ambiguous`, whatever else there is. A bootstrap address at which a broker answers that is not asked about is
`wrong-broker` at the first hop.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import assert_never

from netdiag.deployment.model.contact import (
    Address,
    Ambiguous,
    Answered,
    Contact,
    Failed,
    NameChoice,
    NodeEndpoint,
    Reason,
    Unknown,
)
from netdiag.values import dataclass

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
    """One vantage x bootstrap address; each verdict is None where nobody looked."""

    vantage: str
    bootstrap: Address
    predicted: Verdict | None = None
    observed: Verdict | None = None

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
