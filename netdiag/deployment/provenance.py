"""Findings in compose files get the places their value came by: alias, extends, include, env file, variable."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter

from netdiag.compose.origins import How, Origin, way_home, within
from netdiag.compose.positions import Span
from netdiag.compose.project import Project
from netdiag.deployment.written import location
from netdiag.findings import FileLocation, Finding, Related

# More variables than this in one value tell nothing.
_VARIABLES = 4
_WORDS: dict[How, str] = {
    "alias": "drawn in by this alias",
    "extends": "extended here",
    "include": "included here",
    "env_file": "read by this env_file",
}


def all_traced(findings: Iterable[Finding], project: Project) -> tuple[Finding, ...]:
    """The findings with these places after their own related ones; those that they name already are left out."""
    ways = Ways(project.origins)
    return tuple(_traced(finding, project, ways) for finding in findings)


class Ways:
    """The origins of a project: the steps from file to file, and the variables by the place of their expressions."""

    def __init__(self, origins: Iterable[Origin]) -> None:
        steps: list[Origin] = []
        self._variables: dict[str, list[tuple[int, Origin]]] = {}
        for number, origin in enumerate(origins):
            if origin.how == "variable":
                self._variables.setdefault(origin.area.path, []).append((number, origin))
            else:
                steps.append(origin)
        self.steps = tuple(steps)
        self._ends: dict[str, list[int]] = {}
        for path, found in self._variables.items():
            found.sort(key=_start)
            self._ends[path] = list(accumulate((origin.area.end for _, origin in found), max))

    def given(self, place: Span) -> list[Origin]:
        """The variables whose expressions touch a place, in the order of the project."""
        found = self._variables.get(place.path, [])
        first = bisect_right(self._ends.get(place.path, []), place.start)
        near = found[first : bisect_left(found, place.end, lo=first, key=_start)] if found else []
        return [origin for _, origin in sorted(near, key=itemgetter(0)) if origin.covers(place)]


def _start(numbered: tuple[int, Origin]) -> int:
    return numbered[1].area.start


def _traced(finding: Finding, project: Project, ways: Ways) -> Finding:
    if not isinstance(finding.location, FileLocation):
        return finding
    place = _span(finding.location)
    steps = way_home(place, ways.steps, _homes(finding.service, project))
    given = ways.given(place)
    found = [*steps, *given[:_VARIABLES]]
    places = [(location(origin.by), _said(origin)) for origin in found]
    places += [(location(span), "in place of this") for span in _replaced(finding, place, project)]
    told = {(r.location.path, r.location.line) for r in finding.related if isinstance(r.location, FileLocation)}
    more = tuple(Related(location=at, message=text) for at, text in places if (at.path, at.line) not in told)
    return replace(finding, related=finding.related + more) if more else finding


def _homes(service: str | None, project: Project) -> tuple[Span, ...]:
    """Where a service is written in the files of the project itself; where that is nowhere, these files are."""
    own = project.homes.get(service, ()) if service is not None else ()
    return own or project.files


def _replaced(finding: Finding, place: Span, project: Project) -> list[Span]:
    """Declarations in other files that the variable at this place took the place of."""
    service = project.services.get(finding.service or "")
    variables = service.environment.values() if service is not None else ()
    for variable in variables:
        if within(place, variable.entry_span) and variable.entry_span.path == place.path:
            return [span for span in variable.shadowed if span.path != place.path][-1:]
    return []


def _said(origin: Origin) -> str:
    return f"the value of {origin.name}" if origin.how == "variable" else _WORDS[origin.how]


def _span(place: FileLocation) -> Span:
    return Span(
        path=place.path,
        start=place.start,
        end=place.end,
        line=place.line,
        column=place.column,
        end_line=place.end_line,
        end_column=place.end_column,
    )
