"""A file that was named alone although it is meant to lie on a base: what it lacks, the base has.

Only a base says which image a service runs, what else it sets and what lies around it, so of such a file nothing is
an error: what its unfinished services look like is no finding, and the rest is a note.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from netdiag.compose.problems import Problem
from netdiag.compose.project import Project
from netdiag.findings import FileLocation, Finding, Severity

_UNDEFINED = tuple(f"undefined-{what}" for what in ("config", "network", "secret", "service", "volume"))
_FROM_BASE = ("no-image", *_UNDEFINED)
_MOST_NAMES = 5


def unfinished_services(project: Project) -> frozenset[str]:
    """The services that have no image and nothing to build one from; `image: ${UNSET}` is an image all the same.

    One that extends a service which is not found is no fragment's: compose would not find it with a base either.
    """
    services = {**project.services, **project.disabled}
    named = {problem.service for problem in project.problems if problem.code == "no-image" and problem.service}
    extending = {problem.service for problem in project.problems if problem.code == "extends"}
    return frozenset(n for n in named - extending if n in services and services[n].image is None)


def is_fragment(project: Project) -> bool:
    """Whether a file is a part of a project: services without an image, or several things that it does not define.

    A service that is not there is enough, while a single network or volume may be a slip of the pen.
    """
    missing = _missing(project)
    names = {_name(problem) for problem in missing}
    of_services = any(problem.code == "undefined-service" for problem in missing)
    return bool(unfinished_services(project)) or of_services or len(names) > 1


def is_completed(fragment: Project, whole: Project) -> bool:
    """Whether a base supplies what a fragment lacks."""
    lacks = [problem for problem in whole.problems if problem.code in _FROM_BASE]
    own = [problem for problem in fragment.problems if problem.code in _FROM_BASE]
    return len(lacks) < len(own) and not unfinished_services(whole)


def own_findings(findings: Iterable[Finding], project: Project, path: str) -> Iterator[Finding]:
    """The findings about a fragment in what it makes with its base: the rest is the base's own."""
    services = {name for name, spans in project.service_spans.items() if any(span.path == path for span in spans)}
    for finding in findings:
        place = finding.location
        if finding.service in services or (isinstance(place, FileLocation) and place.path == path):
            yield finding


def fragment_findings(findings: Iterable[Finding], project: Project, name: str) -> Iterator[Finding]:
    """One finding for what the missing base supplies, and the others, which it cannot mend, as notes."""
    unfinished = unfinished_services(project)
    missing = _missing(project)
    supplied = {problem.message for problem in project.problems if problem.code in _FROM_BASE}
    for finding in findings:
        if finding.service not in unfinished and finding.message not in supplied:
            yield replace(finding, severity=Severity.NOTE) if unfinished else finding
    first = next((p for p in project.problems if p.code in _FROM_BASE), None)
    if first is not None:
        yield Finding(
            rule="compose-undefined-reference",
            severity=Severity.NOTE if unfinished else Severity.WARNING,
            message=f"{name} looks like an override, or a part, of another Compose file: {_lacks(unfinished, missing)}",
            location=first.span,
            hint=f"check both together: -f BASE -f {name}",
        )


def _missing(project: Project) -> list[Problem]:
    return [problem for problem in project.problems if problem.code in _UNDEFINED]


def _name(problem: Problem) -> str:
    """What is not defined: the last name in quotes."""
    return f"{problem.code.removeprefix('undefined-')} {problem.message.split(chr(39))[-2]}"


def _lacks(unfinished: Iterable[str], missing: Iterable[Problem]) -> str:
    lacks = []
    names = sorted(unfinished)
    if names:
        lacks.append(f"{_some(names)} {'have' if names[1:] else 'has'} no image")
    absent = list(dict.fromkeys(map(_name, missing)))
    if absent:
        lacks.append(f"it does not define {_some(absent)}")
    return ", and ".join(lacks)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if names[_MOST_NAMES:] else ""
    return ", ".join(names[:_MOST_NAMES]) + more
