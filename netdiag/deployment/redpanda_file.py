"""redpanda.yaml, and what `--set` gives for it: addresses with the places of their parts.

Source: `config/node_config` of Redpanda 21.11 to 24.3. A list may be given as its only item; what is left out of a file
of one's own has the server's defaults, not those of the packaged file.
"""

from collections.abc import Callable, Iterator, Mapping

from netdiag.compose.errors import ComposeError
from netdiag.compose.nodes import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, load_nodes
from netdiag.compose.positions import Source, Text, assemble
from netdiag.deployment.member import Declared
from netdiag.deployment.written import ComposeValue, ScatteredValue
from netdiag.kafka.images import redpanda
from netdiag.kafka.images.settings import Provenance, Setting

# The place of characters start..end of the document.
Place = Callable[[int, int], Text]
Made = tuple[dict[str, Setting], dict[str, Declared]]
FILE = "redpanda.yaml"
_ADDRESSES = {
    "kafka_api": redpanda.LISTENERS,
    "advertised_kafka_api": redpanda.ADVERTISED,
    "advertised_rpc_api": redpanda.RPC,
}
_MOST = 100


def read_redpanda_yaml(source: Source) -> Made | None:
    """The settings of a file of one's own, with the values behind them; None where it cannot be read."""
    fields = _document(source)
    if fields is None:
        return None

    def place(start: int, end: int) -> Text:
        return assemble(source, [(source.text[start:end], start, end)], start, end)

    sections = {name: _fields(node) for name, node in fields.items()}
    own = sections.get("redpanda", {})
    ports = {node.value for section in sections.values() for node in _scalars(section, "port") if node.value.isdigit()}
    settings, declared = _addresses(own, place, FILE)
    default = Setting(
        name=redpanda.LISTENERS, value="127.0.0.1:9092", variable=None, provenance=Provenance.IMAGE_DEFAULT
    )
    settings.setdefault(redpanda.LISTENERS, default)
    settings[redpanda.OTHER_PORTS] = Setting(name=redpanda.OTHER_PORTS, value=",".join(sorted(ports)), variable=None)
    settings[redpanda.PROTOCOLS] = Setting(name=redpanda.PROTOCOLS, value=_protocols(own), variable=None)
    return settings, declared


def set_values(name: str, value: str, place: Place) -> Made:
    """What `--set name=value` gives; unknown where only a part of a list is set."""
    _, _, field = name.partition("redpanda.")
    key = field.partition(".")[0].partition("[")[0]
    if key not in _ADDRESSES:
        return {}, {}
    unknown = {_ADDRESSES[key]: Setting(name=_ADDRESSES[key], value=None, variable=f"--set {name}")}
    fields = _document(Source("", f"{key}: {value}")) if key == field else None
    if fields is None:
        return unknown, {}
    shift = len(key) + 2
    made, declared = _addresses(fields, lambda start, end: place(start - shift, end - shift), f"--set {name}")
    return (made, declared) if made else (unknown, {})


def _addresses(fields: Mapping[str, Node], place: Place, file: str) -> Made:
    settings: dict[str, Setting] = {}
    declared: dict[str, Declared] = {}
    for field, name in _ADDRESSES.items():
        items = _items(fields.get(field))
        if items:
            variable = f"{field} in {file}" if file == FILE else file
            declared[variable] = _joined(variable, items, place)
            settings[name] = Setting(name=name, value=declared[variable].value, variable=variable)
    node_id = fields.get("node_id")
    if isinstance(node_id, ScalarNode):
        variable = f"node_id in {file}"
        text = place(*_inner(node_id))
        declared[variable] = ComposeValue(variable=variable, text=text)
        settings[redpanda.NODE_ID] = Setting(name=redpanda.NODE_ID, value=text.value, variable=variable)
    seeds = [_fields(_fields(item).get("host", item)) for item in _sequence(fields.get("seed_servers"))]
    hosts = [host.value for seed in seeds for host in [seed.get("address")] if isinstance(host, ScalarNode)]
    if hosts:
        settings[redpanda.SEEDS] = Setting(name=redpanda.SEEDS, value=",".join(hosts), variable=None)
    return settings, declared


def _joined(variable: str, items: list[dict[str, ScalarNode]], place: Place) -> Declared:
    """The addresses as one list in the spelling of the flags, whose parts point into the file."""
    value = ""
    pieces: list[tuple[int, Text]] = []
    for item in items:
        value += "," if value else ""
        for field, before, after in (("name", "", "://"), ("address", "", ""), ("port", ":", "")):
            node = item.get(field)
            if node is None or not node.value:
                continue
            text = place(*_inner(node))
            value += before
            pieces.append((len(value), text))
            value += text.value + after
        if item.get("authentication_method") is not None:
            value += f"|{item['authentication_method'].value}"
    return ScatteredValue(variable=variable, value=value, pieces=pieces)


def _protocols(fields: Mapping[str, Node]) -> str:
    """The listeners that speak TLS, as name=SSL."""
    found = []
    for item in _items(fields.get("kafka_api_tls"), needs=""):
        enabled = item.get("enabled")
        if enabled is not None and enabled.value == "true":
            name = item["name"].value if "name" in item else ""
            found.append(f"{name or redpanda.UNNAMED}=SSL")
    return ",".join(found)


def _items(node: Node | None, needs: str = "address") -> list[dict[str, ScalarNode]]:
    """The mappings of a list, or the one mapping, with their scalars; those without the needed field are left out."""
    node = _target(node)
    nodes = [node] if isinstance(node, MappingNode) else _sequence(node)
    found = [{k: v for k, v in _fields(item).items() if isinstance(v, ScalarNode)} for item in nodes]
    return [item for item in found if not needs or needs in item]


def _sequence(node: Node | None) -> list[Node]:
    node = _target(node)
    return list(node.items[:_MOST]) if isinstance(node, SequenceNode) else []


def _fields(node: Node | None) -> dict[str, Node]:
    node = _target(node)
    if not isinstance(node, MappingNode):
        return {}
    found = {}
    for key, value in node.pairs:
        held = _target(value)
        if isinstance(key, ScalarNode) and held is not None:
            found[key.value] = held
    return found


def _target(node: Node | None) -> Node | None:
    return node.target if isinstance(node, AliasNode) else node


def _document(source: Source) -> dict[str, Node] | None:
    try:
        documents = load_nodes(source)
    except ComposeError:
        return None
    return _fields(documents[0]) if len(documents) == 1 and isinstance(documents[0], MappingNode) else None


def _scalars(fields: Mapping[str, Node], name: str) -> Iterator[ScalarNode]:
    """The scalars under a key in a section or one level below it."""
    for node in fields.values():
        for item in _items(node, needs=name):
            yield item[name]


def _inner(node: ScalarNode) -> tuple[int, int]:
    """The characters of a scalar without its quotes."""
    quoted = node.style in ("'", '"')
    return (node.start + 1, node.end - 1) if quoted else (node.start, node.end)
