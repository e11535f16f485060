"""The files of a project become one mapping: documents, `extends`, `include`, and overrides on top of each other.

The order is compose's: of each document the variables are substituted, services get what they extend, what the
document resets is taken out of what is there already, included projects are drawn in, and the result is merged onto
the documents before. A file that cannot be had is a problem at the line that names it.

Nodes become values first: aliases followed, merge keys applied, variables substituted, scalars typed. Targets of
aliases are expanded once and shared; the expanded size is counted all the same, so a bomb is refused by its size and
not by its effect. `!reset` removes its node; `!reset` and `!override` leave their path for the merge with earlier
files.

Mappings merge key by key, lists are appended, scalars are replaced (compose-spec "Merge and override"); the fields
with rules of their own are written out. What is listed twice after that is sorted out where the field is read: a later
port, volume or variable takes the place of an earlier one.
"""

from collections.abc import Callable
from dataclasses import replace

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.interpolate import interpolate
from netdiag.compose.positions import Segment, Source, Text, assemble, joined
from netdiag.compose.problems import ComposeError, Origin, Problems, within
from netdiag.compose.values import (
    Entry,
    FieldReader,
    Kind,
    Mapping,
    ReadFile,
    Scalar,
    Scope,
    Sequence,
    Value,
    is_null,
    plain_kind,
)
from netdiag.compose.yaml_tree import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    AliasNode,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    load_nodes,
    pieces_of,
)
from netdiag.findings import FileLocation
from netdiag.values import dataclass

