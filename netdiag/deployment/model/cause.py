"""Why a connection fails, as one value: the mechanism, what proves it, and what helps.

Findings, `--why`, `diagnose`, playbooks and reports all say what stands here. A cause comes from the network of the
machine (`netdiag.topology.causes`) or, where nobody looked at that, from the model (`netdiag.deployment.causes`).
"""

from enum import StrEnum

from netdiag.deployment.model.contact import Address, Mechanism
from netdiag.values import dataclass


class Certainty(StrEnum):
    """How certain a cause is; the value is the word in text and JSON."""

    PROVEN = "proven"
    FOUND = "found"
    POSSIBLE = "possible"
    PREDICTED = "predicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What helps, in the imperative; `confirmed` is whether the connection is predicted to work with it."""

    text: str
    confirmed: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause. `repairs` stand in order, confirmed ones first."""

    mechanism: Mechanism
    certainty: Certainty
    because: str
    evidence: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def repair(self) -> str:
        """The first thing that helps, "" where nothing is known to."""
        return self.repairs[0].text if self.repairs else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a vantage cannot connect to an address: the causes, the likeliest first."""

    vantage: str
    address: Address
    causes: tuple[Cause, ...]


def name_of_stopped(name: str, exit_code: int | None) -> str:
    """Why the name of a container that does not run does not resolve."""
    return f'the container named "{name}" is not running{_ended(exit_code)}'


def published_by_stopped(name: str, port: int, exit_code: int | None) -> str:
    """Why a port that such a container publishes is closed."""
    return f"{name} publishes port {port} but is not running{_ended(exit_code)}"


def start_container(name: str) -> str:
    """What helps then."""
    return f"start {name}; its log says why it ended"


def _ended(exit_code: int | None) -> str:
    return "" if exit_code is None else f" (exit code {exit_code})"
