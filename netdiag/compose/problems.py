"""What compose refuses or warns about, as values with a place."""

from dataclasses import dataclass
from typing import Literal

from netdiag.compose.errors import ComposeError
from netdiag.compose.origins import Origin
from netdiag.compose.positions import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something compose itself would say; `error` means it refuses the project, though we read on.

    `code` is a stable word for the kind of problem (`duplicate-key`, `unset-variable`, `no-image`, ...),
    `related` the other places it takes to understand it, `service` the service it is about.
    """

    code: str
    message: str
    span: Span
    severity: Literal["error", "warning"] = "error"
    related: tuple[Span, ...] = ()
    service: str | None = None


MAX_EFFORT = 10_000_000


class Problems:
    """What is met while one project is read: the problems, each once, the effort, and what was drawn in from where.

    `homes` are the places of the services in the files of the project itself.
    """

    def __init__(self) -> None:
        self._effort = 0
        self.origins: dict[Origin, None] = {}
        self.homes: dict[str, list[Span]] = {}
        self._found: dict[tuple[str, str, Span], Problem] = {}

    def error(self, code: str, message: str, span: Span, *related: Span, service: str | None = None) -> None:
        """Compose refuses the project because of this."""
        self._add(Problem(code=code, message=message, span=span, related=related, service=service))

    def warning(self, code: str, message: str, span: Span, *related: Span, service: str | None = None) -> None:
        """Compose says this and goes on."""
        found = Problem(code=code, message=message, span=span, severity="warning", related=related, service=service)
        self._add(found)

    def spend(self, effort: int, span: Span) -> None:
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
