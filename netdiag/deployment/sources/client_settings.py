"""Which members are Kafka clients: the bootstrap addresses in their variables, commands, health checks and files.

A list is `host:port` by commas, with or without a scheme, quotes and brackets: what Kafka's clients, frameworks and
JSON or YAML documents accept between them. What is not such a list as a whole is none. Whether a list is for one of
the brokers at hand is not decided here.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice

from netdiag.compose.positions import Text
from netdiag.compose.project import Command, Service
from netdiag.deployment.model.deployment import BootstrapAddress, DeclaredValue, KafkaClient, Member
from netdiag.deployment.sources.compose_text import ComposeValue
from netdiag.kafka.listeners import is_loopback
from netdiag.patterns import regex
from netdiag.values import dataclass

FileContent = Callable[[str], Text | None]
# More addresses than any client is given; what follows would only cost time.
MOST = 100
_ITEM = regex(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9_.+-]{0,62})://)?"
    r"(?:\[(?P<number>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?))"
    r":(?P<port>\d{1,5})(?![\w:@])"
)
# What may stand before the first address; a bracket that holds a number is part of that address.
OPENING = r"(?:\[(?![0-9A-Fa-f:.]{2,45}\])|[\s\"'\\]){0,8}"
_OPEN = regex(r"\s*" + OPENING)
_CLOSE = regex(r"[\s\"'\\]*,?\s*\]?\s*")
_BETWEEN = regex(r"[ \t\"'\\]*,[\s\"'\\]*|[ \t\"']*\n[ \t]*-[ \t]+[\"']?")
_OTHER_SCHEMES = regex(
    r"(?i)https?|wss?|amqps?|mqtts?|rediss?|nats|ldaps?|jdbc|zk|tls|udp|unix|s?ftp|ssh|stomp|pulsar|postgres\w*|mysql"
    r"|mongodb|s3"
)
# How far apart the parts of one command are looked for, and how many addresses are taken from a script.
_COMMAND_REACH = 1000
_MOST_ADDRESSES = 200
_BLANK = r"(?:[ \t\0]|\\\r?\n)"
_OPTION = regex(
    r"(?i)(?<![\w./-])(?P<name>--?[\w.-]{0,80}?(?:bootstrap[._-]?servers?|broker-list|brokers?|kafka[._-]?servers?))"
    r"(?:=|" + _BLANK + r"{1,20})[\"']?"
)
_PROPERTY = regex(
    r"(?i)(?<![\w-])(?P<name>bootstrap[._-]?servers?|metadata\.broker\.list|brokers"
    r"|(?:\w{1,40}\.)?kafka(?:_franz)?\.(?:addresses|seed_brokers))=[\"']?"
)
_TOOL = regex(r"(?<![\w.-])(?:kafkacat|kcat|kafka-ready|kaf)(?=[ \t\0])")
_DASH_B = regex(r"(?:(?<=[ \t\0])|\A)-b[ \t\0]{0,9}[\"']?")
_COMMAND_END = regex(r"[|;&]|(?<!\\)\n")
_NETCAT = regex(
    r"(?<![\w.-])(?:nc|ncat|netcat)(?:[ \t\0]{1,9}-[A-Za-z]{1,9}(?:[ \t\0]{1,9}\d{1,5}(?=[ \t\0]{1,9}[A-Za-z]))?){0,9}"
    r"[ \t\0]{1,9}(?P<host>[A-Za-z0-9][\w.-]{0,250})[ \t\0:]{1,9}(?P<port>\d{1,5})(?!\w)"
)
_DEV_TCP = regex(r"/dev/tcp/(?P<host>[A-Za-z0-9][\w.-]{0,250})/(?P<port>\d{1,5})(?!\w)")
_WAIT_FOR = regex(r"(?:wait[-_]for(?:[-_]it)?(?:\.sh)?|(?<![\w-])--?wait)(?:=|[ \t\0]{1,9})[\"']?(?=[\w:/.-]*:\d)")
_CONTACT_IMAGE = regex(r"(?:^|/)(?:kcat|kafkacat|cp-kafkacat)(?:[:@]|$)")
_HAS_PROTOCOL = regex(r"(?i)security[._-]protocol=[\"']?(\w+)")
_HAS_CONFIG = regex(r"(?<![\w-])--?(?:(?:producer\.|consumer\.)?config|command-config|config-file|F)(?!\w)")
# Names that carry a bootstrap list across Connect, Schema Registry, ksqlDB, REST proxy, the web UIs and the
# usual application frameworks; counted over public compose files.
_HOST_WORDS = r"(?:_?(?:URLS?|URIS?|ADDR(?:ESS(?:ES)?)?|HOSTS?|SERVERS?|ENDPOINTS?|NODES|LIST))?"
_BOOTSTRAP_VARIABLE = regex(
    r"(?:.*_)?(?:(?:BOOTSTRAP_?(?:SERVERS?|BROKERS?)|BROKERS?_?CONNECT|KAFKA_BROKERS?" + _HOST_WORDS + r")"
    r"|KAFKA_?(?:HOSTS?|SERVERS?|URLS?|URIS?|ADDR(?:ESS(?:ES)?)?|ENDPOINTS?|NODES|SEEDS|SEED_BROKERS|BOOTSTRAP|PEERS))"
    r"|(?:.*_)?(?:BROKERS|BROKERS?_?LIST)|BROKERS?" + _HOST_WORDS
)
_RELATED = regex(r"KAFKA|BROKER|BOOTSTRAP|REDPANDA")
_NOT_CLIENTS = regex(r"CONTROLLER_QUORUM|LISTENER|ADVERTISED|VOTERS|ZOOKEEPER|ZK|INTER_BROKER|PROXY")
_WAITS = regex(r"(?:^|_)WAIT(?:_|$)|PRECONDITION")
_KEY = regex(
    r"(?i)(?:bootstrap[._-]?servers?|(?<![\w.-])brokers|(?:metadata[._-])?broker[._-]?list)[\"'\\]{0,4}[ \t]*[:=]\s*"
    r"(?:-[ \t]+)?" + OPENING
)
# The same in a file, whose keys mean Kafka by what stands above them, too.
_FILE_KEY = regex(
    r"(?i)(?:(?:bootstrap[._-]?(?:servers?|brokers?)|(?<![\w.-])(?:seed[._-]?)?brokers|metadata[._-]broker[._-]list)"
    r"|kafka(?!:\d)(?:[\w.\"'\]}: -]{0,40}\n(?:(?:[ \t-][^\n]{0,200}\n){0,4}?[ \t-]{1,40})?|[\w.]{0,20}\.)"
    r"(?:hosts|addresses|servers))"
    r"[\"'\\]{0,4}[ \t]*[:=]>?\s*(?:-[ \t]+)?" + OPENING
)
_FILE = regex(r"\S*/[^\s/]*\.(?:ya?ml|properties|conf|config|cfg|toml|json|hocon|ini|benthos)\Z")
_LARGEST_FILE = 64 * 1024
_MOST_FILES = 20
_KEY_START = regex(r"[\w.-]{0,100}\Z")
_COMMENT = regex(r"[ \t]*(?:#|//)")
_PROTOCOL_KEY = regex(r"(?i)security[._-]?protocol[\"'\\]{0,4}[ \t]*[:=][ \t]*[\"'\\]{0,4}(\w+)")
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def no_content(path: str) -> Text | None:
    """The content of no file."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandBootstrap:
    """Addresses that stand in word `word` of a command, with their places in that word.

    `tool` is the program that gets them, as far as it can be told; `configured` is true where a file is named that
    may say more. `protocol` is the security protocol that stands in the command.
    """

    word: int
    option: str
    addresses: tuple[BootstrapAddress, ...]
    waits: bool = False
    tool: str = ""
    protocol: str | None = None
    configured: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableBootstrap:
    """A list of addresses that a client is told by the text called `source`; the places are those in that text.

    `setting` is what a person changes. `certain` is false where only the addresses themselves make it likely that
    the list is for Kafka; `waits` is true where connecting is all that is done. `protocol` is the security protocol
    that is declared beside the list, None where none is or it cannot be told which one counts.
    """

    source: str
    setting: str
    addresses: tuple[BootstrapAddress, ...]
    certain: bool = True
    waits: bool = False
    protocol: str | None = None

    def client(self, member: Member, declared: DeclaredValue) -> KafkaClient:
        """The client that is told this list, `declared` being the text called `source`."""
        return KafkaClient(
            member=member,
            declared=declared,
            setting=self.setting,
            bootstraps=self.addresses,
            certain=self.certain,
            waits=self.waits,
            protocol=self.protocol,
        )


