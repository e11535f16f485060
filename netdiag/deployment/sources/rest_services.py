"""Which services answer HTTP beside the brokers: by their image and variables, or by the worker's file they start with.

`connect-distributed` and `connect-mirror-maker` read one properties file and no variables.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from netdiag.compose.positions import Text
from netdiag.compose.project import Service
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.deployment import (
    BootstrapAddress,
    Broker,
    DeclaredValue,
    KafkaClient,
    Member,
    RestNeighbour,
)
from netdiag.deployment.sources.client_settings import FileContent, client_files, no_content
from netdiag.deployment.sources.compose_text import ComposeValue
from netdiag.deployment.sources.images import built_service
from netdiag.deployment.sources.startup import Line, command_lines, mounted_file, read_properties
from netdiag.kafka.images.settings import Setting
from netdiag.kafka.rest_services import (
    CONNECT_COMMAND,
    MIRROR_MAKER_COMMAND,
    RestService,
    is_oauth_url,
    plain_name,
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
_MOST_IN_DOCUMENT = 200
# Deeper mappings on one line than anybody writes.
_DEEPEST = 50
# Kafdrop takes its options as a variable.
_URL_VARIABLE = regex(r"SCHEMA_?REGISTRY|CONNECT|KSQL|KAFKA_?REST|REST_?PROXY|CMD_ARGS")
# The same among the keys of a document, where connections are no Connect.
_URL_KEY = regex(r"SCHEMA_?REGISTRY|(?:\A|_|KAFKA)CONNECT(?:\Z|_)|KSQL|KAFKA_?REST|REST_?PROXY")
# A key of YAML, JSON or a properties file at the beginning of its line, and what a line may have behind it.
_KEY = regex(r"(?P<indent>[ \t]{0,200}(?:-[ \t]{1,20}){0,5})[\"']?(?P<key>[\w.-]{1,100})[\"']?[ \t]*(?::(?=\s|\Z)|=)")
_FLOW = regex(r"(?P<opens>[{\[])|(?P<closes>[}\]])|(?P<key>[\w.-]{1,100})[\"']?[ \t]*:[ \t]")
_LIST_INDENT = regex(r"[ \t]{0,200}")
_COMMENT = regex(r"[ \t]*(?:#|//|\Z)")
_REMARK = regex(r"[ \t]#")
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
    config = rest_config(service.image.value if service.image else "", with_assigned(environment, command), command)
    if config is None or (service.lacks_env_file and config.service is not RestService.CONNECT):
        return None
    shown = {name: value for name, value in declared.items() if not _is_secret(name)}
    return RestNeighbour(member=member, config=config, declared=shown)


def url_clients(
    service: Service, member: Member, neighbour: RestNeighbour | None = None, file: FileContent = no_content
) -> Iterator[KafkaClient]:
    """The URLs of such services that a service is told: by its variables, its command, the files that it reads.

    What a file says, variables and commands may replace.
    """
    found = list(_urls_told(service, member, neighbour))
    yield from found
    kinds = {is_oauth_url(one.setting) for one in found}
    for name, text in client_files(service, member, file):
        for one in _urls_in_document(ComposeValue(variable=name, text=text), member):
            if is_oauth_url(one.setting) not in kinds:
                yield one


def broker_url_clients(broker: Broker) -> Iterator[KafkaClient]:
    """The URLs of a provider of tokens, and of its keys, that a broker is told."""
    return told_urls({name: value for name, value in broker.declared.items() if is_oauth_url(name)}, broker.member)


def _urls_told(service: Service, member: Member, neighbour: RestNeighbour | None) -> Iterator[KafkaClient]:
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
    """The URLs of such services in the values that configure a member; one that has lines is a document."""
    for name, value in declared.items():
        if "://" not in value.value:
            continue
        if "\n" in value.value.strip():
            yield from _urls_in_document(value, member)
        if not _tells_url(name):
            continue
        matches = islice(_URL.finditer(value.value), _MOST_URLS)
        addresses = tuple(found for match in matches if (found := _address(match, value)))
        if addresses:
            setting = f"the URL in {name}" if _WHITESPACE.search(value.value.strip()) else name
            yield KafkaClient(member=member, declared=value, setting=setting, bootstraps=addresses)


def _urls_in_document(document: DeclaredValue, member: Member) -> Iterator[KafkaClient]:
    """The URLs in a document whose keys say that they are for such services, each with these keys."""
    text = document.value
    if len(text) > _LARGEST_FILE:
        return
    above: list[tuple[int, str]] = []
    position, left = 0, _MOST_IN_DOCUMENT
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if _COMMENT.match(line):
            continue
        key = _KEY.match(line)
        # A list may stand as far to the left as its key.
        depth = len(key["indent"]) if key else _end(_LIST_INDENT, line) + 1
        while above and above[-1][0] >= depth:
            above.pop()
        if key:
            above.append((depth, key["key"]))
        if "://" not in line:
            continue
        remark = _REMARK.search(line)
        end = start + remark.start() if remark else position
        flow = _FlowKeys(line, key.end() if key else 0)
        for match in islice(_URL.finditer(text, start, end), left):
            left -= 1
            setting = _telling([*(name for _, name in above), *flow.before(match.start() - start)])
            address = _address(match, document)
            if setting and address is not None:
                setting = f"{setting} in {document.variable}"
                yield KafkaClient(member=member, declared=document, setting=setting, bootstraps=(address,))


class _FlowKeys:
    """The keys of the mappings that are open at a place of one line, looked for from left to right."""

    def __init__(self, line: str, start: int) -> None:
        self._tokens = _FLOW.finditer(line, start)
        self._next = next(self._tokens, None)
        self._depth = 0
        self._keys: list[tuple[int, str]] = []

    def before(self, end: int) -> list[str]:
        """The keys that are open at `end`, which lies no further to the left than that of the last call."""
        while self._next is not None and self._next.end() <= end:
            self._depth += (self._next["opens"] is not None) - (self._next["closes"] is not None)
            while self._keys and self._keys[-1][0] >= self._depth + (self._next["opens"] is not None):
                self._keys.pop()
            if self._next["key"] and self._depth < _DEEPEST:
                self._keys.append((self._depth, self._next["key"]))
            self._next = next(self._tokens, None)
        return [key for _, key in self._keys]


def _telling(keys: Sequence[str]) -> str:
    """The last of these keys, behind the one that tells what its URL is for; "" where none does."""
    path = "_".join(map(plain_name, keys))
    if is_oauth_url(path):
        return keys[-1] if is_oauth_url(keys[-1]) else ".".join(keys[-3:])
    if _NO_URL_VARIABLE.search(path):
        return ""
    telling = [key for key in keys if _URL_KEY.search(plain_name(key))]
    if not telling:
        return ""
    return keys[-1] if telling[-1] == keys[-1] else f"{telling[-1]}.{keys[-1]}"


def _end(pattern: re.Pattern[str], line: str) -> int:
    match = pattern.match(line)
    return match.end() if match else 0


def _is_secret(name: str) -> bool:
    return _SECRET.search(name) is not None and not is_oauth_url(name)


def _address(match: re.Match[str], value: DeclaredValue) -> BootstrapAddress | None:
    """Host and port of a URL; None for one that holds a variable without a value."""
    scheme = match["scheme"].lower()
    port = int(match["port"] or _USUAL_PORT[scheme])
    if not 0 < port < 65536 or any(match.start() <= at <= match.end() for at, _ in value.blanks):
        return None
    end = match.end("port") if match["port"] else match.end("host")
    return BootstrapAddress(host=match["host"], port=port, start=match.start("host"), end=end, scheme=scheme)


def _tells_url(name: str) -> bool:
    if is_oauth_url(name):
        return True
    known = plain_name(name)
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
    source = None if mounted is None else mounted.content or mounted.source
    if mounted is None or source is None or len(mounted.data or b"") > _LARGEST_FILE:
        return None
    try:
        properties = read_properties(source)
    except UnicodeDecodeError:
        return None
    file = posixpath.basename(path)
    settings: dict[str, Setting] = {}
    declared: dict[str, DeclaredValue] = {}
    for name, text in properties.items():
        if not _is_secret(name):
            variable = f"{name} in {file}"
            settings[name] = Setting(name=name, value=text.value, variable=variable)
            declared[variable] = ComposeValue(variable=variable, text=text)
    config = rest_config_of_file(start.command, settings)
    return RestNeighbour(member=member, config=config, declared=declared) if config else None
