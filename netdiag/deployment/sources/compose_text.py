"""Values of compose files as they are written: their places, the edits that change them, and where they came from."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from operator import itemgetter

from netdiag.compose.positions import Source, Text, joined
from netdiag.compose.problems import Origin, OriginKind, steps_to_service, within
from netdiag.compose.project import EnvironmentVariable, Port, Project, Service
from netdiag.compose.service_edits import ServiceLayout, quotes_around, service_layouts
from netdiag.deployment.model.deployment import DeclaredValue, MemberEditor, PublishedPort
from netdiag.findings import Edit, FileLocation, Finding, Location, Related

# More variables than this in one value tell nothing.
_VARIABLES = 4
_WORDS: dict[OriginKind, str] = {
    "alias": "inserted by this alias",
    "extends": "extended by this service",
    "include": "included here",
    "env_file": "loaded by this env_file",
}


class ComposeValue(DeclaredValue):
    """A value of a compose file (or of what it pulls in); `replaced` are the others of the same list."""

    __slots__ = ("_replaced", "text")

    def __init__(self, *, variable: str, text: Text, replaced: tuple[FileLocation, ...] = ()) -> None:
        super().__init__(variable=variable, value=text.value)
        self.text = text
        self._replaced = replaced

    def at(self, start: int = 0, end: int | None = None) -> FileLocation:
        """The place of characters start..end in the file."""
        return self.text.span_of(start, len(self.value) if end is None else end)

    @property
    def blanks(self) -> tuple[tuple[int, str], ...]:
        """Where variables without value and default left nothing behind."""
        return tuple((s.value_start, s.variable) for s in self.text.segments if s.unset and s.variable)

    @property
    def replaced(self) -> tuple[Location, ...]:
        """The earlier entries of the list that say something else."""
        return self._replaced

    def edit(self, start: int, end: int, replacement: str) -> Edit | None:
        """The edit at the bytes that hold these characters; None where an expression or escape produced them."""
        span = self.text.edit_span(start, end)
        if span is None:
            return None
        return Edit(path=span.path, start=span.start, end=span.end, replacement=replacement)

    def quotes(self) -> tuple[Edit, Edit] | None:
        """The quotes around a plain value in a flow collection."""
        if self.text.source is None or not self.text.segments:
            return None
        return quotes_around(self.text.source, self.text.span.start)


class ScatteredValue(DeclaredValue):
    """A value put together from pieces that stand apart: a flag given twice, the fields of a YAML list.

    `pieces` are (offset in the value, piece), in order; what stands between them is nobody's text.
    """

    __slots__ = ("pieces",)

    def __init__(self, *, variable: str, value: str, pieces: Sequence[tuple[int, Text]]) -> None:
        super().__init__(variable=variable, value=value)
        self.pieces = tuple(pieces)

    def at(self, start: int = 0, end: int | None = None) -> FileLocation:
        """From the first piece touched to the last one."""
        end = len(self.value) if end is None else end
        touched = self._touched(start, end) or self.pieces
        spans = [text.span_of(max(start - at, 0), min(end - at, len(text))) for at, text in touched]
        return joined(spans[0], spans[-1])

    @property
    def blanks(self) -> tuple[tuple[int, str], ...]:
        """Where variables without value and default left nothing behind."""
        return tuple(
            (at + s.value_start, s.variable)
            for at, text in self.pieces
            for s in text.segments
            if s.unset and s.variable
        )

    def edit(self, start: int, end: int, replacement: str) -> Edit | None:
        """The edit inside one piece; None across pieces."""
        touched = self._touched(start, end)
        if len(touched) != 1:
            return None
        at, text = touched[0]
        if start < at or end > at + len(text):
            return None
        span = text.edit_span(start - at, end - at)
        return None if span is None else Edit(path=span.path, start=span.start, end=span.end, replacement=replacement)

    def _touched(self, start: int, end: int) -> list[tuple[int, Text]]:
        if start == end:
            return [(at, text) for at, text in self.pieces if at <= start <= at + len(text)][:1]
        return [(at, text) for at, text in self.pieces if at < end and at + len(text) > start]


class ComposeServiceEditor(MemberEditor):
    """A service of a project; the files are those that its values came from."""

    __slots__ = ("project", "service")

    def __init__(self, project: Project, service: Service) -> None:
        self.project = project
        self.service = service

    def add_variable(self, name: str, value: str, beside: str | None) -> Edit | None:
        """In the file that declares `beside` for this service, else in the first that gives it an environment.

        A service that has all its variables from a file of its own gets the new one there.
        """
        own = sorted(self._layouts(), key=lambda layout: not (beside and layout.has_variable(beside)))
        written = [layout for layout in own if layout.variables is not None]
        if written:
            return written[0].add_variable(name, value, beside)
        near = self.service.environment.get(beside or "")
        if near is not None and near.form == "env_file":
            return self._line_in_file(near, f"{name}={value}")
        return own[0].add_variable(name, value, beside) if own and not self.service.environment else None

    def rename_variable(self, name: str, new: str) -> Edit | None:
        """At the key, be it the service's own or one that it shares."""
        variable = self.service.environment.get(name)
        return None if variable is None else self._exact(variable.key_span, name, new)

    def remove_variable(self, name: str) -> Edit | None:
        """The line, item or pair; None for a variable that the service shares with others or has from two places."""
        variable = self.service.environment.get(name)
        if variable is None or variable.shadowed:
            return None
        if variable.form == "env_file":
            return self._without_line(variable)
        own = [layout for layout in self._layouts() if layout.has_variable(name)]
        return own[0].remove_variable(name) if len(own) == 1 else None

    def add_port(self, published: int, target: int) -> Edit | None:
        """In the file that publishes ports for this service, else in the first that describes it."""
        own = sorted(self._layouts(), key=lambda layout: layout.field("ports") is None)
        if not own or (self.service.ports and own[0].field("ports") is None):
            return None
        return own[0].add_port(f"{published}:{target}")

    def add_field(self, key: str, value: str) -> Edit | None:
        """Behind the image of the first file that describes the service."""
        own = next(self._layouts(), None)
        return own.add_field(key, value) if own is not None and own.field(key) is None else None

    def change_port(
        self, port: PublishedPort, *, published: int | None = None, target: int | None = None
    ) -> Edit | None:
        """At the number itself; None for ranges, variables and numbers that stand for both sides."""
        found = self._port(port)
        if found is None:
            return None
        span, old, new = _number_of(found, published, target)
        return None if span is None or old is None else self._exact(span, str(old), str(new))

    def pin_port(self, port: PublishedPort, number: int) -> Edit | None:
        """In front of an entry that is the container port alone, or in the place of a range."""
        found = self._port(port)
        if found is None:
            return None
        text, target = found.text, str(found.target)
        if text.value.partition("/")[0] == target:
            span = text.edit_span(0, 0)
            return None if span is None else _replace_span(span, f"{number}:")
        low, high = found.published_range or (None, None)
        if low is None or text.value.partition("/")[0] != f"{low}-{high}:{target}":
            return None
        span = text.edit_span(0, text.value.index(":"))
        return None if span is None else _replace_span(span, str(number))

    def offer_everywhere(self, port: PublishedPort) -> Edit | None:
        """Without the address in front of an entry in the short syntax."""
        found = self._port(port)
        if found is None or not found.text.value.startswith(f"{found.host_ip}:"):
            return None
        span = found.text.edit_span(0, len(found.host_ip) + 1)
        return None if span is None else _replace_span(span, "")

    def _port(self, port: PublishedPort) -> Port | None:
        wanted = (port.target, port.published, port.host_ip, port.protocol)
        found = [p for p in self.service.ports if (p.target, p.published, p.host_ip, p.protocol) == wanted]
        return found[0] if len(found) == 1 else None

    def _layouts(self) -> Iterator[ServiceLayout]:
        service = self.service
        return service_layouts(self._sources(), service.path or ("services", service.name), service.variables_key)

    def _sources(self) -> tuple[Source, ...]:
        """The compose files that this service's own values came from."""
        service = self.service
        texts = chain(
            [service.image, service.container_name, service.hostname],
            (port.text for port in service.ports),
            (variable.value for variable in service.environment.values() if variable.form != "env_file"),
            (file.path for file in service.env_files),
        )
        sources = (text.source for text in texts if text is not None and text.source is not None)
        found = {source.path: source for source in sources}
        first = found.pop(service.span.path, None)
        return (*((first,) if first else ()), *found.values())

    def _exact(self, span: FileLocation, old: str, new: str) -> Edit | None:
        """The edit of a span that holds these very characters, quoted or not."""
        source = next((s for s in self._all_sources() if s.path == span.path), None)
        if source is None:
            return None
        written = source.data[span.start : span.end]
        start = span.start + (written[:1] in (b"'", b'"') and written[:1] == written[-1:] and len(written) > 1)
        end = start + len(old.encode())
        if source.data[start:end] != old.encode() or span.end - end != start - span.start:
            return None
        return Edit(path=span.path, start=start, end=end, replacement=new)

    def _all_sources(self) -> Iterator[Source]:
        yield from self._sources()
        for variable in self.service.environment.values():
            if variable.value is not None and variable.value.source is not None:
                yield variable.value.source

    def _is_shared(self, path: str) -> bool:
        services = chain(self.project.services.values(), self.project.disabled.values())
        return sum(any(file.file == path for file in service.env_files) for service in services) > 1

    def _line_in_file(self, near: EnvironmentVariable, line: str) -> Edit | None:
        source = near.value.source if near.value is not None else None
        if source is None or self._is_shared(source.path):
            return None
        end, newline = _line_end(source.data, near.entry_span.end)
        return Edit(path=source.path, start=end, end=end, replacement=newline + line)

    def _without_line(self, variable: EnvironmentVariable) -> Edit | None:
        source = variable.value.source if variable.value is not None else None
        if source is None or self._is_shared(source.path):
            return None
        start = source.data.rfind(b"\n", 0, variable.entry_span.start) + 1
        end, newline = _line_end(source.data, variable.entry_span.end)
        end = min(len(source.data), end + len(newline))
        return Edit(path=source.path, start=start, end=end, replacement="")


