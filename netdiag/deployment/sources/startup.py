"""How a service starts its broker: the words of its command line, and the properties file that it mounts.

Compose takes a command in text form apart as a shell would, without expanding anything. A script for `sh -c` is taken
apart into simple commands; a variable in it is expanded where the service's own environment gives it, and a word that
a shell alone could complete is `open`.

Which file a broker reads, and what wins, is told by `KafkaDockerWrapper` of apache/kafka (the file of
/mnt/shared/config with the variables behind it, so that they win), Bitnami's `libkafka.sh` (a server.properties in
KAFKA_MOUNTED_CONF_DIR, by default /bitnami/kafka/config, and no variable is looked at) and `kafka.Kafka` (a command
that starts Kafka itself reads the file it names, and `--override`).
"""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from netdiag.compose.positions import Source, Text, assemble, concatenated, reassembled, substituted
from netdiag.compose.project import Command, Service, ServiceConfig, Volume
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.deployment import Broker, ConfigFile, DeclaredValue, StoredIdentity
from netdiag.deployment.sources.compose_text import ComposeValue
from netdiag.findings import FileLocation
from netdiag.kafka.images.families import FAMILIES, Sign
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import Provenance, Setting
from netdiag.kafka.images.unknown import beside_unknown
from netdiag.kafka.java_properties import properties
from netdiag.kafka.rest_services import is_oauth_url
from netdiag.kafka.storage import META_PROPERTIES, MetaProperties, UnreadableMetaProperties, meta_properties
from netdiag.patterns import regex
from netdiag.values import dataclass

SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh"})
_NAME = regex(r"\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*)")
_ENDS = frozenset(";&|\n()")
# Longer ones are programs, not command lines.
_LONGEST_SCRIPT = 64 * 1024
# How `read` tells a file in a volume from one of this machine: volume:NAME/PATH.
IN_VOLUME = "volume:"
# Where images that start from a relative path stand.
_KAFKA_HOME = "/opt/kafka"
_LISTS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
_LISTENER_VARIABLE = regex(
    "KAFKA_(?:CFG_)?(?:ADVERTISED_LISTENERS|LISTENERS|LISTENER_SECURITY_PROTOCOL_MAP|INTER_BROKER_LISTENER_NAME"
    "|CONTROLLER_LISTENER_NAMES|CONTROLLER_QUORUM_VOTERS|PROCESS_ROLES|NODE_ID|BROKER_ID|ZOOKEEPER_CONNECT)"
)
_EDITORS = frozenset({"sed", "envsubst", "configure", "tee", "awk", "perl", "python", "python3", "cp", "mv", "printf"})
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "!", "{"})
_OVERRIDE = "--override "
_IMAGE_SCRIPTS = ("/etc/confluent/docker/", "/etc/kafka/docker/", "/opt/bitnami/scripts/", "/docker-entrypoint.sh")
_SECRET_WORDS = ("password", "jaas", "secret", "token", "credential")
# What a broker's file is called where somebody mounts one, and what no other file says.
_BROKER_FILES = ("server.properties", "kraft/server.properties", "kafka.properties", "broker.properties")
_BROKER_KEYS = frozenset({"process.roles", "broker.id", "node.id", "zookeeper.connect"})
# Kafka's own file has 7 KiB.
_LARGEST_PROPERTIES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word; `is_open` where only a shell could tell the whole of it."""

    text: Text
    is_open: bool = False

    @property
    def value(self) -> str:
        """The characters."""
        return self.text.value

    def slice(self, start: int, end: int) -> "Word":
        """Characters start..end as a word of their own."""
        return Word(text=self.text.slice(start, end), is_open=self.is_open)


Line = tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedFile:
    """The file at a path of the container, and `where` it is mounted; neither source nor content if it is unreadable.

    `content` is that of a config, which stands in a file of the project.
    """

    where: FileLocation
    source: Source | None = None
    content: Text | None = None

    @property
    def data(self) -> bytes | None:
        """Its bytes."""
        if self.content is not None:
            return self.content.value.encode("utf-8", "surrogatepass")
        return None if self.source is None else self.source.data


def with_mounted_file(broker: Broker, service: Service, read: ReadFile) -> Broker:
    """The broker as its mounted file and its variables make it; of one whose file cannot be read little is known."""
    lines = command_lines(service)
    started = next((line for line in lines if _starts_kafka(line)), None)
    path = _config_path(broker, service, started, read)
    mounted = mounted_file(service, path, read) if path is not None else None
    over, values = _overrides(started) if started is not None else ({}, {})
    if path is not None and mounted is None and started is not None and not _runs_image_script(lines):
        own = replace(broker, config=replace(broker.config, settings=over), declared={**broker.declared, **values})
        return with_unknown_file(own)
    if path is None or mounted is None:
        settings = {**broker.config.settings, **over}
        return replace(broker, config=replace(broker.config, settings=settings), declared={**broker.declared, **values})
    name = posixpath.basename(path)
    shadows = broker.config.family is ImageFamily.BITNAMI or started is not None
    if not shadows:
        over = {n: s for n, s in broker.config.settings.items() if s.provenance is not Provenance.IMAGE_DEFAULT}
    properties = None if _is_rewritten(lines) else _properties(mounted)
    settings, declared = _unknown_settings() if properties is None else _file_settings(properties, name)
    used = {word.value for line in command_words(service) for word in line}
    variables = tuple(v for v in broker.declared if _LISTENER_VARIABLE.fullmatch(v) and not any(v in w for w in used))
    replaced = {n: s.variable for n, s in over.items() if s.variable in broker.declared and n in (properties or ())}
    return replace(
        broker,
        config=replace(broker.config, settings={**settings, **over}, refusal=None),
        declared={**broker.declared, **declared, **values},
        config_file=ConfigFile(
            name=name,
            where=mounted.where,
            unused=variables if shadows and len(lines) <= 1 else (),
            replaced={n: v for n, v in replaced.items() if v is not None and not shadows},
        ),
        is_partial=properties is None,
    )


def broker_file(service: Service, read: ReadFile) -> str | None:
    """The path in the container of a mounted file that configures a broker; None where none can be read."""
    for mount in _mounts(service):
        target = posixpath.normpath(mount.target)
        is_file = target.endswith(_BROKER_FILES)
        for path in (target,) if is_file else [posixpath.join(target, name) for name in _BROKER_FILES]:
            if not is_file and "kafka" not in target:
                continue
            mounted = mounted_file(service, path, read)
            properties = _properties(mounted) if mounted is not None else None
            if properties is not None and properties.keys() & _BROKER_KEYS:
                return path
    return None


def mounted_properties(broker: Broker, service: Service, read: ReadFile) -> Mapping[str, Text]:
    """Every line of the properties file that the broker is started with, secrets too; nothing where it mounts none."""
    lines = command_lines(service)
    path = _config_path(broker, service, next((line for line in lines if _starts_kafka(line)), None), read)
    mounted = mounted_file(service, path, read) if path is not None else None
    if mounted is None or _is_rewritten(lines):
        return {}
    return _properties(mounted) or {}


def with_unknown_file(broker: Broker) -> Broker:
    """The broker of which a file that nobody here sees may say anything that `--override` does not."""
    over = {n: s for n, s in broker.config.settings.items() if (s.variable or "").startswith(_OVERRIDE)}
    settings = {**_unknown_settings()[0], **beside_unknown(over)} if over else _unknown_settings()[0]
    config = replace(broker.config, settings=settings, refusal=None)
    return replace(broker, config=config, is_partial="advertised.listeners" not in over)


def prepares_start(service: Service) -> bool:
    """Whether the command runs a program of its own before the image's start script, which it may change."""
    *before, _ = command_lines(service) or ((),)
    return any(_runs_own_program(line) for line in before)


def exported_variables(service: Service) -> frozenset[str]:
    """The variables that the command sets by itself before it goes on to the image's start script."""
    lines = command_lines(service)
    words = (word.value for line in lines for word in (line[1:] if line and line[0].value == "export" else line[:1]))
    return frozenset(name for word in words for name, equals, _ in (word.partition("="),) if equals)