def declared_clients(
    service: Service, member: Member, *, active: bool = True, file: FileContent = no_content
) -> Iterator[KafkaClient]:
    """Every list that a service's container starts from.

    What a file says that is mounted, variables and commands may replace, so it counts where they name no list. `file`
    gives the content at a path of the container.
    """
    if _idles(service):
        return
    found = [c for c in _clients(service, member) if not c.waits and not _checks_itself(c)]
    yield from (replace(client, active=active) for client in found)
    if not any(client.certain for client in found):
        yield from (replace(client, active=active) for client in _clients_by_files(service, member, file))


def waiting_containers(service: Service, member: Member) -> Iterator[KafkaClient]:
    """Every address that a service's container waits for, and nothing more as far as can be seen."""
    return (client for client in _clients(service, member) if client.waits)


def metrics_reporters(service: Service, member: Member) -> Iterator[KafkaClient]:
    """The lists of a broker that reports its own metrics to a broker."""
    if "ConfluentMetricsReporter" not in member.variables.get("KAFKA_METRIC_REPORTERS", ""):
        return
    for client in _clients_by_variables(service, member):
        name = client.declared.variable.removeprefix("KAFKA_")
        if client.certain and name.startswith("CONFLUENT_METRICS_REPORTER_BOOTSTRAP"):
            yield client


