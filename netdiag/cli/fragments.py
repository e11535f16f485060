"""A file that was named alone although it is meant to lie on a base: what it lacks, the base has.

Only a base says which image a service runs, what else it sets and what lies around it, so of such a file nothing is
an error: what its unfinished services look like is no finding, and the rest is a note.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.render.wording import plural

_OF_THE_BASE = ("no-image", *(f"undefined-{what}" for what in ("config", "network", "secret", "service", "volume")))


def incomplete(project: Project) -> frozenset[str]:
    """The services that have no image and nothing to build one from; `image: ${UNSET}` is an image all the same.

    One that extends a service which is not found is no fragment's: compose would not find it with a base either.
    """
    services = {**project.services, **project.disabled}
    named = {problem.service for problem in project.problems if problem.code == "no-image" and problem.service}
    extending = {problem.service for problem in project.problems if problem.code == "extends"}
    return frozenset(n for n in named - extending if n in services and services[n].image is None)


def of_fragment(findings: Iterable[Finding], project: Project, without: frozenset[str]) -> Iterator[Finding]:
    """What is left of the findings."""
    supplied = {problem.message for problem in project.problems if problem.code in _OF_THE_BASE}
    for finding in findings:
        if finding.service not in without and finding.message not in supplied:
            yield replace(finding, severity=Severity.NOTE)


def about_fragment(name: str, without: frozenset[str]) -> str:
    """The note that goes with them."""
    services = f"{plural(len(without), 'service')} ({', '.join(sorted(without))})"
    return f"{name}: {services} without an image: check it together with its base, as -f BASE -f {name}"
