"""Which services answer HTTP beside the brokers: by their image and variables, or by the worker's file they start with.

`connect-distributed` and `connect-mirror-maker` read one properties file and no variables.
"""

import posixpath
from collections.abc import Iterator
from itertools import islice

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
)
from netdiag.patterns import regex
from netdiag.values import dataclass

_SECRET = regex(r"(?i)password|jaas|secret|token|credential")
_LARGEST_FILE = 64 * 1024
_URL = regex(
    r"(?i)(?<![\w+.-])(?P<scheme>https?)://(?:[^\s/@,]{0,200}@)?(?P<host>[a-z0-9_][\w.-]{0,250}):(?P<port>\d{1,5})"
)
_MOST_URLS = 20
_URL_VARIABLE = regex(r"SCHEMA_?REGISTRY|CONNECT|KSQL|KAFKA_?REST|REST_?PROXY")
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
    if starts_other_program(" ".join(word.value for line in lines for word in line)):
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
    config = rest_config(service.image.value if service.image else "", environment)
    if config is None or (service.lacks_env_file and config.service is not RestService.CONNECT):
        return None
    shown = {name: value for name, value in declared.items() if not _SECRET.search(name)}
    return RestNeighbour(member=member, config=config, declared=shown)


def url_clients(service: Service, member: Member) -> Iterator[KafkaClient]:
    """The URLs of such services that a service is told in its variables."""
    for name, variable in service.environment.items():
        text = variable.value
        if text is None or "://" not in text.value or not _is_url_variable(name):
            continue
        addresses = tuple(
            BootstrapAddress(
                host=match["host"],
                port=int(match["port"]),
                start=match.start("host"),
                end=match.end("port"),
                scheme=match["scheme"].lower(),
            )
            for match in islice(_URL.finditer(text.value), _MOST_URLS)
            if 0 < int(match["port"]) < 65536
        )
        if addresses:
            yield KafkaClient(
                member=member, declared=ComposeValue(variable=name, text=text), setting=name, bootstraps=addresses
            )


def _is_url_variable(name: str) -> bool:
    return _URL_VARIABLE.search(name.upper()) is not None and _NO_URL_VARIABLE.search(name.upper()) is None


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
