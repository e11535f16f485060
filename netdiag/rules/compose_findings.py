"""What rules about compose files share: turning the problems that the loader found into findings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from netdiag.compose.positions import Text
from netdiag.compose.problems import Problem, within
from netdiag.compose.project import Project
from netdiag.findings import FileLocation, Finding, Related, Severity

_MOST_NAMES = 8
_WRONG_VALUES = frozenset({"schema", "volume", "port", "extra-host", "environment"})


def from_problems(project: Project, rule: str, codes: frozenset[str], *, hint: str) -> Iterator[Finding]:
    """One finding for every problem of these kinds: an error if Compose refuses the project, otherwise a note."""
    yield from findings(project, rule, (problem for problem in project.problems if problem.code in codes), hint)


def findings(project: Project, rule: str, problems: Iterable[Problem], hint: str) -> Iterator[Finding]:
    """What is wrong with several services for one reason is told once."""
    groups: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        reason = problem.message.removeprefix(f"service {problem.service!r} ")
        groups.setdefault((problem.severity, reason), []).append(problem)
    for (_, reason), same in groups.items():
        first, *others = same
        one = finding(first, rule, _hint_for(project, first) or hint)
        if others and reason != first.message:
            services = tuple(dict.fromkeys(p.service for p in same if p.service))
            verb, _, rest = reason.partition(" ")
            named = f"services {some_of([repr(name) for name in services])} {_plural(verb)} {rest}"
            one = replace(one, message=named if services[1:] else first.message)
        again = tuple(Related(location=p.span, message="here, too") for p in others[:_MOST_NAMES])
        yield replace(one, related=(*one.related, *again))


def _plural(verb: str) -> str:
    return "have" if verb == "has" else verb.removesuffix("s")


def _hint_for(project: Project, problem: Problem) -> str | None:
    """What to set where an unset variable left the gap that Compose refuses."""
    if problem.code not in _WRONG_VALUES:
        return None
    names = dict.fromkeys(
        unset.message.split("'")[1]
        for unset in project.problems
        if unset.code == "unset-variable" and within(unset.span, problem.span)
    )
    return f"set {some_of(tuple(names))} in .env: an unset variable leaves a gap here" if names else None


def some_of(names: Sequence[str]) -> str:
    """The first names of a list in words."""
    *shown, last = names if len(names) <= _MOST_NAMES else (*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more")
    return f"{', '.join(shown)} and {last}" if shown else last


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
