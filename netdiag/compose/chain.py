"""The files of a project become one mapping: documents, `extends`, `include`, and overrides on top of each other.

The order is compose's: of each document the variables are substituted, services get what they extend, what
the document resets is taken out of what is there already, included projects are drawn in, and the result is
merged onto the documents before. A file that cannot be had is a problem at the line that names it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.errors import ComposeError
from netdiag.compose.expand import Path, expand
from netdiag.compose.merge import merge, plain, remove, weight
from netdiag.compose.nodes import MAX_BYTES, load_nodes
from netdiag.compose.origins import Origin
from netdiag.compose.positions import Source, Span, Text, joined
from netdiag.compose.problems import Problems
from netdiag.compose.reading import Reading
from netdiag.compose.values import Entry, Mapping, Scalar, Scope, Sequence, Value, is_null

Read = Callable[[str], bytes | None]
MAX_FILES = 200
EFFORT = 4
_IMPORTED = ("services", "volumes", "networks", "secrets", "configs", "models")


def read_chain(sources: tuple[Source, ...], scope: Scope, read: Read, problems: Problems) -> Mapping:
    """The top-level mapping of a project whose files are given in the order of `-f`."""
    return _Chain(read, problems).files(sources, scope, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """One document after substitution: its top level, and the paths it resets in what came before."""

    top: Mapping
    removals: tuple[Path, ...]


class _Chain:
    """The reading of one project: how files are had and what was wrong with them."""

    def __init__(self, read: Read, problems: Problems) -> None:
        self.read = read
        self.problems = problems
        self.count = 0

    def files(self, sources: tuple[Source, ...], scope: Scope, including: tuple[str, ...]) -> Mapping:
        merged: Mapping | None = None
        for source in sources:
            for document in self.documents(source, scope):
                top = self.extended(document, source.path, scope, at_home=not including)
                for path in document.removals:
                    merged = remove(merged, path) if merged is not None else None
                top = self.included(top, scope, (*including, source.path))
                merged = top if merged is None else _mapping(merge(merged, top, self.problems), merged)
        if merged is None:
            raise ComposeError("the file is empty", span=sources[0].span(0, 0))
        return merged

    def documents(self, source: Source, scope: Scope) -> list[_Document]:
        # A file too large to be read costs nothing: the reader of its nodes says so.
        if len(source.data) <= MAX_BYTES:
            self.problems.spend(EFFORT * len(source.data), source.span(0, 0))
        self.count += 1
        if self.count > MAX_FILES:
            raise ComposeError(f"the project has more than {MAX_FILES} files", span=source.span(0, 0))
        found = []
        for node in load_nodes(source):
            expanded = expand(source, node, scope, self.problems)
            top = expanded.value
            if isinstance(top, Mapping):
                found.append(_Document(top=top, removals=(*expanded.resets, *expanded.overrides)))
            elif top is not None and not is_null(top):
                raise ComposeError("the top level must be a mapping", span=top.span)
            else:
                place = source.span(0, 0) if top is None else top.span
                self.problems.error("document", "an empty document", place)
        return found

    def extended(self, document: _Document, path: str, scope: Scope, *, at_home: bool) -> Mapping:
        services = document.top.get("services")
        if not isinstance(services, Mapping):
            return document.top
        names = _Services(services, document.removals, path, scope)
        for name, entry in services.entries.items():
            if at_home:
                place = joined(entry.key.span, entry.value.span if entry.via is None else entry.via)
                self.problems.homes.setdefault(name, []).append(place)
            self._extend(name, names, ())
        return _with(document.top, "services", replace(services, entries=names.entries))

    def _extend(self, name: str, names: "_Services", seen: tuple[tuple[str, str], ...]) -> None:
        """Puts the service with all that it extends in the place of the service."""
        entry = names.entries[name]
        service = entry.value
        extends = service.entries.get("extends") if isinstance(service, Mapping) else None
        if extends is None or not isinstance(service, Mapping):
            return
        bare = replace(service, entries={key: e for key, e in service.entries.items() if key != "extends"})
        if (names.path, name) in seen:
            circle = " -> ".join((*(each for _, each in seen), name))
            self.problems.error("extends", f"circular extends: {circle}", extends.span, service=name)
            return
        base = self._base(name, extends, names, (*seen, (names.path, name)))
        if base is None:
            names.entries[name] = replace(entry, value=bare)
            return
        self.problems.spend(100 * weight(base), extends.span)
        for path in names.removals:
            if path[:2] == ("services", name) and len(path) > 2:
                base = remove(base, path[2:])
        merged = merge(base, bare, self.problems, ("services", name))
        names.entries[name] = replace(entry, value=merged)

    def _base(self, name: str, extends: Entry, names: "_Services", seen: tuple[tuple[str, str], ...]) -> Mapping | None:
        value = extends.value
        reading = Reading(self.problems, f"services.{name}.extends", service=name)
        wanted = value.text if isinstance(value, Scalar) else None
        file: Text | None = None
        if isinstance(value, Mapping):
            wanted, file = reading.text(value, "service"), reading.text(value, "file")
        if wanted is None:
            self.problems.error("extends", "extends needs the name of a service", extends.span, service=name)
            return None
        where = names if file is None else self._base_file(name, file, names)
        if where is None:
            return None
        if wanted.value not in where.entries:
            message = f"service {name!r} extends {wanted.value!r}, which is not in {where.path}"
            self.problems.error("extends", message, wanted.span, service=name)
            return None
        if file is not None and (where.path, wanted.value) in seen:
            message = f"circular extends through {where.path}"
            self.problems.error("extends", message, extends.span, service=name)
            return None
        area = where.entries[wanted.value].span
        self._extend(wanted.value, where, seen)
        base = where.entries[wanted.value].value
        self.problems.origins[Origin(area=area, by=extends.span, how="extends")] = None
        return base if isinstance(base, Mapping) else None

    def _base_file(self, name: str, file: Text, names: "_Services") -> "_Services | None":
        path = names.scope.path(file.value)
        data = self.read(path)
        if data is None:
            message = f"service {name!r} extends a service in {path!r}, which does not exist"
            self.problems.error("extends", message, file.span, service=name)
            return None
        scope = replace(names.scope, folder=_folder(path))
        try:
            documents = self.documents(Source(path, data), scope)
        except ComposeError as error:
            self._cannot_read(path, error, "extends", file.span, name)
            return None
        top: Value | None = None
        for document in documents:
            top = document.top if top is None else merge(top, document.top, self.problems)
        services = top.get("services") if isinstance(top, Mapping) else None
        if not isinstance(services, Mapping):
            self.problems.error("extends", f"{path!r} has no services", file.span, service=name)
            return None
        removals = tuple(path for document in documents for path in document.removals)
        return _Services(services, removals, path, scope)

    def included(self, top: Mapping, scope: Scope, including: tuple[str, ...]) -> Mapping:
        value = top.get("include")
        if value is None:
            return top
        if is_null(value):
            return replace(top, entries={key: entry for key, entry in top.entries.items() if key != "include"})
        if not isinstance(value, Sequence):
            self.problems.error("include", "include must be a list", value.span)
            return top
        for item in value.items:
            project = self._include(item, scope, including)
            for section in _IMPORTED if project is not None else ():
                top = self._imported(top, section, project)
        return replace(top, entries={key: entry for key, entry in top.entries.items() if key != "include"})

    def _include(self, item: Value, scope: Scope, including: tuple[str, ...]) -> Mapping | None:
        reading = Reading(self.problems, "include[]")
        folder: Text | None = None
        env_files: tuple[Text, ...] = ()
        paths: tuple[Text, ...] = (item.text,) if isinstance(item, Scalar) else ()
        if isinstance(item, Mapping):
            paths = reading.texts(item, "path")
            folder, env_files = reading.text(item, "project_directory"), reading.texts(item, "env_file")
        if not paths:
            self.problems.error("include", "include needs the path of a file", item.span)
            return None
        sources = []
        for text in paths:
            path = scope.path(text.value)
            data = self.read(path)
            if data is None:
                self.problems.error("include", f"included file {path!r} does not exist", text.span)
                return None
            if path in including:
                self.problems.error("include", f"circular include of {path!r}", text.span)
                return None
            sources.append(Source(path, data))
            self.problems.origins[Origin(area=sources[-1].span(0, 0), by=text.span, how="include")] = None
        inside = _folder(sources[0].path) if folder is None else scope.path(folder.value)
        try:
            variables = self._variables(inside, env_files, scope)
            return self.files(tuple(sources), Scope(folder=inside, lookup=variables), including)
        except ComposeError as error:
            self._cannot_read(sources[0].path, error, "include", paths[0].span, None)
            return None

    def _variables(self, folder: str, env_files: tuple[Text, ...], scope: Scope) -> Callable[[str], Text | str | None]:
        """The variables of an included project: those around it, then its own env files."""
        found: dict[str, Text] = {}
        beside = _join(folder, ".env")
        named: dict[str, Text | None] = {scope.path(text.value): text for text in env_files} or {beside: None}
        for path, text in named.items():
            data = b"" if path == "/dev/null" else self.read(path)
            if data is not None:
                found = load_dotenv(Source(path, data), scope.lookup, found)
            elif text is not None:
                self.problems.error("include", f"env file {path!r} does not exist", text.span)

        def lookup(name: str) -> Text | str | None:
            outer = scope.lookup(name)
            return found.get(name) if outer is None else outer

        return lookup

    def _imported(self, top: Mapping, section: str, project: Mapping | None) -> Mapping:
        theirs = project.get(section) if project is not None else None
        if not isinstance(theirs, Mapping):
            return top
        ours = top.get(section)
        entries = dict(ours.entries) if isinstance(ours, Mapping) else {}
        for name, entry in theirs.entries.items():
            own = entries.setdefault(name, entry)
            if own is not entry and plain(own.value) != plain(entry.value):
                message = f"{section}.{name} conflicts with an included resource"
                self.problems.error("include", message, own.key.span, entry.key.span)
        span = ours.span if isinstance(ours, Mapping) else theirs.span
        return _with(top, section, Mapping(entries=entries, span=span), theirs)

    def _cannot_read(self, path: str, error: ComposeError, code: str, span: Span, service: str | None) -> None:
        related = () if error.span is None else (error.span,)
        self.problems.error(code, f"{path!r} cannot be read: {error.message}", span, *related, service=service)


class _Services:
    """The services of one document while they get what they extend."""

    def __init__(self, services: Mapping, removals: tuple[Path, ...], path: str, scope: Scope) -> None:
        self.entries = dict(services.entries)
        self.removals = removals
        self.path = path
        self.scope = scope


def _mapping(value: Value, otherwise: Mapping) -> Mapping:
    return value if isinstance(value, Mapping) else otherwise


def _with(top: Mapping, key: str, value: Mapping, beside: Mapping | None = None) -> Mapping:
    """The mapping with another value under a key; a new key stands where `beside` does."""
    entry = top.entries.get(key)
    if entry is not None:
        return replace(top, entries={**top.entries, key: replace(entry, value=value)})
    name = Text(value=key, span=value.span if beside is None else beside.span)
    return replace(top, entries={**top.entries, key: Entry(key=name, value=value)})


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else "")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and folder != "." else name