def _runs_own_program(line: Line) -> bool:
    words = [word.value for word in line if word.value not in _KEYWORDS]
    first = words[0] if words else ""
    is_script = first.startswith(("/", "./")) or first.endswith(".sh") or first in SHELLS
    edits_script = posixpath.basename(first) in _EDITORS and any("/etc/" in w or "/opt/" in w for w in words[1:])
    return edits_script or (is_script and not first.startswith(("/bin/", "/usr/bin/")))


def command_lines(service: Service) -> tuple[Line, ...]:
    """What a container of the service executes, as far as its `entrypoint` and `command` tell; empty for neither."""
    argv = (*split_command(service.entrypoint), *split_command(service.command))
    if not argv:
        return ()
    script = _script(argv)
    if script is None:
        return (argv,)
    variables = {name: v.value for name, v in service.environment.items() if v.value is not None}
    return tuple(simple_commands(script.text, variables))


def command_words(service: Service) -> tuple[Line, Line]:
    """The words of the entrypoint and of the command, scripts as they stand."""
    return split_command(service.entrypoint), split_command(service.command)


def split_command(command: Command) -> Line:
    """The words of an entrypoint or command in either form."""
    if command is None:
        return ()
    if isinstance(command, Text):
        # Compose splits at blanks and line ends alike.
        return tuple(word for line in _split_text(command, {}, script=False) for word in line)
    return tuple(Word(text=text) for text in command)


def simple_commands(script: Text, variables: Mapping[str, Text]) -> Iterator[Line]:
    """The commands of a shell script one by one."""
    yield from _split_text(script, variables, script=True)


def mounted_file(service: Service, path: str, read: ReadFile) -> MountedFile | None:
    """What is mounted at `path`; None where the image's own file is there.

    A folder mounted further up need not hold the file; one that is mounted as the file's own folder is taken to.
    """
    path = posixpath.normpath(path)
    if "/" not in path:
        # A command without a folder is looked for in the folders of programs.
        path = next((m.target for m in _mounts(service) if posixpath.basename(m.target) == path), path)
    over = [m for m in _mounts(service) if _holds(posixpath.normpath(m.target), path)]
    if not over:
        return None
    mount = max(over, key=lambda m: len(posixpath.normpath(m.target)))
    if isinstance(mount, ServiceConfig) and mount.content is not None:
        return MountedFile(where=mount.span, content=mount.content)
    target = posixpath.normpath(mount.target)
    rest = posixpath.relpath(path, target)
    folder = _mounted_folder(mount)
    if folder is not None:
        name = posixpath.normpath(folder if rest == "." else posixpath.join(folder, rest))
        data = read(name)
        if data is not None:
            return MountedFile(where=mount.span, source=Source(name, data))
    is_close = rest == "." or posixpath.dirname(path) == target
    return MountedFile(where=mount.span) if is_close else None


def _mounts(service: Service) -> tuple[Volume | ServiceConfig, ...]:
    return (*service.volumes, *service.secrets, *service.configs)


def _mounted_folder(mount: Volume | ServiceConfig) -> str | None:
    """What is mounted, as `read` knows it."""
    if isinstance(mount, ServiceConfig):
        return mount.file
    if mount.type == "volume" and mount.source is not None:
        return posixpath.join(f"{IN_VOLUME}{mount.source.value}", mount.subpath)
    return mount.host_path if mount.type == "bind" else None


def stored_identities(broker: Broker, service: Service, read: ReadFile) -> Iterator[StoredIdentity]:
    """What the data directories that the service mounts say of the broker that wrote them."""
    for directory in filter(broker.storage_of, broker.data_directories):
        path = posixpath.join(directory, META_PROPERTIES)
        mounted = mounted_file(service, path, read)
        if mounted is None or mounted.source is None:
            continue
        meta: MetaProperties | UnreadableMetaProperties
        try:
            meta = meta_properties(mounted.source.text)
        except UnicodeDecodeError:
            continue
        except UnreadableMetaProperties as refusal:
            meta = refusal
        yield StoredIdentity(path=path, where=mounted.where, meta=meta)


