"""What a rule is: a module with an id, a severity, a docstring that explains it and a check."""

from collections.abc import Callable, Iterable
from typing import Protocol

from netdiag.compose.project import Project
from netdiag.deployment.live_view import LiveView
from netdiag.deployment.member import Deployment
from netdiag.findings import Finding, Severity
from netdiag.topology.graph import Topology
from netdiag.traffic.facts import WireView


class Rule(Protocol):
    """What every rule has. The docstring is its documentation and holds its executed examples.

    SEVERITY is the usual one; a check may give less where the case is milder. `check` never raises or prints.
    """

    __doc__: str | None

    @property
    def ID(self) -> str:
        """Kebab-case: the file name with dashes, which also stand for the dots of a version number."""
        ...

    @property
    def SEVERITY(self) -> Severity:
        """The severity that most findings of the rule have."""
        ...


class DeclaredRule(Rule, Protocol):
    """A rule about declarations."""

    @property
    def check(self) -> Callable[[Deployment], Iterable[Finding]]:
        """The function that looks for the defect in a deployment."""
        ...


class ComposeRule(Rule, Protocol):
    """A rule about compose files as such. CODES are the kinds of problems of the loader that are its findings."""

    @property
    def CODES(self) -> frozenset[str]:
        """The codes of the loader's problems that this rule reports."""
        ...

    @property
    def check(self) -> Callable[[Project], Iterable[Finding]]:
        """The function that looks for the defect in a project."""
        ...


class ObservedRule(Rule, Protocol):
    """A rule about what a live check saw. Its examples are compose files with the observation under `x-observed`."""

    @property
    def check(self) -> Callable[[LiveView], Iterable[Finding]]:
        """The function that looks for the defect in what was seen."""
        ...


class WireRule(Rule, Protocol):
    """A rule about what a packet capture shows. Its examples are facts about the wire; times are in seconds."""

    @property
    def check(self) -> Callable[[WireView], Iterable[Finding]]:
        """The function that looks for the defect in a capture."""
        ...


class TopologyRule(Rule, Protocol):
    """A rule about how things hang together. Its examples are small topologies."""

    @property
    def check(self) -> Callable[[Topology], Iterable[Finding]]:
        """The function that looks for the defect in a topology."""
        ...