def health_check_clients(service: Service, member: Member) -> Iterator[KafkaClient]:
    """The addresses that the health check of a broker asks."""
    return (client for client in _clients_by_commands(service, member) if client.declared.variable == "healthcheck")


def bootstraps_in_variables(variables: Mapping[str, str]) -> Iterator[VariableBootstrap]:
    """What the variables of a member tell it, in their order."""
    for name, value in variables.items():
        known = _normalized(name)
        if _NOT_CLIENTS.search(known):
            continue
        addresses = parse_bootstrap_list(value) if ":" in value else ()
        waits = _WAITS.search(known) is not None
        certain = is_bootstrap_variable(name)
        if addresses and (waits or certain or _RELATED.search(known)):
            protocol = None if waits else protocol_beside(name, variables)
            yield VariableBootstrap(
                source=name,
                setting=name,
                addresses=addresses,
                certain=certain,
                waits=waits and not certain,
                protocol=protocol,
            )
        elif certain and not addresses:
            yield from _host_and_port(name, value, variables)
        if not addresses:
            yield from _bootstraps_in_document(name, value)


def parse_bootstrap_list(text: str) -> tuple[BootstrapAddress, ...]:
    """The addresses of a text that is a list of them and nothing else; empty for any other."""
    found, end = bootstrap_list_at(text, _end_of_match(_OPEN, text, 0))
    return found if found and _end_of_match(_CLOSE, text, end) == len(text) else ()


def bootstrap_list_at(text: str, start: int) -> tuple[tuple[BootstrapAddress, ...], int]:
    """The addresses that begin at a position of a text, and where they end."""
    found: list[BootstrapAddress] = []
    position = end = start
    while (item := _ITEM.match(text, position)) is not None:
        address = _address(item)
        if address is None:
            return (), start
        end = item.end()
        if len(found) < MOST:
            found.append(address)
        between = _BETWEEN.match(text, end)
        if between is None:
            break
        position = between.end()
    return tuple(found), end


def bootstraps_in_command(words: Sequence[str], *, image: str = "") -> tuple[CommandBootstrap, ...]:
    """What the words of a command give to clients, each address once."""
    text = "\0".join(words)
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    found: list[CommandBootstrap] = []
    seen: set[tuple[str, int, bool]] = set()
    for given in sorted(
        islice(_bootstraps(text, _CONTACT_IMAGE.search(image) is not None), _MOST_ADDRESSES), key=_order
    ):
        new = tuple(a for a in given.addresses if (a.host, a.port, given.waits) not in seen)
        if not new or _is_comment(text, new[0].start):
            continue
        seen.update((a.host, a.port, given.waits) for a in new)
        word = bisect_right(starts, new[0].start) - 1
        shift = starts[word]
        moved = tuple(replace(a, start=a.start - shift, end=a.end - shift) for a in new)
        found.append(replace(given, word=word, addresses=moved))
    return tuple(found)


def is_bootstrap_variable(name: str) -> bool:
    """Whether a variable of this name tells a client where to start."""
    known = _normalized(name)
    return _BOOTSTRAP_VARIABLE.fullmatch(known) is not None and _NOT_CLIENTS.search(known) is None


