"""What a JMX client gets: the two hops of one cell, predicted or observed."""

from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Reason
from netdiag.kafka.listeners import bracketed
from netdiag.values import dataclass

_NOT_JMX = "not-jmx"


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxStub:
    """Where a registry sends its clients. In a prediction, no host is the container's address, no port a random one."""

    host: str | None
    port: int | None

    def __str__(self) -> str:
        host = "the container's address" if self.host is None else bracketed(self.host)
        return f"{host}:{'a random port' if self.port is None else self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxVerdict:
    """One cell: the contact with the registry, the stub that it gives, and the contact with the RMI server."""

    registry: Contact
    stub: JmxStub | None = None
    rmi: Contact | None = None

    def __str__(self) -> str:
        if not isinstance(self.registry, Answered):
            return _word("registry", self.registry)
        return "ok" if isinstance(self.rmi, Answered) else _word("stub", self.rmi)

    @property
    def usable(self) -> bool:
        """Whether a JMX client works here."""
        return isinstance(self.registry, Answered) and isinstance(self.rmi, Answered)

    @property
    def because(self) -> str:
        """What came of the hop that decides."""
        decides = self.rmi if isinstance(self.registry, Answered) else self.registry
        return decides.because if decides is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxCell:
    """One vantage x address of a registry; each verdict is None where nobody looked."""

    vantage: str
    registry: Address
    predicted: JmxVerdict | None = None
    observed: JmxVerdict | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether both say the same; None while one of them says nothing."""
        if self.predicted is None or self.observed is None:
            return None
        words = (str(self.predicted), str(self.observed))
        return None if "unknown" in words else words[0] == words[1]


def _word(hop: str, contact: Contact | None) -> str:
    if isinstance(contact, Failed):
        return f"{hop}: {_NOT_JMX if contact.reason is Reason.NOT_KAFKA else contact.reason.value}"
    return "unknown"
