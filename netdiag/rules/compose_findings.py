"""What rules about compose files share: turning the problems that the loader found into findings."""

from collections.abc import Iterator

from netdiag.compose.positions import Text
from netdiag.compose.problems import Problem
from netdiag.compose.project import Project
from netdiag.findings import FileLocation, Finding, Related, Severity


def told(project: Project, rule: str, codes: frozenset[str], *, hint: str) -> Iterator[Finding]:
    """One finding for every problem of these kinds: an error if Compose refuses the project, otherwise a note."""
    for problem in project.problems:
        if problem.code in codes:
            yield finding(problem, rule, hint)


def finding(problem: Problem, rule: str, hint: str) -> Finding:
    """The error or warning of Compose as a finding."""
    refuses = problem.severity == "error"
    return Finding(
        rule=rule,
        severity=Severity.ERROR if refuses else Severity.NOTE,
        message=problem.message,
        location=problem.span,
        related=tuple(_see_also(span) for span in problem.related),
        hint=hint,
        service=problem.service,
    )


def unset_images(project: Project) -> tuple[tuple[str, Text], ...]:
    """The services whose image is empty only because variables in it are not set."""
    services = {**project.services, **project.disabled}
    return tuple(
        (name, service.image)
        for name, service in services.items()
        if service.image is not None and service.image.unset and not service.image.value
    )


def _see_also(span: FileLocation) -> Related:
    return Related(location=span, message="see also")