Path = tuple[str, ...]
_TAG = "tag:yaml.org,2002:"
Rule = Callable[[Value, Value, Problems, Path], Value]
_PAIRS = ("annotations", "dns", "dns_opt", "dns_search", "env_file", "environment", "label_file", "labels")
MAX_FILES = 200
EFFORT_PER_BYTE = 4
_IMPORTED = ("services", "volumes", "networks", "secrets", "configs", "models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """A value, and the paths below it that `!reset` and `!override` mark for removal from earlier files.

    The value is None when it is reset itself.
    """

    value: Value | None
    resets: tuple[Path, ...] = ()
    overrides: tuple[Path, ...] = ()
    size: int = 1
    depth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """One document after substitution: its top level, and the paths it resets in what came before."""

    top: Mapping
    removals: tuple[Path, ...]


def merge_files(sources: tuple[Source, ...], scope: Scope, read: ReadFile, problems: Problems) -> Mapping:
    """The top-level mapping of a project whose files are given in the order of `-f`."""
    return _ProjectFiles(read, problems).files(sources, scope, ())


def expand(source: Source, node: Node, scope: Scope, problems: Problems) -> Expanded:
    """One document of a file as values; ComposeError when aliases blow it up or merge what is no mapping."""
    return _Expander(source, scope, problems).expand(node)


def merge(left: Value, right: Value, problems: Problems, path: Path = ()) -> Value:
    """The left value as changed by the right one; what cannot be merged is a problem and leaves the left."""
    rule = _RULES.get(tuple("*" if i in (1, 3) and _is_open(path, i) else part for i, part in enumerate(path)))
    if rule is not None:
        return rule(left, right, problems, path)
    if is_null(right):
        return left
    match left, right:
        case Mapping(), Mapping():
            return _merge_mappings(left, right, problems, path)
        case Sequence(), Sequence():
            return replace(left, items=(*left.items, *right.items))
        case Scalar(), _:
            return right
    problems.error("merge", f"cannot override {'.'.join(path)}", right.span, left.span)
    return left


def remove(value: Mapping, path: Path) -> Mapping:
    """The mapping without what stands under a path."""
    entry = value.entries.get(path[0]) if path else None
    if entry is None:
        return value
    entries = dict(value.entries)
    if len(path) == 1:
        del entries[path[0]]
    elif isinstance(entry.value, Mapping):
        entries[path[0]] = replace(entry, value=remove(entry.value, path[1:]))
    return replace(value, entries=entries)


def plain(value: Value) -> object:
    """The value without its places, to compare two of them."""
    match value:
        case Scalar():
            return (value.kind, value.value)
        case Sequence():
            return [plain(item) for item in value.items]
        case Mapping():
            return {key: plain(entry.value) for key, entry in value.entries.items()}


class _ProjectFiles:
    """The reading of one project: how files are had and what was wrong with them."""

    def __init__(self, read: ReadFile, problems: Problems) -> None:
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
                merged = top if merged is None else _mapping_or(merge(merged, top, self.problems), merged)
        if merged is None:
            raise ComposeError("the file is empty", span=sources[0].span(0, 0))
        return merged

    def documents(self, source: Source, scope: Scope) -> list[_Document]:
        # A file too large to be read costs nothing: the reader of its nodes says so.
        if len(source.data) <= MAX_BYTES:
            self.problems.spend(EFFORT_PER_BYTE * len(source.data), source.span(0, 0))
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
                self.problems.service_spans.setdefault(name, []).append(place)
            self._extend(name, names, ())
        return _with_key(document.top, "services", replace(services, entries=names.entries))

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
        self.problems.spend(100 * _count_values(base), extends.span)
        for path in names.removals:
            if path[:2] == ("services", name) and len(path) > 2:
                base = remove(base, path[2:])
        merged = merge(base, bare, self.problems, ("services", name))
        names.entries[name] = replace(entry, value=merged)

    def _base(self, name: str, extends: Entry, names: "_Services", seen: tuple[tuple[str, str], ...]) -> Mapping | None:
        value = extends.value
        reading = FieldReader(self.problems, f"services.{name}.extends", service=name)
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
        self.problems.origins[Origin(area=area, by=extends.span, kind="extends")] = None
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
        reading = FieldReader(self.problems, "include[]")
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
            self.problems.origins[Origin(area=sources[-1].span(0, 0), by=text.span, kind="include")] = None
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
        return _with_key(top, section, Mapping(entries=entries, span=span), theirs)

    def _cannot_read(self, path: str, error: ComposeError, code: str, span: FileLocation, service: str | None) -> None:
        related = () if error.span is None else (error.span,)
        self.problems.error(code, f"{path!r} cannot be read: {error.message}", span, *related, service=service)


def _mapping_or(value: Value, otherwise: Mapping) -> Mapping:
    return value if isinstance(value, Mapping) else otherwise


class _Services:
    """The services of one document while they get what they extend."""

    def __init__(self, services: Mapping, removals: tuple[Path, ...], path: str, scope: Scope) -> None:
        self.entries = dict(services.entries)
        self.removals = removals
        self.path = path
        self.scope = scope


def _with_key(top: Mapping, key: str, value: Mapping, beside: Mapping | None = None) -> Mapping:
    """The mapping with another value under a key; a new key stands where `beside` does."""
    entry = top.entries.get(key)
    if entry is not None:
        return replace(top, entries={**top.entries, key: replace(entry, value=value)})
    name = Text(value=key, span=value.span if beside is None else beside.span)
    return replace(top, entries={**top.entries, key: Entry(key=name, value=value)})


def _count_values(value: Value) -> int:
    """How many values a value is made of."""
    match value:
        case Scalar():
            return 1
        case Sequence():
            return 1 + sum(_count_values(item) for item in value.items)
        case Mapping():
            return 1 + sum(_count_values(entry.value) for entry in value.entries.values())


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else "")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and folder != "." else name


class _Expander:
    """The expansion of one file."""

    def __init__(self, source: Source, scope: Scope, problems: Problems) -> None:
        self.source = source
        self.scope = scope
        self.problems = problems
        self.done: dict[int, Expanded] = {}

    def expand(self, node: Node) -> Expanded:
        if isinstance(node, AliasNode):
            # As in compose: what lies below an anchor is reset where the anchor stands, not where it is used.
            whole = self.expand(node.target)
            self._drawn_in(node)
            return replace(whole, resets=tuple(path for path in whole.resets if not path))
        done = self.done.get(id(node))
        if done is None:
            done = self._expand(node)
            if done.size > MAX_VALUES or done.depth > MAX_DEPTH:
                what = "size" if done.size > MAX_VALUES else "depth"
                raise ComposeError(f"aliases expand to an excessive {what}", span=self._span(node))
            self.done[id(node)] = done
        return done

    def _expand(self, node: ScalarNode | SequenceNode | MappingNode) -> Expanded:
        if node.tag == "!reset":
            return Expanded(value=None, resets=((),))
        match node:
            case ScalarNode():
                expanded = Expanded(value=self._scalar(node))
            case SequenceNode():
                expanded = self._sequence(node)
            case MappingNode():
                expanded = self._mapping(node)
        if node.tag == "!override":
            return replace(expanded, resets=(), overrides=((),))
        return expanded

    def _scalar(self, node: ScalarNode) -> Scalar:
        kind: Kind
        kind, value = plain_kind(node.value) if node.style is None and not node.tag else ("str", node.value)
        if node.tag and node.tag.startswith(_TAG) and node.tag != f"{_TAG}str":
            kind, value = plain_kind(node.value)
        text = self._text(node)
        if kind == "str":
            return Scalar(kind=kind, text=self._interpolated(text), scope=self.scope)
        if value != node.value:
            segment = Segment(
                value_start=0, value_end=len(value), start=text.span.start, end=text.span.end, verbatim=False
            )
            text = Text(value=value, span=text.span, segments=(segment,), source=self.source)
        return Scalar(kind=kind, text=text, scope=self.scope)

    def _text(self, node: ScalarNode) -> Text:
        pieces = pieces_of(self.source.text, node.start, node.end, node.style, node.value)
        return assemble(self.source, pieces, node.start, node.end)

    def _interpolated(self, text: Text) -> Text:
        if not self.scope.substitutes:
            return text
        text, faults = interpolate(text, self.scope.lookup)
        self.problems.spend(len(text.value), text.span)
        self._given(text)
        for fault in faults:
            code = "required-variable" if fault.required else "interpolation"
            self.problems.error(code, fault.message, fault.span)
        for name in text.unset:
            segment = next((s for s in text.segments if s.unset and s.variable == name), None)
            place = text.span if segment is None else self.source.span(segment.start, segment.end)
            self.problems.warning(
                "unset-variable", f"variable {name!r} is not set, so Compose uses an empty string", place
            )
        return text

    def _drawn_in(self, node: AliasNode) -> None:
        target = node.target
        while isinstance(target, AliasNode):
            target = target.target
        self.problems.origins[Origin(area=self._span(target), by=self._span(node), kind="alias")] = None

    def _given(self, text: Text) -> None:
        """Notes the places elsewhere that the variables of a text have their values from."""
        for segment in text.segments:
            place = self.source.span(segment.start, segment.end)
            if segment.variable is not None and segment.origin is not None and not within(segment.origin, place):
                origin = Origin(area=place, by=segment.origin, kind="variable", name=segment.variable)
                self.problems.origins[origin] = None

    def _sequence(self, node: SequenceNode) -> Expanded:
        children = [self.expand(item) for item in node.items]
        items = tuple(child.value for child in children if child.value is not None)
        return Expanded(
            value=Sequence(items=items, span=self._span(node)),
            size=1 + sum(child.size for child in children),
            depth=1 + max((child.depth for child in children), default=0),
        )

    def _mapping(self, node: MappingNode) -> Expanded:
        entries: dict[str, Entry] = {}
        keys: dict[str, Text] = {}
        resets: list[Path] = []
        overrides: list[Path] = []
        merge: Node | None = None
        size, depth = 1, 1
        for key_node, value_node in node.pairs:
            key, is_merge = self._key(key_node)
            child = self.expand(value_node)
            size, depth = size + 1 + child.size, max(depth, 1 + child.depth)
            if key.value in keys:
                self._duplicate(key, keys[key.value])
            keys[key.value] = key
            if is_merge:
                merge = value_node
                resets += child.resets
                overrides += child.overrides
                continue
            resets += [(key.value, *path) for path in child.resets]
            overrides += [(key.value, *path) for path in child.overrides]
            if child.value is not None:
                via = self._span(value_node) if isinstance(value_node, AliasNode) else None
                entries[key.value] = Entry(key=key, value=child.value, via=via)
        if merge is not None:
            self._merge(entries, merge)
        value = Mapping(entries=entries, span=self._span(node))
        return Expanded(value=value, resets=tuple(resets), overrides=tuple(overrides), size=size, depth=depth)

    def _key(self, node: Node) -> tuple[Text, bool]:
        while isinstance(node, AliasNode):
            node = node.target
        if not isinstance(node, ScalarNode):
            raise ComposeError("a key must be a string", span=self._span(node))
        text = self._text(node)
        if node.style is None and node.tag is None:
            kind, spelled = plain_kind(node.value)
            if kind != "str":
                message = f"key {node.value or 'null'!r} is not a string and needs quotes"
                self.problems.error("schema", message, text.span)
            if spelled != node.value:
                text = Text(value=spelled, span=text.span, source=self.source)
        return text, node.value == "<<" and node.style is None

    def _duplicate(self, key: Text, first: Text) -> None:
        message = f"key {key.value!r} is already defined at line {first.span.line}"
        self.problems.error("duplicate-key", message, key.span, first.span)

    def _merge(self, entries: dict[str, Entry], node: Node) -> None:
        """Adds what `<<` brings and is not there yet; of several maps the earlier one wins."""
        target = node
        while isinstance(target, AliasNode):
            target = target.target
        sources = target.items if isinstance(target, SequenceNode) else (node,)
        via = self._span(node)
        for each in sources:
            value = self.expand(each).value
            if value is None:
                continue
            if not isinstance(value, Mapping):
                raise ComposeError("a merge key needs a mapping or a list of mappings", span=self._span(each))
            for key, entry in value.entries.items():
                entries.setdefault(key, Entry(key=entry.key, value=entry.value, via=via))

    def _span(self, node: Node) -> FileLocation:
        return self.source.char_span(node.start, node.end)


def _is_open(path: Path, index: int) -> bool:
    """Whether the key at this depth is one that users choose."""
    return index == 1 or (len(path) > 3 and path[2] == "ulimits")


def _merge_mappings(left: Mapping, right: Mapping, problems: Problems, path: Path) -> Mapping:
    entries = dict(left.entries)
    for key, entry in right.entries.items():
        earlier = entries.get(key)
        if earlier is None:
            entries[key] = entry
            continue
        value = merge(earlier.value, entry.value, problems, (*path, key))
        if value is entry.value:
            entries[key] = entry
        elif value is not earlier.value:
            entries[key] = replace(earlier, value=value)
    return replace(left, entries=entries)


def _append_pairs(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return Sequence(items=(*_items(left), *_items(right)), span=left.span)


def _items(value: Value) -> tuple[Value, ...]:
    """The items of a list; an entry of a mapping becomes a mapping of its own, so that it keeps its place."""
    match value:
        case Sequence():
            return value.items
        case Mapping():
            return tuple(Mapping(entries={key: e}, span=e.span, is_pair=True) for key, e in value.entries.items())
        case Scalar():
            return () if is_null(value) else (value,)


def _replace(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return right


def _by_name(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return _merge_mappings(_as_mapping(left), _as_mapping(right), problems, path)


def _as_mapping(value: Value) -> Mapping:
    """A list of names as the mapping that it abbreviates."""
    if isinstance(value, Mapping):
        return value
    names = [item for item in _items(value) if isinstance(item, Scalar)]
    entries = {
        name.value: Entry(key=name.text, value=Mapping(entries={}, span=name.span), listed=True) for name in names
    }
    return Mapping(entries=entries, span=value.span)


def _merge_dependencies(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return _merge_mappings(_dependencies(left), _dependencies(right), problems, path)


def _dependencies(value: Value) -> Mapping:
    """A list of services as the mapping that it abbreviates, which says how they are waited for."""
    named = _as_mapping(value)
    entries = {
        name: replace(entry, value=_default_dependency(entry.key.span), listed=False) if entry.listed else entry
        for name, entry in named.entries.items()
    }
    return replace(named, entries=entries)


def _default_dependency(span: FileLocation) -> Mapping:
    kinds: dict[str, tuple[Kind, str]] = {"condition": ("str", "service_started"), "required": ("bool", "true")}
    entries = {
        key: Entry(key=Text(value=key, span=span), value=Scalar(kind=kind, text=Text(value=value, span=span)))
        for key, (kind, value) in kinds.items()
    }
    return Mapping(entries=entries, span=span)


def _merge_build(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _merge_mappings(left, right, problems, path)
    return left if is_null(right) else right


def _append_new(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    have = _items(left)
    spelled = {_spelling(item) for item in have}
    return Sequence(items=(*have, *(i for i in _items(right) if _spelling(i) not in spelled)), span=left.span)


def _spelling(item: Value) -> str:
    if isinstance(item, Mapping):
        return ",".join(f"{key}={plain(entry.value)}" for key, entry in item.entries.items())
    return item.value if isinstance(item, Scalar) else repr(plain(item))


def _merge_pools(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    """Address pools are the same when their subnets are."""
    pools: dict[object, Value] = {}
    for pool in (*_items(left), *_items(right)):
        subnet = pool.get("subnet") if isinstance(pool, Mapping) else None
        key = subnet.value if isinstance(subnet, Scalar) else ""
        earlier = pools.get(key)
        both = isinstance(pool, Mapping) and isinstance(earlier, Mapping)
        pools[key] = _merge_mappings(earlier, pool, problems, path) if both else pool  # type: ignore[arg-type]
    return Sequence(items=tuple(pools.values()), span=left.span)


_RULES: dict[Path, Rule] = {
    **{("services", "*", field): _append_pairs for field in (*_PAIRS, "sysctls", "tmpfs")},
    **{("services", "*", field): _replace for field in ("command", "entrypoint")},
    **{("services", "*", field): _by_name for field in ("models", "networks")},
    ("services", "*", "depends_on"): _merge_dependencies,
    **{(unit, "*", "labels"): _append_pairs for unit in ("networks", "volumes")},
    **{("services", "*", "build", field): _append_pairs for field in ("additional_contexts", "args", "labels")},
    ("services", "*", "build"): _merge_build,
    ("services", "*", "build", "extra_hosts"): _append_new,
    ("services", "*", "deploy", "labels"): _append_pairs,
    ("services", "*", "extra_hosts"): _append_new,
    ("services", "*", "healthcheck", "test"): _replace,
    ("services", "*", "ulimits", "*"): _replace,
    ("networks", "*", "ipam", "config"): _merge_pools,
}