def protocol_beside(name: str, variables: Mapping[str, str]) -> str | None:
    """The security protocol that the variables declare for the client of a bootstrap variable."""
    plain = {_normalized(other): value.strip().upper() for other, value in variables.items()}
    prefix = re.sub(r"(?:BOOTSTRAP_?)?(?:SERVERS?|BROKERS?)(?:_?LIST)?$", "", _normalized(name))
    middles = ("", "PROPERTIES_", "CLIENT_", "STREAMS_", "CONFIGURATION_")
    for middle in middles:
        value = plain.get(f"{prefix}{middle}SECURITY_PROTOCOL")
        if value in _PROTOCOLS:
            return value
    return None


def _idles(service: Service) -> bool:
    """Whether a service only keeps its container alive, whatever its variables say."""
    words = " ".join(text.value for part in (service.entrypoint, service.command) for text in _words(part))
    return words.startswith("sleep ") or words == "tail -f /dev/null"


def _commands(service: Service) -> tuple[tuple[str, Command], ...]:
    started = (("entrypoint", service.entrypoint), ("command", service.command))
    return started if service.healthcheck_disabled else (*started, ("healthcheck", service.healthcheck))


def _words(command: Command) -> tuple[Text, ...]:
    if command is None:
        return ()
    return (command,) if isinstance(command, Text) else command


def _clients(service: Service, member: Member) -> Iterator[KafkaClient]:
    yield from _clients_by_variables(service, member)
    yield from _clients_by_commands(service, member)


def _clients_by_variables(service: Service, member: Member) -> Iterator[KafkaClient]:
    for found in bootstraps_in_variables(member.variables):
        text = service.environment[found.source].value
        assert text is not None
        yield found.client(member, ComposeValue(variable=found.source, text=text))


def _clients_by_commands(service: Service, member: Member) -> Iterator[KafkaClient]:
    for part, command in _commands(service):
        words = _words(command)
        for found in bootstraps_in_command([text.value for text in words], image=member.image):
            yield KafkaClient(
                member=member,
                declared=ComposeValue(variable=part, text=words[found.word]),
                setting=f"{found.option} in {part}",
                bootstraps=found.addresses,
                waits=found.waits,
                protocol=found.protocol,
                tool=found.tool,
                configured=found.configured,
            )


def client_files(service: Service, member: Member, file: FileContent) -> Iterator[tuple[str, Text]]:
    """Name and text of the files that are mounted, or that the command or a variable names in a mounted folder."""
    named = [volume.target for volume in service.volumes] + [config.target for config in service.configs]
    named += [
        word for _, part in _commands(service)[:2] for text in _words(part) for word in re.split(r"[\s=]", text.value)
    ]
    named += list(member.variables.values())
    paths = dict.fromkeys(path for path in named if len(path) < 300 and _FILE.fullmatch(path))
    for path in islice(paths, _MOST_FILES):
        text = file(path)
        if text is None or len(text) > _LARGEST_FILE:
            continue
        yield path.rpartition("/")[2], text


def _clients_by_files(service: Service, member: Member, file: FileContent) -> Iterator[KafkaClient]:
    for name, text in client_files(service, member, file):
        for found in _bootstraps_in_document(name, text.value, _FILE_KEY):
            yield found.client(member, ComposeValue(variable=name, text=text))


def _checks_itself(client: KafkaClient) -> bool:
    """Whether this is a health check of its own container, which may be a broker in an image that nobody knows."""
    return client.declared.variable == "healthcheck" and all(
        is_loopback(address.host) or address.host == client.member.name for address in client.bootstraps
    )


def _normalized(name: str) -> str:
    """A name in capitals with single underscores, whichever way the framework spells its properties."""
    return re.sub(r"[_.:-]+", "_", name).upper()


def _host_and_port(name: str, value: str, variables: Mapping[str, str]) -> Iterator[VariableBootstrap]:
    """X_HOST and X_PORT, told apart."""
    other = re.sub(r"(?i)HOST$", lambda word: "port" if word[0].islower() else "PORT", name)
    port = variables.get(other, "").strip() if other != name else ""
    addresses = parse_bootstrap_list(f"{value}:{port}") if port.isdecimal() and len(port) <= 5 else ()
    if len(addresses) == 1 and not addresses[0].scheme:
        (only,) = addresses
        address = BootstrapAddress(host=only.host, port=only.port, start=only.start, end=len(value.rstrip()))
        # Some other server may be called so: only a broker's own name tells.
        yield VariableBootstrap(source=name, setting=f"{name} and {other}", addresses=(address,), certain=False)


