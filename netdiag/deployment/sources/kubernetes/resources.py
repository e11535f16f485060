"""The resources of Kubernetes manifests as values with places."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from netdiag.compose.positions import Source, Text
from netdiag.compose.problems import ComposeError
from netdiag.compose.values import Mapping as YamlMapping
from netdiag.deployment.sources.documents import documents, items_in, mapping_in, scalars_of, text_in
from netdiag.digits import number_of
from netdiag.errors import InputError
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

STRIMZI = "kafka.strimzi.io"
# What only a template of Helm says: its objects and functions, in two braces.
_HELM = regex(
    rb"\{\{-?\s*(?:\(?\s*(?:include|template|toYaml|tpl|define|block)\s|[^{}\n]{0,200}?"
    rb"\.(?:Values|Release|Chart|Capabilities|Template)\b)"
)
_RENDER = "render it first: helm template RELEASE CHART | netdiag check-listeners -"
_PLACEHOLDER = regex(r"\{\{|\$\{|\$\(|<[^<>]{1,100}>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource: `group` is its API group, "" for Kubernetes' own. `where` is its name, else its kind."""

    kind: str
    group: str
    name: str
    namespace: str
    root: YamlMapping
    where: FileLocation
    labels: Mapping[str, Text] = field(default_factory=dict)
    annotations: Mapping[str, Text] = field(default_factory=dict)

    @property
    def spec(self) -> YamlMapping | None:
        """What stands under `spec`."""
        return mapping_in(self.root, "spec")

    @property
    def key(self) -> tuple[str, str, str, str]:
        """By what Kubernetes tells it from others."""
        return (self.group, self.kind, self.namespace, self.name)


def resources(source: Source) -> tuple[Resource, ...]:
    """The resources of a file; InputError for a template of Helm, ComposeError for what is no YAML."""
    template = _HELM.search(source.data)
    if template is not None:
        line, column = source.place(template.start())
        where = f"{source.path}:{line}:{column}"
        raise InputError("this is a template of Helm, not a manifest", where=where, hint=_RENDER)
    try:
        found = documents(source)
    except ComposeError as error:
        if error.message == "the file is empty":
            return ()
        raise
    return tuple(resource for document in found for resource in _resources(document))


def _resources(document: YamlMapping) -> Iterator[Resource]:
    kind, version = text_in(document, "kind"), text_in(document, "apiVersion")
    if kind is None or version is None:
        return
    if kind.value.endswith("List") and document.get("items") is not None:
        for item in items_in(document, "items"):
            if item.get("items") is None:
                yield from _resources(item)
        return
    metadata = mapping_in(document, "metadata")
    name = text_in(metadata, "name") if metadata is not None else None
    namespace = text_in(metadata, "namespace") if metadata is not None else None
    yield Resource(
        kind=kind.value,
        group=version.value.rpartition("/")[0],
        name=name.value if name is not None else "",
        namespace=namespace.value if namespace is not None else "",
        root=document,
        where=name.span if name is not None else kind.span,
        labels=scalars_of(mapping_in(metadata, "labels")) if metadata is not None else {},
        annotations=scalars_of(mapping_in(metadata, "annotations")) if metadata is not None else {},
    )


def together(own: Iterable[Resource], others: Iterable[Iterable[Resource]]) -> tuple[Resource, ...]:
    """The resources of a file, and those of the files beside it that neither it nor another of them declares, too.

    Files in one folder may be variants of one another, which are not meant to be applied together.
    """
    first = tuple(own)
    known = {resource.key for resource in first}
    beside: dict[tuple[str, str, str, str], Resource | None] = {}
    for file in others:
        for key, resource in {resource.key: resource for resource in file}.items():
            beside[key] = None if key in beside else resource
    return (*first, *(one for key, one in beside.items() if one is not None and key not in known))


def known_number(text: Text | None) -> int | None:
    """The number that a scalar is; None for none, and for what is filled in later."""
    return None if text is None else number_of(text.value.strip())


def is_unknown(text: Text | None) -> bool:
    """Whether something else than Kubernetes fills in a value."""
    return text is not None and _PLACEHOLDER.search(text.value) is not None
