"""Which services answer HTTP beside the brokers: by their image and variables, or by the worker's file they start with.

`connect-distributed` and `connect-mirror-maker` read one properties file and no variables.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from netdiag.compose.positions import Text
from netdiag.compose.project import Service
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.deployment import BootstrapAddress, DeclaredValue, KafkaClient, Member, RestNeighbour
from netdiag.deployment.sources.compose_text import ComposeValue
from netdiag.deployment.sources.images import built_service
from netdiag.deployment.sources.startup import Line, command_lines, mounted_file, read_properties
from netdiag.kafka.images.settings import Setting
from netdiag.kafka.rest_services import (
    CONNECT_COMMAND,
    MIRROR_MAKER_COMMAND,
    RestService,
    rest_config,
    rest_config_of_file,
    starts_other_program,
    with_assigned,
)
from netdiag.patterns import regex
from netdiag.values import dataclass

_SECRET = regex(r"(?i)password|jaas|secret|token|credential")
_LARGEST_FILE = 64 * 1024
# Without a port it is that of the scheme. What only begins with a host or a port is no URL: one that a variable or a
# character outside of host names goes on with.
_URL = regex(
    r"(?i)(?<![\w+.-])(?P<scheme>https?)://(?:[^\s/@,]{0,200}@)?"
    r"(?P<host>[a-z0-9_](?:[\w.-]{0,250}\w)?)(?::(?P<port>\d{1,5}))?(?=[\s/?#,;|&'\"`()\[\]{}<>\\]|\Z)"
)
_URL_OPTION = regex(
    r"(?<![\w.-])(?:--)?(?P<name>(?:[a-z]{1,20}\.){0,4}(?:schema\.registry|ksql(?:\.[a-z]{1,20})?|connect)\.url"
    r"|schemaregistry\.connect)=[\"']?(?=https?://)"
)
_WHITESPACE = regex(r"\s")
_USUAL_PORT = {"http": 80, "https": 443}
_MOST_URLS = 20
# AKHQ takes its file as a variable, and Kafdrop its options.
_URL_VARIABLE = regex(r"SCHEMA_?REGISTRY|CONNECT|KSQL|KAFKA_?REST|REST_?PROXY|AKHQ_CONFIGURATION|CMD_ARGS")
# What a service tells others, or what only browsers use.
_NO_URL_VARIABLE = regex(r"LISTENERS?$|ADVERTISED|PROXY_URL$|OAUTH|TOKEN|JAAS|PASSWORD|SECRET|ORIGIN|WAIT")
# Where images that start from a relative path stand.
_KAFKA_HOME = "/opt/kafka"


def declared_neighbour(service: Service, member: Member, read: ReadFile) -> RestNeighbour | None:
    """What a service tells its neighbours; None for one that is no such service."""
    lines = command_lines(service)
    started = next((found for line in lines if (found := _start(line))), None)
    if started is not None:
        return _by_file(service, member, started, read)
    command = " ".join(word.value for line in lines for word in line)
    if starts_other_program(command):
        return None
    service = built_service(service, read).service
    declared = {
        name: ComposeValue(variable=name, text=variable.value)
        for name, variable in service.environment.items()
        if variable.value is not None
    }
    environment = {
        name: declared[name].value if name in declared and not declared[name].blanks else None
        for name in service.environment
    }
    config = rest_config(service.image.value if service.image else "", with_assigned(environment, command))
    if config is None or (service.lacks_env_file and config.service is not RestService.CONNECT):
        return None
    shown = {name: value for name, value in declared.items() if not _SECRET.search(name)}
    return RestNeighbour(member=member, config=config, declared=shown)


def url_clients(service: Service, member: Member, neighbour: RestNeighbour | None = None) -> Iterator[KafkaClient]:
    """The URLs of such services that a service is told: by its variables, its command, the file it starts with."""
    declared: dict[str, DeclaredValue] = {
        name: ComposeValue(variable=name, text=variable.value)
        for name, variable in service.environment.items()
        if variable.value is not None
    }
    if neighbour is not None:
        declared = {**neighbour.declared, **declared}
    yield from told_urls(declared, member)
    for part, command in (("entrypoint", service.entrypoint), ("command", service.command)):
        for word in (command,) if isinstance(command, Text) else command or ():
            value = ComposeValue(variable=part, text=word)
            for option in islice(_URL_OPTION.finditer(word.value), _MOST_URLS):
                match = _URL.match(word.value, option.end())
                address = _address(match, value) if match else None
                if address is not None:
                    setting = f"{option['name']} in {part}"
                    yield KafkaClient(member=member, declared=value, setting=setting, bootstraps=(address,))


def told_urls(declared: Mapping[str, DeclaredValue], member: Member) -> Iterator[KafkaClient]:
    """The URLs of such services in the values that configure a member."""
    for name, value in declared.items():
        if "://" not in value.value or not _tells_url(name):
            continue
        matches = islice(_URL.finditer(value.value), _MOST_URLS)
        addresses = tuple(found for match in matches if (found := _address(match, value)))
        if addresses:
            setting = f"the URL in {name}" if _WHITESPACE.search(value.value.strip()) else name
            yield KafkaClient(member=member, declared=value, setting=setting, bootstraps=addresses)


def _address(match: re.Match[str], value: DeclaredValue) -> BootstrapAddress | None:
    """Host and port of a URL; None for one that holds a variable without a value."""
    scheme = match["scheme"].lower()
    port = int(match["port"] or _USUAL_PORT[scheme])
    if not 0 < port < 65536 or any(match.start() <= at <= match.end() for at, _ in value.blanks):
        return None
    end = match.end("port") if match["port"] else match.end("host")
    return BootstrapAddress(host=match["host"], port=port, start=match.start("host"), end=end, scheme=scheme)


def _tells_url(name: str) -> bool:
    known = name.partition(" in ")[0].upper().replace(".", "_")
    return _URL_VARIABLE.search(known) is not None and _NO_URL_VARIABLE.search(known) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """A program, and the properties file that it is started with."""

    command: str
    file: str


def _start(line: Line) -> _Start | None:
    words = [word.value for word in line]
    for index, word in enumerate(words):
        command = posixpath.basename(word).removesuffix(".sh")
        file = next((one for one in words[index + 1 :] if not one.startswith("-")), "")
        if command in (CONNECT_COMMAND, MIRROR_MAKER_COMMAND) and file:
            return _Start(command=command, file=file)
    return None


def _by_file(service: Service, member: Member, start: _Start, read: ReadFile) -> RestNeighbour | None:
    path = start.file
    mounted = mounted_file(service, posixpath.join(_KAFKA_HOME, path), read)
    if mounted is None or mounted.source is None or len(mounted.source.data) > _LARGEST_FILE:
        return None
    try:
        properties = read_properties(mounted.source)
    except UnicodeDecodeError:
        return None
    file = posixpath.basename(path)
    settings: dict[str, Setting] = {}
    declared: dict[str, DeclaredValue] = {}
    for name, text in properties.items():
        if not _SECRET.search(name):
            variable = f"{name} in {file}"
            settings[name] = Setting(name=name, value=text.value, variable=variable)
            declared[variable] = ComposeValue(variable=variable, text=text)
    config = rest_config_of_file(start.command, settings)
    return RestNeighbour(member=member, config=config, declared=declared) if config else None