def read_properties(file: Source | Text) -> dict[str, Text]:
    """The values by key; UnicodeDecodeError where the file is not text."""
    found: dict[str, Text] = {}
    for each in properties(file.text if isinstance(file, Source) else file.value):
        end = each.value[-1][2] if each.value else each.at
        if isinstance(file, Source):
            found[each.key] = assemble(file, each.value, each.at, end)
        else:
            found[each.key] = reassembled(file, each.value, each.at, end)
    return found


def _starts_kafka(line: Line) -> bool:
    return any(_is_start_script(word.value) for word in line)


def _runs_image_script(lines: tuple[Line, ...]) -> bool:
    """Whether a script of the image, which makes properties of variables, runs before Kafka is started."""
    return any(word.value.startswith(_IMAGE_SCRIPTS) for line in lines for word in line)


def _is_start_script(word: str) -> bool:
    return posixpath.basename(word) in ("kafka-server-start", "kafka-server-start.sh")


def _config_path(broker: Broker, service: Service, started: Line | None, read: ReadFile) -> str | None:
    """The path inside the container of the file that the broker is started with."""
    if broker.sign is Sign.FILE:
        return broker_file(service, read)
    if started is not None:
        words = [word.value for word in started]
        behind = words[next(i for i, word in enumerate(words) if _is_start_script(word)) + 1 :]
        named = next((word for word in behind if not word.startswith("-") and "=" not in word), None)
        return None if named is None else posixpath.join(_KAFKA_HOME, named)
    return FAMILIES[broker.config.family].config_file(broker.member.variables)


def _overrides(line: Line) -> tuple[dict[str, Setting], dict[str, DeclaredValue]]:
    """The `--override name=value` options of a start."""
    settings: dict[str, Setting] = {}
    declared: dict[str, DeclaredValue] = {}
    for option, word in pairwise(line):
        name, equals, value = word.value.partition("=")
        if option.value == "--override" and equals:
            variable = f"{_OVERRIDE}{name}"
            text = word.slice(len(name) + 1, len(word.value)).text
            settings[name] = Setting(name=name, value=None if word.is_open else value, variable=variable)
            declared[variable] = ComposeValue(variable=variable, text=text)
    return settings, declared


def _is_rewritten(lines: tuple[Line, ...]) -> bool:
    """Whether a command before the start may change the file."""
    return any(posixpath.basename(word.value) in _EDITORS or ">" in word.value for line in lines for word in line)


def _properties(mounted: MountedFile) -> dict[str, Text] | None:
    file = mounted.content or mounted.source
    if file is None or len(mounted.data or b"") > _LARGEST_PROPERTIES:
        return None
    try:
        return read_properties(file)
    except UnicodeDecodeError:
        return None


def _unknown_settings() -> tuple[dict[str, Setting], dict[str, DeclaredValue]]:
    """What is known of a file that cannot be read: that it may say anything."""
    return {name: Setting(name=name, value=None, variable=None) for name in _LISTS}, {}


def _file_settings(properties: Mapping[str, Text], file: str) -> tuple[dict[str, Setting], dict[str, DeclaredValue]]:
    settings: dict[str, Setting] = {}
    declared: dict[str, DeclaredValue] = {}
    for name, text in properties.items():
        if any(word in name for word in _SECRET_WORDS) and not is_oauth_url(name):
            continue
        variable = f"{name} in {file}"
        settings[name] = Setting(name=name, value=text.value, variable=variable)
        declared[variable] = ComposeValue(variable=variable, text=text)
    return settings, declared


def _script(argv: Line) -> Word | None:
    """The script of `sh -c SCRIPT`, behind an init or not."""
    for index, word in enumerate(argv[:3]):
        if word.value.rpartition("/")[2] not in SHELLS:
            continue
        for position in range(index + 1, len(argv) - 1):
            option = argv[position].value
            if not option.startswith("-"):
                return None
            if not option.startswith("--") and "c" in option:
                return argv[position + 1]
    return None


