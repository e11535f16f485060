"""Redpanda as a broker of a deployment: its flags with their places, its node ids and who forms one cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from netdiag.compose.project import Service
from netdiag.deployment.command_line import Word, command_lines
from netdiag.deployment.member import Broker, ConfigFile, Declared, Member
from netdiag.deployment.mounts import Read, mounted_file
from netdiag.deployment.redpanda_file import FILE, Made, Place, read_redpanda_yaml, set_values
from netdiag.deployment.written import ComposeValue, listed, location
from netdiag.engine.container import Container
from netdiag.kafka.broker_config import BrokerConfig, Mode
from netdiag.kafka.images import redpanda
from netdiag.kafka.images.reference import ImageFamily, ImageReference, parse_image
from netdiag.kafka.images.settings import Provenance, Setting

_FILE = "/etc/redpanda/redpanda.yaml"
# What the file of a running container says cannot be told: it may be mounted over.
UNSEEN_FILE = {
    name: Setting(name=name, value=None, variable=None) for name in (redpanda.LISTENERS, redpanda.ADVERTISED)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A word of a container's command, which is in force as it stands."""

    value: str
    is_open: bool = False

    def slice(self, start: int, end: int) -> "_Plain":
        return _Plain(value=self.value[start:end])


def starts_redpanda(service: Service) -> bool:
    """Whether a service of Redpanda's image starts a broker, and not one of the image's tools."""
    if service.entrypoint is None and service.command is None:
        return True
    return _flags(service) is not None


def container_flags(container: Container) -> Mapping[str, str | None] | None:
    """The flags with which a container starts Redpanda; None where it starts something else."""
    argv = (*container.entrypoint, *container.command)
    by_image = bool(argv) and argv[0].rpartition("/")[2] == "entrypoint.sh"
    line = [_Plain(value=word) for word in (argv[1:] if by_image else argv)]
    flags = redpanda.start_flags([line], by_image=by_image)
    if flags is None:
        return None
    return {name: ",".join(word.value for word in words) for name, words in flags.items() if words}


def redpanda_broker(service: Service, member: Member, read: Read) -> Broker:
    """The broker of such a service, by its flags, its variables and a redpanda.yaml that it mounts."""
    environment = {name: v.value.value if v.value is not None else None for name, v in service.environment.items()}
    written: dict[str, Declared] = {
        name: ComposeValue(variable=name, text=v.value)
        for name, v in service.environment.items()
        if v.value is not None
    }
    flags = _flags(service) or {}
    values: dict[str, str | None] = {}
    for flag, words in flags.items():
        if words and flag != "--set":
            written[flag] = listed(flag, [word.text for word in words])
            values[flag] = None if any(word.is_open for word in words) else written[flag].value
    image = parse_image(member.image)
    path = next((values[flag] for flag in ("--config", "--redpanda-cfg") if flag in values), _FILE)
    mounted = None if path is None else mounted_file(service, path, read)
    made = read_redpanda_yaml(mounted.source) if mounted is not None and mounted.source is not None else None
    config_file = None
    if mounted is not None and made is not None:
        config_file = ConfigFile(name=FILE, where=location(mounted.volume.span))
    elif path == _FILE and mounted is None and not _writes_file(service):
        made = redpanda.packaged(image), {}
    file, declared = made or (UNSEEN_FILE, {})
    over, over_declared = _set(flags.get("--set", ()))
    config = redpanda_config(image, values, environment, {**file, **over})
    return Broker(
        member=member,
        config=config,
        declared={**written, **declared, **over_declared},
        config_file=config_file,
        is_partial=made is None and any(config.is_unknown(name) for name in UNSEEN_FILE),
    )


def _writes_file(service: Service) -> bool:
    """Whether a script makes the file before it starts the broker, so that only a run shows what is in it."""
    for line in command_lines(service):
        words = [word.value for word in line]
        if "start" in words:
            continue
        if any(_FILE in word for word in words) or ("rpk" in words and "config" in words):
            return True
    return False


def _set(words: Sequence[Word]) -> Made:
    """What `--set name=value` gives, the last of them winning."""
    settings: dict[str, Setting] = {}
    declared: dict[str, Declared] = {}
    for word in words:
        name, _, value = word.value.partition("=")
        found, values = set_values(name, value, _place_in(word, len(name) + 1))
        settings |= found
        declared |= values
    return settings, declared


def _place_in(word: Word, shift: int) -> Place:
    return lambda start, end: word.text.slice(shift + start, shift + end)


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


def clustered(brokers: Sequence[Broker]) -> tuple[Broker, ...]:
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
            for other in nodes:
                if seed in other.member.all_names or seed in other.member.hostnames:
                    group = {name: group[node.name] if g == group[other.name] else g for name, g in group.items()}
    taken = {node.config.node_id for node in nodes}
    free = iter(number for number in range(2 * len(nodes)) if number not in taken)
    numbered = {
        node.name: _node(node, group[node.name], None if node.config.node_id is not None else next(free))
        for node in nodes
    }
    return tuple(numbered.get(broker.name, broker) for broker in brokers)


def _node(broker: Broker, cluster: str, number: int | None) -> Broker:
    config = replace(broker.config, cluster_id=f"the cluster of {cluster}")
    if number is not None:
        name = redpanda.NODE_ID
        assigned = Setting(name=name, value=str(number), variable=None, provenance=Provenance.IMAGE_DEFAULT)
        config = replace(config, settings={**config.settings, name: assigned})
    return replace(broker, config=config)


def _flags(service: Service) -> Mapping[str, tuple[Word, ...]] | None:
    return redpanda.start_flags(command_lines(service), by_image=service.entrypoint is None)
