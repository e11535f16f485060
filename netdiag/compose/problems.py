"""What compose refuses or warns about, and where what it reads was drawn in from.

`ComposeError` stops the reading of a file altogether; a `Problem` is a value with a place, and reading goes on.
"""

from typing import Literal

from netdiag.compose.positions import Source
from netdiag.errors import NetdiagError
from netdiag.findings import FileLocation
from netdiag.values import dataclass

OriginKind = Literal["alias", "extends", "include", "env_file", "variable"]
MAX_EFFORT = 10_000_000


class ComposeError(NetdiagError):
    """A compose file (or a file it needs) cannot be read at all; `span` is where, as exactly as known."""

    def __init__(self, message: str, *, span: FileLocation | None = None, hint: str | None = None) -> None:
        where = None if span is None else f"{span.path}:{span.line}:{span.column}"
        super().__init__(message, where=where, hint=hint)
        self.span = span


def decoded(source: Source) -> str:
    """The text of a source; a ComposeError at the first byte that is not UTF-8."""
    try:
        return source.text
    except UnicodeDecodeError as error:
        start = error.start + len(source.data) - len(error.object)
        byte = source.data[start]
        raise ComposeError(f"not UTF-8: byte 0x{byte:02x}", span=source.span(start, start + 1)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One step: what stands in `area` counts because of what stands at `by`.

    Of a variable it is the other way round: `area` is the expression, `by` the place that gives it its value, and
    `name` the variable. An area of no length is its whole file.
    """

    area: FileLocation
    by: FileLocation
    kind: OriginKind
    name: str = ""

    def covers(self, place: FileLocation) -> bool:
        """Whether a place lies in the area; for a variable, whether it touches it."""
        if place.path != self.area.path:
            return False
        if self.kind == "variable":
            return place.start < self.area.end and place.end > self.area.start
        return self.area.start == self.area.end or within(place, self.area)


def within(place: FileLocation, area: FileLocation) -> bool:
    """Whether a place lies in an area."""
    return place.path == area.path and area.start <= place.start and place.end <= area.end


def steps_to_service(
    place: FileLocation, origins: tuple[Origin, ...], homes: tuple[FileLocation, ...]
) -> tuple[Origin, ...]:
    """The shortest way from a place to one of its homes, step by step; empty when it is at home or there is none."""
    ways: list[tuple[FileLocation, tuple[Origin, ...]]] = [(place, ())]
    seen = {place}
    for here, steps in ways:
        if any(within(here, home) for home in homes):
            return steps
        for origin in origins:
            if origin.kind != "variable" and origin.by not in seen and origin.covers(here):
                seen.add(origin.by)
                ways.append((origin.by, (*steps, origin)))
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something compose itself would say; `error` means it refuses the project, though we read on.

    `code` is a stable word for the kind of problem (`duplicate-key`, `unset-variable`, `no-image`, ...),
    `related` the other places it takes to understand it, `service` the service it is about.
    """

    code: str
    message: str
    span: FileLocation
    severity: Literal["error", "warning"] = "error"
    related: tuple[FileLocation, ...] = ()
    service: str | None = None


class Problems:
    """What is met while one project is read: the problems, each once, the effort, and what was drawn in from where.

    `service_spans` are the places of the services in the files of the project itself.
    """

    def __init__(self) -> None:
        self._effort = 0
        self.origins: dict[Origin, None] = {}
        self.service_spans: dict[str, list[FileLocation]] = {}
        self._found: dict[tuple[str, str, FileLocation], Problem] = {}

    def error(
        self, code: str, message: str, span: FileLocation, *related: FileLocation, service: str | None = None
    ) -> None:
        """Compose refuses the project because of this."""
        self._add(Problem(code=code, message=message, span=span, related=related, service=service))

    def warning(
        self, code: str, message: str, span: FileLocation, *related: FileLocation, service: str | None = None
    ) -> None:
        """Compose says this and goes on."""
        found = Problem(code=code, message=message, span=span, severity="warning", related=related, service=service)
        self._add(found)

    def spend(self, effort: int, span: FileLocation) -> None:
        """Accounts for bytes read and values made; ComposeError when the project asks for too much.

        No single file is large, but files can name each other and values can double many times over.
        """
        self._effort += effort
        if self._effort > MAX_EFFORT:
            raise ComposeError("the project expands to an excessive size", span=span)

    def all(self) -> tuple[Problem, ...]:
        """Every problem, in the order of files and lines."""
        return tuple(sorted(self._found.values(), key=lambda p: (p.span.path, p.span.start, p.code, p.message)))

    def _add(self, problem: Problem) -> None:
        # A value of the wrong type is met by the schema and by who reads it: one of them says so.
        message = "" if problem.code == "schema" else problem.message
        self._found.setdefault((problem.code, message, problem.span), problem)
