"""Redpanda as a broker of a deployment: its flags and its redpanda.yaml with their places, and who forms one cluster.

Source: `config/node_config` of Redpanda 21.11 to 24.3. A list may be given as its only item; what is left out of a file
of one's own has the server's defaults, not those of the packaged file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from netdiag.compose.positions import Source, Text, assemble
from netdiag.compose.problems import ComposeError
from netdiag.compose.project import Service
from netdiag.compose.values import ReadFile
from netdiag.compose.yaml_tree import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, load_nodes
from netdiag.deployment.model.deployment import Broker, ConfigFile, DeclaredValue, Member
from netdiag.deployment.sources.compose_text import ComposeValue, ScatteredValue, comma_list
from netdiag.deployment.sources.startup import Word, command_lines, mounted_file
from netdiag.digits import number_of
from netdiag.kafka.broker_config import BrokerConfig, Mode
from netdiag.kafka.images import redpanda
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.reference import ImageFamily, ImageReference
from netdiag.kafka.images.settings import Provenance, Setting
from netdiag.values import dataclass

if TYPE_CHECKING:
    # Not needed for files.
    from netdiag.engine.container import Container

# The place of characters start..end of the document.
TextAt = Callable[[int, int], Text]
ParsedSettings = tuple[dict[str, Setting], dict[str, DeclaredValue]]
FILE = "redpanda.yaml"
_ADDRESSES = {
    "kafka_api": redpanda.LISTENERS,
    "advertised_kafka_api": redpanda.ADVERTISED,
    "advertised_rpc_api": redpanda.RPC,
}
_MOST_ITEMS = 100
_FILE_PATH = "/etc/redpanda/redpanda.yaml"
# What the file of a running container says cannot be told: it may be mounted over.
UNKNOWN_FILE = {
    name: Setting(name=name, value=None, variable=None) for name in (redpanda.LISTENERS, redpanda.ADVERTISED)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ContainerWord:
    """A word of a container's command, which is in force as it stands."""

    value: str
    is_open: bool = False

    def slice(self, start: int, end: int) -> "_ContainerWord":
        return _ContainerWord(value=self.value[start:end])


def redpanda_broker(service: Service, member: Member, read: ReadFile) -> Broker:
    """The broker of such a service, by its flags, its variables and a redpanda.yaml that it mounts."""
    environment = {name: v.value.value if v.value is not None else None for name, v in service.environment.items()}
    written: dict[str, DeclaredValue] = {
        name: ComposeValue(variable=name, text=v.value)
        for name, v in service.environment.items()
        if v.value is not None
    }
    flags = _flags(service) or {}
    values: dict[str, str | None] = {}
    for flag, words in flags.items():
        if words and flag != "--set":
            written[flag] = comma_list(flag, [word.text for word in words])
            values[flag] = None if any(word.is_open for word in words) else written[flag].value
    image = parse_image(member.image)
    path = next((values[flag] for flag in ("--config", "--redpanda-cfg") if flag in values), _FILE_PATH)
    mounted = None if path is None else mounted_file(service, path, read)
    made = read_redpanda_yaml(mounted.source) if mounted is not None and mounted.source is not None else None
    config_file = None
    if mounted is not None and made is not None:
        config_file = ConfigFile(name=FILE, where=mounted.where)
    elif path == _FILE_PATH and mounted is None and not _writes_file(service):
        made = redpanda.packaged(image), {}
    file, declared = made or (UNKNOWN_FILE, {})
    over, over_declared = _set_options(flags.get("--set", ()))
    config = redpanda_config(image, values, environment, {**file, **over})
    return Broker(
        member=member,
        config=config,
        declared={**written, **declared, **over_declared},
        config_file=config_file,
        is_partial=made is None and any(config.is_unknown(name) for name in UNKNOWN_FILE),
    )


def starts_redpanda(service: Service) -> bool:
    """Whether a service of Redpanda's image starts a broker, and not one of the image's tools."""
    if service.entrypoint is None and service.command is None:
        return True
    return _flags(service) is not None


def container_flags(container: "Container") -> Mapping[str, str | None] | None:
    """The flags with which a container starts Redpanda; None where it starts something else.

    Where it waits for a script, they are those of the script.
    """
    from netdiag.engine.testcontainers import awaited_script, redpanda_start  # a check of files has no containers

    argv = (*container.entrypoint, *container.command)
    if awaited_script(container) is not None:
        argv = redpanda_start(container.start_script) or ("redpanda", "start")
    by_image = bool(argv) and argv[0].rpartition("/")[2] == "entrypoint.sh"
    line = [_ContainerWord(value=word) for word in (argv[1:] if by_image else argv)]
    flags = redpanda.start_flags([line], by_image=by_image)
    if flags is None:
        return None
    return {name: ",".join(word.value for word in words) for name, words in flags.items() if words}