class OriginIndex:
    """The origins of a project: the steps from file to file, and the variables by the place of their expressions."""

    def __init__(self, origins: Iterable[Origin]) -> None:
        steps: list[Origin] = []
        self._variables: dict[str, list[tuple[int, Origin]]] = {}
        for number, origin in enumerate(origins):
            if origin.kind == "variable":
                self._variables.setdefault(origin.area.path, []).append((number, origin))
            else:
                steps.append(origin)
        self.steps = tuple(steps)
        self._ends: dict[str, list[int]] = {}
        for path, found in self._variables.items():
            found.sort(key=_start)
            self._ends[path] = list(accumulate((origin.area.end for _, origin in found), max))

    def given(self, place: FileLocation) -> list[Origin]:
        """The variables whose expressions touch a place, in the order of the project."""
        found = self._variables.get(place.path, [])
        first = bisect_right(self._ends.get(place.path, []), place.start)
        near = found[first : bisect_left(found, place.end, lo=first, key=_start)] if found else []
        return [origin for _, origin in sorted(near, key=itemgetter(0)) if origin.covers(place)]


def comma_list(variable: str, items: Iterable[Text]) -> DeclaredValue:
    """Several texts as one comma list."""
    texts = tuple(items)
    if len(texts) == 1:
        return ComposeValue(variable=variable, text=texts[0])
    pieces: list[tuple[int, Text]] = []
    length = 0
    for text in texts:
        pieces.append((length, text))
        length += len(text) + 1
    return ScatteredValue(variable=variable, value=",".join(text.value for text in texts), pieces=pieces)


