"""The jobs of a GitLab pipeline that have services, as deployments.

The job container reaches a service by its alias and by two names made of its image. Which executor runs a job, the file
does not say. Docker: the job container is linked to each service, and services do not know one another, unless
FF_NETWORK_PER_BUILD puts them all on a network. Kubernetes: all are containers of one pod, in which every name of a
service is localhost. The variables of a job are variables of its services, too.

Source: GitLab's documentation of services, of `extends`, `include`, `default` and `!reference`, and of the feature
flags of its runner.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from collections.abc import Mapping as MappingABC
from dataclasses import replace
from enum import Enum

from netdiag.compose.positions import Source, Text, concatenated, substituted
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.project import ExtraHost, Link, Service, ServiceNetwork
from netdiag.compose.service import read_service
from netdiag.compose.values import Entry, Mapping, Scalar, Sequence, Value, no_files
from netdiag.compose.yaml_tree import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, load_nodes
from netdiag.deployment.sources.ci.job import NETWORK, STEPS, DeclaredJob, Place, Step
from netdiag.deployment.sources.compose import runs_kafka
from netdiag.deployment.sources.documents import documents, mapping_in, no_variables, scalars_of, text_in, texts_in
from netdiag.findings import FileLocation
from netdiag.patterns import regex

ReadLocal = Callable[[str], Source | None]
_KEYWORDS = frozenset(
    {"default", "include", "stages", "variables", "workflow", "image", "services", "before_script", "after_script"}
    | {"cache", "spec"}
)
_VARIABLE = regex(r"\$(?:(?P<escape>\$)|(?P<plain>\w+)|\{(?P<braced>\w+)\}|(?P<input>\[\[))")
_PORT = regex(r"(?P<host>[^/]*?):\d+(?P<rest>/.*)")
_MOST_DEPTH = 10
_MOST_FILES = 50
_MOST_JOBS = 500
_TRUE = frozenset({"true", "1", "t"})
_FLAG = "FF_NETWORK_PER_BUILD"


class Executor(Enum):
    """What runs jobs; the value is the word of `--gitlab-executor`."""

    DOCKER = "docker"
    KUBERNETES = "kubernetes"


def pipeline_jobs(source: Source, executor: Executor, read: ReadLocal) -> Iterator[DeclaredJob]:
    """The jobs with services of a pipeline, as an executor runs them. `read` gives a file of the repository."""
    pipeline = _Pipeline(read)
    top = pipeline.load(source)
    jobs = [(name, entry) for name, entry in top.entries.items() if _is_job(name, entry)]
    if len(jobs) > _MOST_JOBS:
        raise ComposeError(
            f"a pipeline of {len(jobs)} jobs is too large, the limit is {_MOST_JOBS}", span=source.span(0, 0)
        )
    for name, entry in jobs:
        job = pipeline.resolved(top, name)
        if job is not None:
            declared = _job(pipeline, top, name, entry.key.span, job, executor)
            if declared is not None:
                yield declared


def service_names(image: str) -> tuple[str, ...]:
    """What a service is called after its image: without tag and port, each slash as `__`, and as `-`."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    name = head + slash + last.partition(":")[0]
    found = _PORT.fullmatch(name)
    name = found["host"] + found["rest"] if found else name
    return tuple(dict.fromkeys((name.replace("/", "__"), name.replace("/", "-"))))


class _Pipeline:
    """The files of a pipeline as one mapping; what `!reference` stands at is known by its place."""

    def __init__(self, read: ReadLocal) -> None:
        self._read = read
        self._references: dict[FileLocation, tuple[str, ...]] = {}
        self._seen: set[str] = set()

    def load(self, source: Source) -> Mapping:
        """The file on top of the local files that it includes."""
        self._seen.add(source.path)
        for node in load_nodes(source):
            self._note_references(source, node)
        top = documents(source)[-1]
        merged: Mapping | None = None
        for path in _local_includes(top):
            found = self._read(path) if len(self._seen) < _MOST_FILES else None
            if found is not None and found.path not in self._seen:
                try:
                    included = self.load(found)
                except ComposeError:
                    continue
                merged = included if merged is None else _merged(merged, included)
        return top if merged is None else _merged(merged, top)

    def resolved(self, top: Mapping, name: str, depth: int = 0) -> Mapping | None:
        """A job with all that it extends; None where that is not in these files, or refers to itself."""
        value = top.get(name)
        if not isinstance(value, Mapping) or depth > _MOST_DEPTH:
            return None
        whole: Mapping | None = None
        for base in texts_in(value, "extends"):
            found = self.resolved(top, base.value, depth + 1)
            if found is None:
                return None
            whole = found if whole is None else _merged(whole, found)
        return value if whole is None else _merged(whole, value)

    def referenced(self, top: Mapping, value: Value | None, depth: int = 0) -> Value | None:
        """A value with what its references lead to; None where that is not in these files."""
        if value is None or depth > _MOST_DEPTH:
            return None
        if not isinstance(value, Sequence):
            return value
        words = self._references.get(value.span)
        if words is not None:
            found: Value | None = self.resolved(top, words[0]) if words else None
            for word in words[1:]:
                found = found.get(word) if isinstance(found, Mapping) else None
            return self.referenced(top, found, depth + 1)
        items: list[Value] = []
        for item in value.items:
            inner = self.referenced(top, item, depth + 1)
            if inner is None:
                return None
            items += inner.items if isinstance(inner, Sequence) else (inner,)
        return replace(value, items=tuple(items))

    def _note_references(self, source: Source, node: Node) -> None:
        stack: list[Node] = [node]
        while stack:
            node = stack.pop()
            match node:
                case SequenceNode(tag="!reference", items=items):
                    words = tuple(item.value for item in items if isinstance(item, ScalarNode))
                    self._references[source.char_span(node.start, node.end)] = words
                case SequenceNode(items=items):
                    stack += items
                case MappingNode(pairs=pairs):
                    stack += [value for _, value in pairs]
                case AliasNode() | ScalarNode():
                    pass