def _bootstraps_in_document(name: str, value: str, key_of: re.Pattern[str] = _KEY) -> Iterator[VariableBootstrap]:
    keys = list(islice(key_of.finditer(value), _MOST_ADDRESSES))
    if not keys or value.lstrip().startswith(("http:", "https:")):
        return
    protocols = {word.upper() for word in _PROTOCOL_KEY.findall(value)}
    protocol = next(iter(protocols)) if len(protocols) == len(keys) == 1 else None
    for key in keys[:50]:
        line = value.rfind("\n", 0, key.start()) + 1
        addresses, _ = bootstrap_list_at(value, key.end())
        if not addresses or _COMMENT.match(value, line):
            continue
        before = _KEY_START.search(value, max(line, key.start() - 100), key.start())
        start = before.start() if before else key.start()
        words = [word for word in re.split(r"[\"'\\\s:=>\[\]]+", value[start : key.end()]) if word not in ("", "-")]
        called = words[-1] if key_of is _FILE_KEY else words[0]
        yield VariableBootstrap(
            source=name,
            setting=f"{called} in {name}",
            addresses=addresses,
            protocol=protocol if protocol in _PROTOCOLS else None,
        )


def _end_of_match(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _address(item: re.Match[str]) -> BootstrapAddress | None:
    scheme, port = item["scheme"] or "", int(item["port"])
    if _OTHER_SCHEMES.fullmatch(scheme) or not 0 < port < 65536:
        return None
    host = item["number"] or item["host"]
    return BootstrapAddress(host=host, port=port, start=item.start(), end=item.end(), scheme=scheme)


def _bootstraps(text: str, contacts: bool) -> Iterator[CommandBootstrap]:
    for pattern in (_OPTION, _PROPERTY):
        for match in pattern.finditer(text):
            yield from _client_option(text, match.end(), match["name"])
    tools = [match.end() for match in islice(_TOOL.finditer(text), _MOST_ADDRESSES)]
    for start in [*([0] if contacts else []), *tools]:
        end = _COMMAND_END.search(text, start, start + _COMMAND_REACH)
        option = _DASH_B.search(text, start, end.start() if end else start + _COMMAND_REACH)
        if option is not None:
            yield from _client_option(text, option.end(), "-b")
    for pattern in (_NETCAT, _DEV_TCP):
        for match in pattern.finditer(text):
            yield from _wait_option(match)
    for match in _WAIT_FOR.finditer(text):
        addresses, _ = bootstrap_list_at(text, match.end())
        if addresses:
            yield CommandBootstrap(word=0, option="wait", addresses=addresses[:1], waits=True)


def _client_option(text: str, position: int, option: str) -> Iterator[CommandBootstrap]:
    addresses, end = bootstrap_list_at(text, position)
    if not addresses:
        return
    near = max(0, position - _COMMAND_REACH)
    start = max((m.end() for m in _COMMAND_END.finditer(text, near, position)), default=near)
    stop = _COMMAND_END.search(text, end, end + _COMMAND_REACH)
    command = text[start : stop.start() if stop else end + _COMMAND_REACH]
    protocol = _HAS_PROTOCOL.search(command)
    yield CommandBootstrap(
        word=0,
        option=option,
        addresses=addresses,
        tool=_tool(text[start:position]),
        protocol=protocol[1].upper() if protocol else None,
        configured=_HAS_CONFIG.search(command) is not None,
    )


def _tool(command: str) -> str:
    """The last program of Kafka's that a piece of a command names."""
    names = re.findall(r"(?<![\w.-])(kafka-[a-z-]+|kcat|kafkacat|cub|rpk|kaf|ksql-datagen)(?:\.sh)?(?![\w-])", command)
    return names[-1] if names else ""


def _wait_option(match: re.Match[str]) -> Iterator[CommandBootstrap]:
    port = int(match["port"])
    if 0 < port < 65536:
        address = BootstrapAddress(host=match["host"], port=port, start=match.start("host"), end=match.end("port"))
        yield CommandBootstrap(word=0, option="wait", addresses=(address,), waits=True)


def _order(given: CommandBootstrap) -> tuple[int, bool]:
    return (given.addresses[0].start, given.waits)


def _is_comment(text: str, position: int) -> bool:
    line = max(text.rfind("\n", 0, position), text.rfind("\0", 0, position)) + 1
    return text[line:position].lstrip().startswith("#")
