"""What a rule is: a module with an id, a severity, a check, and a docstring that documents it.

Tests execute the examples of the docstring. The kinds of rules differ in what they check; what they check is named here
for the type checker only, so that judging one kind of input loads nothing of the others.
"""

import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from netdiag.findings import Finding, Severity
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.compose.project import Project
    from netdiag.deployment.model.deployment import Deployment
    from netdiag.deployment.model.kubernetes import Manifests
    from netdiag.deployment.observation.live_view import LiveView
    from netdiag.deployment.sources.ci.job import CiJob
    from netdiag.topology.graph import Topology
    from netdiag.traffic.facts import WireView

MARK = "# <- here"
_SECTIONS = ("Why", "Bad", "Good", "Seen", "Sources")


class Rule(Protocol):
    """What every rule has. The docstring is its documentation and holds its executed examples.

    SEVERITY is the usual one; a check may return a lower one for a milder case. `check` never raises or prints.
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
    def check(self) -> "Callable[[Deployment], Iterable[Finding]]":
        """The function that looks for the defect in a deployment."""
        ...


class CiRule(Rule, Protocol):
    """A rule about the jobs of CI systems. Its examples are workflows of GitHub, or pipelines of GitLab."""

    @property
    def check(self) -> "Callable[[CiJob], Iterable[Finding]]":
        """The function that looks for the defect in a job."""
        ...


class KubernetesRule(Rule, Protocol):
    """A rule about Kubernetes manifests. Its examples are files of them."""

    @property
    def check(self) -> "Callable[[Manifests], Iterable[Finding]]":
        """The function that looks for the defect in manifests."""
        ...


class ComposeRule(Rule, Protocol):
    """A rule about compose files as such. CODES are the kinds of problems of the loader that are its findings."""

    @property
    def CODES(self) -> frozenset[str]:
        """The codes of the loader's problems that this rule reports."""
        ...

    @property
    def check(self) -> "Callable[[Project], Iterable[Finding]]":
        """The function that looks for the defect in a project."""
        ...


class ObservedRule(Rule, Protocol):
    """A rule about what a live check saw. Its examples are compose files with the observation under `x-observed`."""

    @property
    def check(self) -> "Callable[[LiveView], Iterable[Finding]]":
        """The function that looks for the defect in what was seen."""
        ...


class WireRule(Rule, Protocol):
    """A rule about what a packet capture shows. Its examples are facts about the wire; times are in seconds."""

    @property
    def check(self) -> "Callable[[WireView], Iterable[Finding]]":
        """The function that looks for the defect in a capture."""
        ...


class TopologyRule(Rule, Protocol):
    """A rule about the network of a machine. Its examples are small topologies."""

    @property
    def check(self) -> "Callable[[Topology], Iterable[Finding]]":
        """The function that looks for the defect in a topology."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePage:
    """One rule explained. `bad` and `good` are compose files as text; `bad_lines` are the 1-based marked lines."""

    title: str
    why: str
    bad: str
    good: str
    seen: str
    sources: str

    @property
    def bad_lines(self) -> tuple[int, ...]:
        """The lines of `bad` at which the rule must fire."""
        return tuple(n for n, line in enumerate(self.bad.splitlines(), 1) if line.rstrip().endswith(MARK))


def rule_page(docstring: str) -> RulePage:
    """The page of a rule; ValueError if a section is missing, so that every rule is documented."""
    title, _, rest = docstring.partition("\n")
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in textwrap.dedent(rest).splitlines():
        name, colon, tail = line.partition(":")
        if colon and name in _SECTIONS and not line.startswith(" "):
            current = sections.setdefault(name, [tail.strip()] if tail.strip() else [])
        elif current is not None:
            current.append(line)
    missing = [name for name in _SECTIONS if name not in sections]
    if missing:
        raise ValueError(f"the docstring has no section {missing[0]}")
    text = {name: textwrap.dedent("\n".join(lines)).strip("\n") for name, lines in sections.items()}
    return RulePage(
        title=title.strip(),
        why=text["Why"].strip(),
        bad=text["Bad"] + "\n",
        good=text["Good"] + "\n",
        seen=text["Seen"].strip(),
        sources=text["Sources"].strip(),
    )