def _job(
    pipeline: _Pipeline, top: Mapping, name: str, where: FileLocation, job: Mapping, executor: Executor
) -> DeclaredJob | None:
    written = job.get("services")
    if written is None:
        default = mapping_in(top, "default")
        written = (default.get("services") if default is not None else None) or top.get("services")
    written = pipeline.referenced(top, written)
    if not isinstance(written, Sequence) or not written.items:
        return None
    shared = {**_variables(mapping_in(top, "variables")), **_variables(mapping_in(job, "variables"))}
    known = {key: value for key, text in shared.items() if (value := _expanded(text, shared)) is not None}
    variables = {key: known.get(key) for key in shared}
    flag = known.get(_FLAG)
    is_networked = flag is not None and flag.value.lower() in _TRUE
    found: list[tuple[Service, tuple[str, ...]]] = []
    taken = {STEPS}
    for number, item in enumerate(written.items):
        made = _service(item, number, variables, taken)
        if made is not None:
            found.append(made)
            taken.add(made[0].name)
    services, links, hosts, networks = _placed(found, where, executor, is_networked=is_networked)
    return DeclaredJob(
        name=name,
        where=where,
        place=Place.POD if executor is Executor.KUBERNETES else Place.CONTAINER,
        services=services,
        steps=tuple(_steps(pipeline, top, job)),
        variables=variables,
        hosts=hosts,
        links=links,
        is_networked=networks,
        waits_by_itself=True,
        executor=executor.value.capitalize(),
    )


def _placed(
    found: list[tuple[Service, tuple[str, ...]]], where: FileLocation, executor: Executor, *, is_networked: bool
) -> tuple[tuple[Service, ...], tuple[Link, ...], tuple[ExtraHost, ...], bool]:
    """The services where an executor puts them, with the links and hosts of the job container."""
    if executor is Executor.KUBERNETES:
        hosts = tuple(ExtraHost(name=name, address="127.0.0.1", span=where) for _, names in found for name in names)
        mode = Text(value=f"service:{STEPS}", span=where)
        return tuple(replace(s, network_mode=mode, networks=()) for s, _ in found), (), hosts, True
    if is_networked:
        made = tuple(
            replace(s, networks=(ServiceNetwork(network=NETWORK, span=s.span, aliases=_aliases(s, names)),))
            for s, names in found
        )
        return made, (), (), True
    bridge = Text(value="bridge", span=where)
    links = tuple(Link(service=s.name, alias=name, span=where) for s, names in found for name in (s.name, *names))
    return tuple(replace(s, network_mode=bridge, networks=()) for s, _ in found), links, (), False


def _aliases(service: Service, names: tuple[str, ...]) -> tuple[Text, ...]:
    return tuple(Text(value=name, span=service.span) for name in names)


