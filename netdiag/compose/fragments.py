"""A file that was named alone although it is meant to lie on a base: what it lacks, the base has.

Only a base says which image a service runs, what else it sets and what lies around it, so of such a file nothing is
an error: what its unfinished services look like is no finding, and the rest is a note.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity

_FROM_BASE = ("no-image", *(f"undefined-{what}" for what in ("config", "network", "secret", "service", "volume")))


def unfinished_services(project: Project) -> frozenset[str]:
    """The services that have no image and nothing to build one from; `image: ${UNSET}` is an image all the same.

    One that extends a service which is not found is no fragment's: compose would not find it with a base either.
    """
    services = {**project.services, **project.disabled}
    named = {problem.service for problem in project.problems if problem.code == "no-image" and problem.service}
    extending = {problem.service for problem in project.problems if problem.code == "extends"}
    return frozenset(n for n in named - extending if n in services and services[n].image is None)


def fragment_findings(findings: Iterable[Finding], project: Project, unfinished: frozenset[str]) -> Iterator[Finding]:
    """The findings that do not come from the missing base, each as a note."""
    supplied = {problem.message for problem in project.problems if problem.code in _FROM_BASE}
    for finding in findings:
        if finding.service not in unfinished and finding.message not in supplied:
            yield replace(finding, severity=Severity.NOTE)


def fragment_note(name: str, unfinished: frozenset[str]) -> str:
    """The note that goes with them."""
    count = f"{len(unfinished)} service{'' if len(unfinished) == 1 else 's'}"
    services = f"{count} ({', '.join(sorted(unfinished))})"
    return f"{name}: {services} without an image: check it together with its base, as -f BASE -f {name}"
