"""What an explanation of a failing connection is: causes with their certainty, evidence and repairs."""

from dataclasses import dataclass
from enum import StrEnum

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.observations import Address


class Certainty(StrEnum):
    """How sure a cause is; the value is the word users see before it."""

    PROVEN = "because"
    FOUND = "found"
    CONSISTENT = "consistent with"
    FORETOLD = "foretold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What helps, in the imperative. `confirmed` is whether the way is foretold to work with it; `because` tells."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Why one vantage does not get what it dials at an address: the causes, the likeliest first."""

    vantage: str
    address: Address
    causes: tuple[Cause, ...]