def _service(
    item: Value, number: int, variables: MappingABC[str, Text | None], taken: set[str]
) -> tuple[Service, tuple[str, ...]] | None:
    """A service, and all names that it is reached by."""
    declared = item if isinstance(item, Mapping) else Mapping(entries={}, span=item.span)
    image = item.text if isinstance(item, Scalar) else text_in(declared, "name")
    if image is None:
        return None
    known = _without_unknown(image, variables)
    own = {key: _expanded(text, variables) for key, text in _variables(mapping_in(declared, "variables")).items()}
    alias = text_in(declared, "alias")
    aliases = tuple(re.split(r"[\s,]+", alias.value.strip())) if alias is not None and alias.value.strip() else ()
    names = (*aliases, *(service_names(known.value) if known.value == image.value or known.value else ()))
    name = next((one for one in (*aliases, *reversed(service_names(known.value))) if one and one not in taken), "")
    if not name:
        name = f"service-{number + 1}"
    key = Text(value=name, span=image.span)
    fields = {"image": Entry(key=key, value=Scalar(kind="str", text=known))}
    for part in ("command", "entrypoint"):
        words = texts_in(declared, part)
        if words:
            items = tuple(Scalar(kind="str", text=_without_unknown(word, variables)) for word in words)
            fields[part] = Entry(key=declared.entries[part].key, value=Sequence(items=items, span=declared.span))

    def with_variables(given: MappingABC[str, Text | None]) -> Service:
        entries = {
            variable: Entry(
                key=Text(value=variable, span=text.span if text is not None else image.span),
                value=Scalar(kind="null", text=key) if text is None else Scalar(kind="str", text=text),
            )
            for variable, text in given.items()
        }
        environment = Entry(key=key, value=Mapping(entries=entries, span=image.span))
        whole = Mapping(entries={**fields, "environment": environment}, span=item.span)
        return read_service(Problems(), name, Entry(key=key, value=whole), no_variables, no_files)

    service = with_variables(own)
    # The variables of the job go to every service; only one that is a broker without them takes them for its own.
    if runs_kafka(service):
        service = with_variables({**variables, **own})
    return replace(service, variables_key="variables"), tuple(dict.fromkeys(one for one in names if one))


def _steps(pipeline: _Pipeline, top: Mapping, job: Mapping) -> Iterator[Step]:
    default = mapping_in(top, "default")
    for key in ("before_script", "script"):
        value = job.get(key)
        if value is None and key == "before_script":
            value = (default.get(key) if default is not None else None) or top.get(key)
        found = pipeline.referenced(top, value)
        items = found.items if isinstance(found, Sequence) else () if found is None else (found,)
        for item in items:
            if isinstance(item, Scalar):
                yield Step(where=item.span, run=item.text, variables={})


def _is_job(name: str, entry: Entry) -> bool:
    return name not in _KEYWORDS and not name.startswith(".") and isinstance(entry.value, Mapping)


def _variables(mapping: Mapping | None) -> dict[str, Text]:
    """The variables; one may be a mapping with a `value`."""
    found = scalars_of(mapping)
    for key, entry in mapping.entries.items() if mapping is not None else ():
        if isinstance(entry.value, Mapping) and (text := text_in(entry.value, "value")) is not None:
            found[key] = text
    return found


def _expanded(text: Text, known: MappingABC[str, Text | None], depth: int = 0) -> Text | None:
    """The text with the values of variables; None where one is not known."""
    if "$" not in text.value:
        return text
    parts: list[Text] = []
    done = 0
    for match in _VARIABLE.finditer(text.value):
        if match["input"] or depth > _MOST_DEPTH:
            return None
        value: Text | str | None = "$"
        name = match["plain"] or match["braced"]
        if name:
            given = known.get(name)
            value = None if given is None else _expanded(given, known, depth + 1)
        if value is None:
            return None
        if done < match.start():
            parts.append(text.slice(done, match.start()))
        parts.append(substituted(text.span_of(match.start(), match.end()), value, name or "$", text.source))
        done = match.end()
    if done < len(text):
        parts.append(text.slice(done, len(text)))
    return concatenated(parts) if parts else text


def _without_unknown(text: Text, known: MappingABC[str, Text | None]) -> Text:
    """The text with nothing in the place of what is not known."""
    value = _expanded(text, known)
    if value is not None:
        return value
    left = _VARIABLE.sub("", text.value)
    return Text(value=left.lstrip("/"), span=text.span, source=text.source)


def _local_includes(top: Mapping) -> Iterator[str]:
    value = top.get("include")
    items: tuple[Value, ...] = value.items if isinstance(value, Sequence) else () if value is None else (value,)
    for item in items:
        path = item.value if isinstance(item, Scalar) else ""
        if isinstance(item, Mapping):
            local = text_in(item, "local")
            path = local.value if local is not None else ""
        if path and "://" not in path and "*" not in path and "$" not in path:
            yield posixpath.normpath(path.lstrip("/"))


def _merged(base: Mapping, over: Mapping, depth: int = 0) -> Mapping:
    """Two mappings, of which the second wins; mappings in them are merged, lists are not."""
    entries = dict(base.entries)
    for key, entry in over.entries.items():
        earlier = entries.get(key)
        before = earlier.value if earlier is not None and depth < _MOST_DEPTH else None
        if isinstance(before, Mapping) and isinstance(entry.value, Mapping):
            entry = replace(entry, value=_merged(before, entry.value, depth + 1))
        entries[key] = entry
    return replace(over, entries=entries)