def container_file(container: "Container") -> Mapping[str, Setting]:
    """The settings of the redpanda.yaml that a container waits for; of any other they are unknown."""
    made = read_redpanda_yaml(Source(_FILE_PATH, container.config_file)) if container.config_file else None
    return UNKNOWN_FILE if made is None else made[0]


def redpanda_config(
    image: ImageReference,
    flags: Mapping[str, str | None],
    environment: Mapping[str, str | None],
    file: Mapping[str, Setting] | None = None,
) -> BrokerConfig:
    """The configuration of a node with these flags and variables."""
    return BrokerConfig(
        family=ImageFamily.REDPANDA,
        version=None,
        settings=redpanda.settings(image, flags, environment, file),
        is_newest=image.is_newest,
    )


def with_clusters(brokers: Sequence[Broker]) -> tuple[Broker, ...]:
    """The brokers, each Redpanda among them with its cluster and an id.

    Nodes belong together that name each other as seeds. A node without an id is given one when it joins; which
    one nobody knows, so the ids here only tell the nodes apart.
    """
    nodes = [broker for broker in brokers if broker.config.mode is Mode.REDPANDA]
    if not nodes:
        return tuple(brokers)
    group = {node.name: node.name for node in nodes}
    for node in nodes:
        for seed in redpanda.hosts(node.config.value(redpanda.SEEDS)):
            called = [n for n in nodes if seed in n.member.all_names or seed in n.member.hostnames]
            # Of nodes of several projects with that name, its own project's is meant.
            for other in [n for n in called if n.member.project == node.member.project] or called:
                group = {name: group[node.name] if g == group[other.name] else g for name, g in group.items()}
    taken = {node.config.node_id for node in nodes}
    free = iter(number for number in range(2 * len(nodes)) if number not in taken)
    numbered = {
        node.name: _cluster_member(node, group[node.name], None if node.config.node_id is not None else next(free))
        for node in nodes
    }
    return tuple(numbered.get(broker.name, broker) for broker in brokers)


def read_redpanda_yaml(source: Source) -> ParsedSettings | None:
    """The settings of a file of one's own, with the values behind them; None where it cannot be read."""
    fields = _document(source)
    if fields is None:
        return None

    def place(start: int, end: int) -> Text:
        return assemble(source, [(source.text[start:end], start, end)], start, end)

    sections = {name: _fields(node) for name, node in fields.items()}
    own = sections.get("redpanda", {})
    ports = {
        node.value
        for section in sections.values()
        for node in _scalars(section, "port")
        if number_of(node.value) is not None
    }
    settings, declared = _addresses(own, place, FILE)
    default = Setting(
        name=redpanda.LISTENERS, value="127.0.0.1:9092", variable=None, provenance=Provenance.IMAGE_DEFAULT
    )
    settings.setdefault(redpanda.LISTENERS, default)
    settings[redpanda.OTHER_PORTS] = Setting(name=redpanda.OTHER_PORTS, value=",".join(sorted(ports)), variable=None)
    settings[redpanda.PROTOCOLS] = Setting(name=redpanda.PROTOCOLS, value=_protocols(own), variable=None)
    return settings, declared


def settings_of_set_option(name: str, value: str, place: TextAt) -> ParsedSettings:
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


def _flags(service: Service) -> Mapping[str, tuple[Word, ...]] | None:
    return redpanda.start_flags(command_lines(service), by_image=service.entrypoint is None)


def _writes_file(service: Service) -> bool:
    """Whether a script makes the file before it starts the broker, so that only a run shows what is in it."""
    for line in command_lines(service):
        words = [word.value for word in line]
        if "start" in words:
            continue
        if any(_FILE_PATH in word for word in words) or ("rpk" in words and "config" in words):
            return True
    return False


def _set_options(words: Sequence[Word]) -> ParsedSettings:
    """What `--set name=value` gives, the last of them winning."""
    settings: dict[str, Setting] = {}
    declared: dict[str, DeclaredValue] = {}
    for word in words:
        name, _, value = word.value.partition("=")
        found, values = settings_of_set_option(name, value, _text_at(word, len(name) + 1))
        settings |= found
        declared |= values
    return settings, declared


