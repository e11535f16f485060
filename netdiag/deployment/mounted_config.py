"""A broker whose configuration is a properties file that the service mounts: which file is read, and what wins.

Sources: `KafkaDockerWrapper` of apache/kafka (the file of /mnt/shared/config with the variables behind it, so that they
win); Bitnami's `libkafka.sh` (a server.properties in KAFKA_MOUNTED_CONF_DIR, by default /bitnami/kafka/config, and no
variable is looked at); `kafka.Kafka` (a command that starts Kafka itself reads the file it names, and `--override`).
"""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from netdiag.compose.positions import Source, Text
from netdiag.compose.project import Service
from netdiag.deployment.command_line import Line, command_lines, words_of
from netdiag.deployment.member import Broker, ConfigFile, Declared
from netdiag.deployment.mounts import Read, mounted_file
from netdiag.deployment.properties_file import read_properties
from netdiag.deployment.written import ComposeValue, location
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import Provenance, Setting

# Where images that start from a relative path stand.
_HOME = "/opt/kafka"
_LISTS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
_LISTENER_VARIABLE = re.compile(
    "KAFKA_(?:CFG_)?(?:ADVERTISED_LISTENERS|LISTENERS|LISTENER_SECURITY_PROTOCOL_MAP|INTER_BROKER_LISTENER_NAME"
    "|CONTROLLER_LISTENER_NAMES|CONTROLLER_QUORUM_VOTERS|PROCESS_ROLES|NODE_ID|BROKER_ID|ZOOKEEPER_CONNECT)"
)
_EDITORS = frozenset({"sed", "envsubst", "configure", "tee", "awk", "perl", "python", "python3", "cp", "mv", "printf"})
_SECRET = ("password", "jaas", "secret", "token", "credential")
# Kafka's own file has 7 KiB.
_LARGEST = 64 * 1024


def with_mounted_file(broker: Broker, service: Service, read: Read) -> Broker:
    """The broker as its mounted file and its variables make it; of one whose file cannot be read little is known."""
    lines = command_lines(service)
    started = next((line for line in lines if _started(line)), None)
    path = _path_of(broker, started)
    mounted = mounted_file(service, path, read) if path is not None else None
    if path is None or mounted is None:
        return broker
    name = posixpath.basename(path)
    over, values = _overrides(started) if started is not None else ({}, {})
    shadows = broker.config.family is ImageFamily.BITNAMI or started is not None
    if not shadows:
        over = {n: s for n, s in broker.config.settings.items() if s.provenance is not Provenance.IMAGE_DEFAULT}
    properties = None if _is_rewritten(lines) else _properties(mounted.source)
    settings, declared = _unread() if properties is None else _file_settings(properties, name)
    used = {word.value for line in words_of(service) for word in line}
    variables = tuple(v for v in broker.declared if _LISTENER_VARIABLE.fullmatch(v) and not any(v in w for w in used))
    replaced = {n: s.variable for n, s in over.items() if s.variable in broker.declared and n in (properties or ())}
    return replace(
        broker,
        config=replace(broker.config, settings={**settings, **over}, refusal=None),
        declared={**broker.declared, **declared, **values},
        config_file=ConfigFile(
            name=name,
            where=location(mounted.volume.span),
            unused=variables if shadows and len(lines) <= 1 else (),
            replaced={n: v for n, v in replaced.items() if v is not None and not shadows},
        ),
        is_partial=properties is None,
    )


def with_unknown_file(broker: Broker) -> Broker:
    """The broker of which a file that nobody here sees may say anything about listeners."""
    settings, _ = _unread()
    return replace(broker, config=replace(broker.config, settings=settings, refusal=None), is_partial=True)


def _unread() -> tuple[dict[str, Setting], dict[str, Declared]]:
    """What is known of a file that cannot be read: that it may say anything."""
    return {name: Setting(name=name, value=None, variable=None) for name in _LISTS}, {}


def _is_rewritten(lines: tuple[Line, ...]) -> bool:
    """Whether a command before the start may change the file."""
    return any(posixpath.basename(word.value) in _EDITORS or ">" in word.value for line in lines for word in line)


def _path_of(broker: Broker, started: Line | None) -> str | None:
    """The path inside the container of the file that the broker is started with."""
    if started is not None:
        words = [word.value for word in started]
        behind = words[next(i for i, word in enumerate(words) if _is_start(word)) + 1 :]
        named = next((word for word in behind if not word.startswith("-") and "=" not in word), None)
        return None if named is None else posixpath.join(_HOME, named)
    match broker.config.family:
        case ImageFamily.APACHE:
            return "/mnt/shared/config/server.properties"
        case ImageFamily.BITNAMI:
            folder = broker.member.variables.get("KAFKA_MOUNTED_CONF_DIR", "/bitnami/kafka/config")
            return f"{folder}/server.properties"
        case _:
            return None


def _started(line: Line) -> bool:
    return any(_is_start(word.value) for word in line)


def _is_start(word: str) -> bool:
    return posixpath.basename(word) in ("kafka-server-start", "kafka-server-start.sh")


def _properties(source: Source | None) -> dict[str, Text] | None:
    if source is None or len(source.data) > _LARGEST:
        return None
    try:
        return read_properties(source)
    except UnicodeDecodeError:
        return None


def _file_settings(properties: Mapping[str, Text], file: str) -> tuple[dict[str, Setting], dict[str, Declared]]:
    settings: dict[str, Setting] = {}
    declared: dict[str, Declared] = {}
    for name, text in properties.items():
        if any(word in name for word in _SECRET):
            continue
        variable = f"{name} in {file}"
        settings[name] = Setting(name=name, value=text.value, variable=variable)
        declared[variable] = ComposeValue(variable=variable, text=text)
    return settings, declared


def _overrides(line: Line) -> tuple[dict[str, Setting], dict[str, Declared]]:
    """The `--override name=value` options of a start."""
    settings: dict[str, Setting] = {}
    declared: dict[str, Declared] = {}
    for option, word in pairwise(line):
        name, equals, value = word.value.partition("=")
        if option.value == "--override" and equals:
            variable = f"--override {name}"
            text = word.slice(len(name) + 1, len(word.value)).text
            settings[name] = Setting(name=name, value=None if word.is_open else value, variable=variable)
            declared[variable] = ComposeValue(variable=variable, text=text)
    return settings, declared
