"""What a rule is: a module with an id, a severity, a docstring that explains it and a check."""

from collections.abc import Iterable
from typing import Protocol

from netdiag.deployment.member import Deployment
from netdiag.findings import Finding, Severity


class DeclaredRule(Protocol):
    """A rule about declarations. The docstring is its documentation and holds its executed examples.

    SEVERITY is the usual one; a check may give less where the case is milder. `check` never raises or prints.
    """

    __doc__: str | None

    @property
    def ID(self) -> str:
        """Kebab-case: the file name with dashes."""
        ...

    @property
    def SEVERITY(self) -> Severity:
        """The severity that most findings of the rule have."""
        ...

    @property
    def check(self) -> "Check":
        """The function that looks for the defect."""
        ...


class Check(Protocol):
    """Findings of one rule in one deployment."""

    def __call__(self, deployment: Deployment, /) -> Iterable[Finding]: ...