def _split_text(text: Text, variables: Mapping[str, Text], *, script: bool) -> Iterator[Line]:
    if len(text) > _LONGEST_SCRIPT:
        return
    builder = _WordBuilder(text, variables)
    value, index, quote = text.value, 0, ""
    while index < len(value):
        char = value[index]
        if char == "\\" and quote != "'":
            index = builder.escape(index, quote)
        elif quote and char == quote:
            quote = ""
            index += 1
        elif not quote and char in "'\"":
            quote, builder.started = char, True
            index += 1
        elif script and quote != "'" and char in "$`":
            index = builder.expand(index)
        elif quote or not (char.isspace() or (script and char in _ENDS)):
            if script and not quote and char == "#" and not builder.started:
                end = value.find("\n", index)
                index = len(value) if end < 0 else end
                continue
            builder.take(index, index + 1)
            index += 1
        else:
            builder.end_word()
            if script and char in _ENDS and builder.line:
                yield builder.end_line()
            index += 1
    builder.end_word()
    if builder.line:
        yield builder.end_line()


class _WordBuilder:
    """Collects the pieces of a word, and the words of a line."""

    def __init__(self, text: Text, variables: Mapping[str, Text]) -> None:
        self.text = text
        self.variables = variables
        self.line: list[Word] = []
        self.started = False
        self._ranges: list[tuple[int, int] | Text] = []
        self._open = False

    def take(self, start: int, end: int) -> None:
        """Characters start..end belong to the word as they stand."""
        self.started = True
        last = self._ranges[-1] if self._ranges else None
        if isinstance(last, tuple) and last[1] == start:
            self._ranges[-1] = (last[0], end)
        else:
            self._ranges.append((start, end))

    def escape(self, index: int, quote: str) -> int:
        """A backslash: a line end behind it is nothing, another character stands for itself."""
        following = self.text.value[index + 1 : index + 2]
        if following == "\n":
            return index + 2
        if quote and following not in ('"', "\\", "$", "`"):
            self.take(index, index + 1)
            return index + 1
        if following:
            self.take(index + 1, index + 2)
        return index + 2

    def expand(self, index: int) -> int:
        """A `$`: the value of a variable of the service, else the word is open."""
        match = _NAME.match(self.text.value, index + 1) if self.text.value[index] == "$" else None
        name = (match["braced"] or match["bare"]) if match else ""
        self.started = True
        if match is None or name not in self.variables:
            self._open = True
            end = _substitution_end(self.text.value, index)
            self._ranges.append((index, end))
            return end
        place = self.text.slice(index, match.end())
        self._ranges.append(substituted(place.span, self.variables[name], name, place.source))
        return match.end()

    def end_word(self) -> None:
        """A blank: what was collected is a word."""
        if self.started:
            parts = [p if isinstance(p, Text) else self.text.slice(*p) for p in self._ranges]
            text = concatenated(parts) if parts else self.text.slice(0, 0)
            self.line.append(Word(text=text, is_open=self._open))
        self.started = self._open = False
        self._ranges = []

    def end_line(self) -> Line:
        """The end of a command: its words."""
        line = tuple(self.line)
        self.line = []
        return line


def _substitution_end(value: str, index: int) -> int:
    """Where the `$...` or backtick at `index` ends; at the end of the text where it is not closed."""
    following = value[index + 1 : index + 2]
    if value[index] == "`" or following == "{":
        end = value.find("`" if value[index] == "`" else "}", index + 1)
        return len(value) if end < 0 else end + 1
    if following != "(":
        match = _NAME.match(value, index + 1)
        return match.end() if match else index + 1
    depth = 0
    for position in range(index + 1, len(value)):
        depth += {"(": 1, ")": -1}.get(value[position], 0)
        if depth == 0:
            return position + 1
    return len(value)


def _holds(target: str, path: str) -> bool:
    return path == target or path.startswith(target.rstrip("/") + "/")