def with_origins(findings: Iterable[Finding], project: Project) -> tuple[Finding, ...]:
    """The findings with these places after their own related ones; those that they name already are left out."""
    origins = OriginIndex(project.origins)
    return tuple(_with_origins(finding, project, origins) for finding in findings)


def _with_origins(finding: Finding, project: Project, origins: OriginIndex) -> Finding:
    if not isinstance(finding.location, FileLocation):
        return finding
    place = finding.location
    steps = steps_to_service(place, origins.steps, _service_spans(finding.service, project))
    given = origins.given(place)
    found = [*steps, *given[:_VARIABLES]]
    places = [(origin.by, _role(origin)) for origin in found]
    places += [(span, "this value is overridden") for span in _overridden(finding, place, project)]
    named = {(r.location.path, r.location.line) for r in finding.related if isinstance(r.location, FileLocation)}
    more = tuple(Related(location=at, message=text) for at, text in places if (at.path, at.line) not in named)
    return replace(finding, related=finding.related + more) if more else finding


def _service_spans(service: str | None, project: Project) -> tuple[FileLocation, ...]:
    """Where a service is written in the files of the project itself; where that is nowhere, these files are."""
    own = project.service_spans.get(service, ()) if service is not None else ()
    return own or project.files


def _role(origin: Origin) -> str:
    return f"the value of {origin.name}" if origin.kind == "variable" else _WORDS[origin.kind]


def _overridden(finding: Finding, place: FileLocation, project: Project) -> list[FileLocation]:
    """Declarations in other files that the variable at this place took the place of."""
    service = project.services.get(finding.service or "")
    variables = service.environment.values() if service is not None else ()
    for variable in variables:
        if within(place, variable.entry_span) and variable.entry_span.path == place.path:
            return [span for span in variable.shadowed if span.path != place.path][-1:]
    return []


def _number_of(
    port: Port, published: int | None, target: int | None
) -> tuple[FileLocation | None, int | None, int | None]:
    if published is not None:
        return port.published_span, port.published, published
    return port.target_span, port.target, target


def _replace_span(span: FileLocation, text: str) -> Edit:
    return Edit(path=span.path, start=span.start, end=span.end, replacement=text)


def _line_end(data: bytes, position: int) -> tuple[int, str]:
    end = data.find(b"\n", position)
    end = len(data) if end < 0 else end
    if data[end - 1 : end] == b"\r" and end > position:
        end -= 1
    return end, "\r\n" if b"\r\n" in data else "\n"


def _start(numbered: tuple[int, Origin]) -> int:
    return numbered[1].area.start
