"""The environment of a service: `env_file` entries in order, then `environment`, which wins."""

from collections.abc import Callable
from collections.abc import Mapping as MappingABC
from dataclasses import replace

from netdiag.compose.dotenv import load_entries
from netdiag.compose.errors import ComposeError
from netdiag.compose.origins import Origin
from netdiag.compose.positions import Segment, Source, Span, Text, joined
from netdiag.compose.project import EnvFile, EnvironmentVariable
from netdiag.compose.reading import Reading
from netdiag.compose.values import Mapping, Scalar, Sequence, Value, scoped

Lookup = Callable[[str], Text | str | None]
Read = Callable[[str], bytes | None]
EFFORT = 4


def read_env_files(reading: Reading, service: Mapping) -> tuple[EnvFile, ...]:
    """The env_file entries of a service, as written."""
    value = service.get("env_file")
    items: tuple[Value, ...] = value.items if isinstance(value, Sequence) else () if value is None else (value,)
    found: dict[str, EnvFile] = {}
    for item in items:
        match item:
            case Scalar():
                if item.kind != "null":
                    found[item.value] = EnvFile(path=item.text, file=scoped(item))
            case Mapping():
                path, form = reading.text(item, "path"), reading.text(item, "format")
                if path is None:
                    reading.wrong(item, "env_file[]", "a path or a mapping with one")
                else:
                    spelled = form.value if form is not None else ""
                    named = item.get("path")
                    file = scoped(named) if isinstance(named, Scalar) else path.value
                    required = reading.boolean(item, "required", default=True)
                    found[path.value] = EnvFile(path=path, file=file, required=required, format=spelled)
            case _:
                reading.wrong(item, "env_file[]", "a path or a mapping with one")
    return tuple(found.values())


def read_environment(
    reading: Reading, service: Mapping, files: tuple[EnvFile, ...], lookup: Lookup, read: Read
) -> tuple[dict[str, EnvironmentVariable], bool]:
    """The variables a container of the service would be given, by name; and whether a file of them is missing."""
    own = _own(reading, service, lookup)
    variables: dict[str, EnvironmentVariable] = {}
    is_lacking = False
    for file in files:
        found = _from_file(reading, file, own, variables, lookup, read)
        is_lacking = is_lacking or found is None
        for name, variable in (found or {}).items():
            variables[name] = _over(variables.get(name), variable)
    for name, variable in own.items():
        variables[name] = _over(variables.get(name), variable)
    return variables, is_lacking


def _over(earlier: EnvironmentVariable | None, later: EnvironmentVariable) -> EnvironmentVariable:
    """The later of two declarations of one variable, remembering the place of the earlier."""
    if earlier is None:
        return later
    return replace(later, shadowed=(*earlier.shadowed, earlier.entry_span, *later.shadowed))


def _own(reading: Reading, service: Mapping, lookup: Lookup) -> dict[str, EnvironmentVariable]:
    variables: dict[str, EnvironmentVariable] = {}
    for name, key, value, whole, entry in reading.pairs(service, "environment"):
        if name != name.rstrip():
            message = f"environment variable {name!r} is declared with a trailing space"
            reading.problems.error("environment", message, key.span, service=reading.service)
        if not name.strip():
            continue
        if value is None:
            scope = whole.scope if isinstance(whole, Scalar) and entry is None else None
            value = _passed(name, key.span, lookup if scope is None else scope.lookup)
        variable = EnvironmentVariable(
            name=name,
            value=value,
            key_span=key.span if entry else key.span_of(0, len(key.value)),
            entry_span=entry.span if entry else whole.span,
            form="map" if entry else "list",
            via=entry.via if entry else None,
        )
        variables[name] = _over(variables.get(name), variable)
    return variables


def _passed(name: str, span: Span, lookup: Lookup) -> Text | None:
    """The value that compose's own environment gives to a bare key."""
    value = lookup(name)
    if value is None:
        return None
    text = value if isinstance(value, Text) else None
    characters = value.value if isinstance(value, Text) else value
    segments = [
        Segment(
            value_start=segment.value_start,
            value_end=segment.value_end,
            start=span.start,
            end=span.end,
            verbatim=False,
            variable=name,
            origin=text.edit_span(segment.value_start, segment.value_end) if text is not None else None,
            origin_source=text.source if text is not None else None,
        )
        for segment in (text.segments if text is not None else ())
        if segment.value_end > segment.value_start
    ]
    if not segments:
        segments = [
            Segment(
                value_start=0,
                value_end=len(characters),
                start=span.start,
                end=span.end,
                verbatim=False,
                variable=name,
            )
        ]
    return Text(value=characters, span=span, segments=tuple(segments))


def _from_file(
    reading: Reading,
    file: EnvFile,
    own: MappingABC[str, EnvironmentVariable],
    earlier: MappingABC[str, EnvironmentVariable],
    lookup: Lookup,
    read: Read,
) -> dict[str, EnvironmentVariable] | None:
    """What a file gives; None where what it gives cannot be told. Without one that is optional, compose goes on."""
    data = read(file.file)
    if data is None and not file.required:
        return {}
    if data is None:
        message = f"env file {file.path.value!r} does not exist"
        reading.problems.error("env-file", message, file.path.span, service=reading.service)
        return None

    reading.problems.spend(EFFORT * len(data), file.path.span)
    source = Source(file.file, data)
    reading.problems.origins[Origin(area=source.span(0, 0), by=file.path.span, how="env_file")] = None

    def value_of(name: str) -> Text | str | None:
        outer = lookup(name)
        if outer is not None:
            return outer
        for scope in (own, earlier):
            if name in scope and scope[name].value is not None:
                return scope[name].value
        return None

    if file.format not in ("", "raw"):
        message = f"unknown env_file format {file.format!r}"
        reading.problems.error("env-file", message, file.path.span, service=reading.service)
    try:
        entries = load_entries(source, value_of, raw=file.format == "raw")
    except ComposeError as error:
        place = error.span or file.path.span
        reading.problems.error("env-file", error.message, place, file.path.span, service=reading.service)
        return None
    return {
        name: EnvironmentVariable(
            name=name,
            value=entry.value,
            key_span=entry.key.span,
            entry_span=joined(entry.key.span, entry.value.span),
            form="env_file",
            via=file.path.span,
        )
        for name, entry in entries.items()
    }