def _text_at(word: Word, shift: int) -> TextAt:
    return lambda start, end: word.text.slice(shift + start, shift + end)


def _cluster_member(broker: Broker, cluster: str, number: int | None) -> Broker:
    config = replace(broker.config, cluster_id=f"the cluster of {cluster}")
    if number is not None:
        name = redpanda.NODE_ID
        assigned = Setting(name=name, value=str(number), variable=None, provenance=Provenance.IMAGE_DEFAULT)
        config = replace(config, settings={**config.settings, name: assigned})
    return replace(broker, config=config)


def _document(source: Source) -> dict[str, Node] | None:
    try:
        documents = load_nodes(source)
    except ComposeError:
        return None
    return _fields(documents[0]) if len(documents) == 1 and isinstance(documents[0], MappingNode) else None


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


def _scalars(fields: Mapping[str, Node], name: str) -> Iterator[ScalarNode]:
    """The scalars under a key in a section or one level below it."""
    for node in fields.values():
        for item in _items(node, needs=name):
            yield item[name]


def _items(node: Node | None, needs: str = "address") -> list[dict[str, ScalarNode]]:
    """The mappings of a list, or the one mapping, with their scalars; those without the needed field are left out."""
    node = _target(node)
    nodes = [node] if isinstance(node, MappingNode) else _sequence(node)
    found = [{k: v for k, v in _fields(item).items() if isinstance(v, ScalarNode)} for item in nodes]
    return [item for item in found if not needs or needs in item]


def _sequence(node: Node | None) -> list[Node]:
    node = _target(node)
    return list(node.items[:_MOST_ITEMS]) if isinstance(node, SequenceNode) else []


def _addresses(fields: Mapping[str, Node], place: TextAt, file: str) -> ParsedSettings:
    settings: dict[str, Setting] = {}
    declared: dict[str, DeclaredValue] = {}
    for field, name in _ADDRESSES.items():
        items = _items(fields.get(field))
        if items:
            variable = f"{field} in {file}" if file == FILE else file
            declared[variable] = _address_list(variable, items, place)
            settings[name] = Setting(name=name, value=declared[variable].value, variable=variable)
    node_id = fields.get("node_id")
    if isinstance(node_id, ScalarNode):
        variable = f"node_id in {file}"
        text = place(*_unquoted_range(node_id))
        declared[variable] = ComposeValue(variable=variable, text=text)
        settings[redpanda.NODE_ID] = Setting(name=redpanda.NODE_ID, value=text.value, variable=variable)
    seeds = [_fields(_fields(item).get("host", item)) for item in _sequence(fields.get("seed_servers"))]
    hosts = [host.value for seed in seeds for host in [seed.get("address")] if isinstance(host, ScalarNode)]
    if hosts:
        settings[redpanda.SEEDS] = Setting(name=redpanda.SEEDS, value=",".join(hosts), variable=None)
    return settings, declared


def _address_list(variable: str, items: list[dict[str, ScalarNode]], place: TextAt) -> DeclaredValue:
    """The addresses as one list in the spelling of the flags, whose parts point into the file."""
    value = ""
    pieces: list[tuple[int, Text]] = []
    for item in items:
        value += "," if value else ""
        for field, before, after in (("name", "", "://"), ("address", "", ""), ("port", ":", "")):
            node = item.get(field)
            if node is None or not node.value:
                continue
            text = place(*_unquoted_range(node))
            value += before
            pieces.append((len(value), text))
            value += text.value + after
        if item.get("authentication_method") is not None:
            value += f"|{item['authentication_method'].value}"
    return ScatteredValue(variable=variable, value=value, pieces=pieces)


def _unquoted_range(node: ScalarNode) -> tuple[int, int]:
    """The characters of a scalar without its quotes."""
    quoted = node.style in ("'", '"')
    return (node.start + 1, node.end - 1) if quoted else (node.start, node.end)


def _protocols(fields: Mapping[str, Node]) -> str:
    """The listeners that speak TLS, as name=SSL."""
    found = []
    for item in _items(fields.get("kafka_api_tls"), needs=""):
        enabled = item.get("enabled")
        if enabled is not None and enabled.value == "true":
            name = item["name"].value if "name" in item else ""
            found.append(f"{name or redpanda.UNNAMED}=SSL")
    return ",".join(found)
