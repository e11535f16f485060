"""The image that a service is really made from: the one a user declares for it, or the base image of its Dockerfile.

A service whose Dockerfile lies in the project is judged as one of the image that it starts from, with the ENV values
beneath its own variables. Of any other nothing is known. Only the stage that is built counts, with the stages it is
made from; nothing is executed: what an instruction does to the files of the image is not known beyond the names it
mentions. Source: the Dockerfile reference.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from netdiag.compose.positions import Source, Text, assemble
from netdiag.compose.project import Command, EnvironmentVariable, Project, Service
from netdiag.compose.values import ReadFile
from netdiag.patterns import regex
from netdiag.values import dataclass

_INSTRUCTION = regex(r"\s*([A-Za-z]+)\s+")
_REFERENCE = regex(r"\$(?:\{([A-Za-z_]\w*)(?:(:?[-+])([^}]*))?\}|([A-Za-z_]\w*))")
_PAIR = regex(r"""([A-Za-z_][\w.]*)=("(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s"'\\]|\\.)*)""")
# What a changed file must be called to be a broker's configuration or start script.
_CONFIG = regex(
    r"\.properties\b|redpanda\.ya?ml|/etc/(?:kafka|confluent)|/mnt/shared|kafka/config|/etc/redpanda|entrypoint"
    r"|/usr/bin/start-kafka|/opt/bitnami/scripts"
)
_LARGEST_FILE = 64 * 1024
_MOST_INSTRUCTIONS = 1000
_LONGEST_VALUE = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildStage:
    """What a stage makes. `image` is None where it cannot be told; `environment` are the ENV values.

    `entrypoint` and `command` are None where the image's own stay; `is_changed` where the broker's files may be others.
    """

    image: Text | None
    environment: Mapping[str, Text] = field(default_factory=dict)
    entrypoint: tuple[str, ...] | None = None
    command: tuple[str, ...] | None = None
    is_changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltService:
    """A service as it starts; `is_changed` where its build may have replaced configuration or start script."""

    service: Service
    is_changed: bool = False


def with_images(project: Project, images: Mapping[str, str]) -> Project:
    """The project with every image that `images` knows replaced; the place of the value stays.

    An entry with a tag is meant for this tag alone and wins over one without; an image without a tag takes over
    the tag of the service.
    """
    if not images:
        return project
    return replace(
        project,
        services={name: _aliased(service, images) for name, service in project.services.items()},
        disabled={name: _aliased(service, images) for name, service in project.disabled.items()},
    )


def image_behind(image: str, images: Mapping[str, str]) -> str | None:
    """The image that this one is made from; None where nobody says."""
    named = image.partition("@")[0]
    repository, tag = _split_tag(named)
    found = images.get(image) or images.get(named)
    if found is not None:
        return found
    found = images.get(repository)
    if found is None or "@" in found or _split_tag(found)[1]:
        return found
    return f"{found}:{tag}" if tag else found


def read_dockerfile(source: Source, args: Mapping[str, str | None], target: str | None = None) -> BuildStage | None:
    """The stage `target`, else the last one; None where the file cannot be read."""
    if len(source.data) > _LARGEST_FILE:
        return None
    try:
        instructions = [found for _, found in zip(range(_MOST_INSTRUCTIONS), _instructions(source), strict=False)]
    except UnicodeDecodeError:
        return None
    reader = _DockerfileReader(args)
    for word, rest in instructions:
        if word == "FROM" and reader.is_done(target):
            break
        reader.feed(word, rest)
    return reader.stage


def built_service(service: Service, read: ReadFile) -> BuiltService:
    """The service on the image that it is really made from; itself where nothing shows from what."""
    build = service.build_from
    if build is None or build.inline:
        return BuiltService(service=service)
    data = read(build.dockerfile)
    made = read_dockerfile(Source(build.dockerfile, data), build.args, build.target) if data is not None else None
    if made is None or made.image is None:
        return BuiltService(service=service)
    variables = {name: _variable(name, text) for name, text in made.environment.items()}
    command, entrypoint = _commands(service, made)
    found = replace(
        service,
        image=made.image,
        environment={**variables, **service.environment},
        command=command,
        entrypoint=entrypoint,
    )
    return BuiltService(service=found, is_changed=made.is_changed)


def _aliased(service: Service, images: Mapping[str, str]) -> Service:
    if service.image is None:
        return service
    known = image_behind(service.image.value, images)
    # Without segments nobody takes a stretch of the new value for text of the file.
    return service if known is None else replace(service, image=replace(service.image, value=known, segments=()))


def _split_tag(image: str) -> tuple[str, str]:
    """Repository and tag; a port of the registry is no tag."""
    head, slash, last = image.rpartition("/")
    name, _, tag = last.partition(":")
    return f"{head}{slash}{name}", tag


def _instructions(source: Source) -> Iterator[tuple[str, Text]]:
    """The instructions with what stands behind them, continued lines put together."""
    text = source.text
    pieces: list[tuple[str, int, int]] = []
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        body = line.rstrip("\r\n")
        if body.lstrip().startswith("#") or (pieces and not body.strip()):
            continue
        stripped = body.rstrip()
        continued = stripped.endswith("\\")
        kept = stripped[:-1] if continued else body
        pieces.append((kept, start, start + len(kept)))
        if not continued:
            yield from _instruction(source, pieces)
            pieces = []
    yield from _instruction(source, pieces)


def _instruction(source: Source, pieces: list[tuple[str, int, int]]) -> Iterator[tuple[str, Text]]:
    whole = assemble(source, pieces, pieces[0][1], pieces[-1][2]) if pieces else None
    match = _INSTRUCTION.match(whole.value) if whole is not None else None
    if whole is not None and match is not None:
        yield match[1].upper(), whole.slice(match.end(), len(whole)).strip()


class _DockerfileReader:
    def __init__(self, args: Mapping[str, str | None]) -> None:
        self.args = args
        self.globals: dict[str, str] = {}
        self.known: dict[str, str] = {}
        self.named: dict[str, BuildStage] = {}
        self.name = ""
        self.stage: BuildStage | None = None

    def is_done(self, target: str | None) -> bool:
        return target is not None and self.stage is not None and self.name == target.lower()

    def feed(self, word: str, rest: Text) -> None:
        if word == "FROM":
            self._from(rest)
        elif word == "ARG":
            for part in rest.value.split():
                self._arg(part)
        elif self.stage is None:
            return
        elif word == "ENV":
            self._env(self.stage, rest)
        elif word == "ENTRYPOINT":
            # Another entrypoint drops the command of the image.
            self.stage = replace(self.stage, entrypoint=_exec_words(rest.value), command=())
        elif word == "CMD":
            self.stage = replace(self.stage, command=_exec_words(rest.value))
        elif word in ("COPY", "ADD", "RUN") and _CONFIG.search(rest.value):
            self.stage = replace(self.stage, is_changed=True)

    def _arg(self, part: str) -> None:
        name, equals, default = part.partition("=")
        given = self.args.get(name)
        value = given if given is not None else _unquoted(default) if equals else self.globals.get(name)
        if value is None:
            return
        if self.stage is None:
            self.globals[name] = value
        self.known[name] = value

    def _from(self, rest: Text) -> None:
        self._keep()
        words = [m for m in re.finditer(r"\S+", rest.value) if not m[0].startswith("--")]
        self.name = words[2][0].lower() if len(words) > 2 and words[1][0].lower() == "as" else ""
        self.known = {}
        if not words:
            self.stage = BuildStage(image=None)
            return
        image = rest.slice(words[0].start(), words[0].end())
        earlier = self.named.get(image.value.lower())
        if earlier is not None:
            self.stage = earlier
            return
        value = _expand(image.value, self.globals)
        self.stage = BuildStage(image=None if not value else replace(image, value=value, segments=()))

    def _keep(self) -> None:
        if self.stage is not None and self.name:
            self.named[self.name] = self.stage

    def _env(self, stage: BuildStage, rest: Text) -> None:
        found = dict(stage.environment)
        values = {**self.known, **{name: text.value for name, text in found.items()}}
        for name, text in _env_pairs(rest):
            value = _expand(text.value, values)
            if value is not None:
                found[name] = text if value == text.value else replace(text, value=value, segments=())
        self.stage = replace(stage, environment=found)


def _exec_words(value: str) -> tuple[str, ...]:
    """The exec form's words; the shell form is a script."""
    try:
        words = json.loads(value)
    except ValueError:
        return ("/bin/sh", "-c", value)
    exec_form = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return tuple(words) if exec_form else ("/bin/sh", "-c", value)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _expand(value: str, known: Mapping[str, str]) -> str | None:
    """The value with its variables; None where one is not known, or all of it is longer than any value."""
    missing = False
    length = len(value)

    def of(match: re.Match[str]) -> str:
        nonlocal missing, length
        name, operator, word = match[1] or match[4], match[2], match[3]
        held = known.get(name)
        if operator in ("-", ":-") and not held:
            return str(word)
        if operator in ("+", ":+"):
            return str(word) if held else ""
        length += len(held or "")
        missing = missing or held is None or length > _LONGEST_VALUE
        return "" if missing else held or ""

    result = _REFERENCE.sub(of, value)
    return None if missing else result


def _env_pairs(rest: Text) -> Iterator[tuple[str, Text]]:
    if not re.match(r"[A-Za-z_][\w.]*=", rest.value):
        name, _, _ = rest.value.partition(" ")
        yield name, rest.slice(len(name), len(rest)).strip()
        return
    for match in _PAIR.finditer(rest.value):
        start, end = match.span(2)
        quoted = match[2][:1] in ('"', "'")
        text = rest.slice(start + 1, end - 1) if quoted else rest.slice(start, end)
        yield match[1], text if "\\" not in text.value else replace(text, value=_unescaped(text.value), segments=())


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)


def _variable(name: str, text: Text) -> EnvironmentVariable:
    return EnvironmentVariable(name=name, value=text, key_span=text.span, entry_span=text.span, form="env_file")


def _commands(service: Service, made: BuildStage) -> tuple[Command, Command]:
    """What is executed: a service's own entrypoint drops the command of its image."""
    image = made.image
    if image is None:
        return service.command, service.entrypoint

    def words(found: tuple[str, ...] | None) -> Command:
        return None if not found else tuple(Text(value=word, span=image.span) for word in found)

    entrypoint = service.entrypoint if service.entrypoint is not None else words(made.entrypoint)
    command = service.command
    if command is None and service.entrypoint is None:
        command = words(made.command)
    return command, entrypoint
