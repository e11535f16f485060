"""How a compose service is written, and the edits that change it where its parts really stand."""

from collections.abc import Iterator
from itertools import chain

from netdiag.compose.layout import Change, ServiceLayout, layouts
from netdiag.compose.positions import Source, Span
from netdiag.compose.project import EnvironmentVariable, Port, Project, Service
from netdiag.deployment.written import edit_of
from netdiag.deployment.written_form import PortNumbers, Written
from netdiag.findings import Edit


class WrittenService(Written):
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
        written = [layout for layout in own if layout.field("environment") is not None]
        if written:
            return _edit(written[0].add_variable(name, value, beside))
        near = self.service.environment.get(beside or "")
        if near is not None and near.form == "env_file":
            return self._line_in_file(near, f"{name}={value}")
        return _edit(own[0].add_variable(name, value, beside)) if own and not self.service.environment else None

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
        return _edit(own[0].remove_variable(name)) if len(own) == 1 else None

    def add_port(self, published: int, target: int) -> Edit | None:
        """In the file that publishes ports for this service, else in the first that describes it."""
        own = sorted(self._layouts(), key=lambda layout: layout.field("ports") is None)
        if not own or (self.service.ports and own[0].field("ports") is None):
            return None
        return _edit(own[0].add_port(f"{published}:{target}"))

    def change_port(self, port: PortNumbers, *, published: int | None = None, target: int | None = None) -> Edit | None:
        """At the number itself; None for ranges, variables and numbers that stand for both sides."""
        found = self._port(port)
        if found is None:
            return None
        span, old, new = _side(found, published, target)
        return None if span is None or old is None else self._exact(span, str(old), str(new))

    def pin_port(self, port: PortNumbers, number: int) -> Edit | None:
        """In front of an entry that is the container port alone, or in the place of a range."""
        found = self._port(port)
        if found is None:
            return None
        text, target = found.text, str(found.target)
        if text.value.partition("/")[0] == target:
            span = text.edit_span(0, 0)
            return None if span is None else _replaced(span, f"{number}:")
        low, high = found.published_range or (None, None)
        if low is None or text.value.partition("/")[0] != f"{low}-{high}:{target}":
            return None
        span = text.edit_span(0, text.value.index(":"))
        return None if span is None else _replaced(span, str(number))

    def offer_everywhere(self, port: PortNumbers) -> Edit | None:
        """Without the address in front of an entry in the short syntax."""
        found = self._port(port)
        if found is None or not found.text.value.startswith(f"{found.host_ip}:"):
            return None
        span = found.text.edit_span(0, len(found.host_ip) + 1)
        return None if span is None else _replaced(span, "")

    def _port(self, port: PortNumbers) -> Port | None:
        wanted = (port.target, port.published, port.host_ip, port.protocol)
        found = [p for p in self.service.ports if (p.target, p.published, p.host_ip, p.protocol) == wanted]
        return found[0] if len(found) == 1 else None

    def _layouts(self) -> Iterator[ServiceLayout]:
        return layouts(self._sources(), self.service.name)

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

    def _exact(self, span: Span, old: str, new: str) -> Edit | None:
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


def _replaced(span: Span, text: str) -> Edit:
    return Edit(path=span.path, start=span.start, end=span.end, replacement=text)


def _edit(change: Change | None) -> Edit | None:
    return None if change is None else edit_of(change)


def _side(port: Port, published: int | None, target: int | None) -> tuple[Span | None, int | None, int | None]:
    if published is not None:
        return port.published_span, port.published, published
    return port.target_span, port.target, target


def _line_end(data: bytes, position: int) -> tuple[int, str]:
    end = data.find(b"\n", position)
    end = len(data) if end < 0 else end
    if data[end - 1 : end] == b"\r" and end > position:
        end -= 1
    return end, "\r\n" if b"\r\n" in data else "\n"
