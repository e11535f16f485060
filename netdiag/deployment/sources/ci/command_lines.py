"""`docker run` lines in shell scripts, Makefiles and Markdown as deployments.

All lines of a script or Makefile are one deployment, and so are those between two headings of a Markdown file; a
container name that comes again begins another. What the shell would put in the place of a word is unknown: a variable
has a value that nobody knows, and a container whose ports, networks or image are unknown is left out.

Source: the reference of `docker container run`, `docker network create`, `podman run`; CommonMark for code blocks.
"""

import posixpath
import re
from collections.abc import Iterator
from collections.abc import Sequence as Sequence_
from dataclasses import replace

from netdiag.compose.positions import Source, Text, assemble
from netdiag.compose.problems import ComposeError, Problems, decoded
from netdiag.compose.project import Link, Network, Project, Service, ServiceNetwork
from netdiag.compose.service import read_service
from netdiag.compose.values import Entry, Mapping, ReadFile, Scalar, Sequence, no_files
from netdiag.compose.yaml_tree import MAX_BYTES
from netdiag.deployment.sources.ci.docker_options import docker_options
from netdiag.deployment.sources.ci.job import ComposeUp
from netdiag.deployment.sources.ci.shell_words import Word, commands
from netdiag.deployment.sources.documents import no_variables
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

_ENGINES = frozenset({"docker", "podman", "nerdctl"})
# Options of the engine's own command line that take a value.
_GLOBAL = frozenset({"--context", "-c", "-H", "--host", "--config", "-l", "--log-level", "--connection", "--url"})
_MOST_CONTAINERS = 200
_COMPOSE_VALUES = frozenset(
    {"-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory", "--ansi", "--progress"}
)
_FENCE = regex(r"(?m)^[ ]{0,12}(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*\n")
_HEADING = regex(r"(?m)^#{1,6}[ \t]")
_PROMPT = regex(r"(?m)^[ \t]*[$#>%][ \t]+")
_SHELLS = frozenset({"", "sh", "bash", "shell", "console", "zsh", "terminal", "shellsession", "bash-session", "text"})
_DECIDING = (
    "--publish",
    "--network",
    "--network-alias",
    "--name",
    "--link",
    "--env-file",
    "--entrypoint",
    "--hostname",
)
_IMAGE_NAME = regex(r"[^\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLines:
    """The containers that belong together, as a project; `where` is the first of them."""

    project: Project
    where: FileLocation


def command_lines(source: Source, *, folder: str = "", read: ReadFile = no_files) -> Iterator[CommandLines]:
    """The deployments of a file. `read` gives the bytes of a file that stands below `folder`."""
    if len(source.data) > MAX_BYTES:
        raise ComposeError(
            f"file of {len(source.data)} bytes is too large, the limit is {MAX_BYTES}", span=source.span(0, 0)
        )
    decoded(source)
    for section in _sections(source):
        yield from _deployments(source, section, folder, read)


def containers_started(texts: Sequence_[Text]) -> Iterator[CommandLines]:
    """The deployments that the lines of some scripts start, without what files beside them say."""
    sources = [text.source for text in texts if text.source is not None]
    if sources:
        yield from _deployments(sources[0], list(texts), "", no_files)


def compose_ups(text: Text, folder: str) -> Iterator[ComposeUp]:
    """What each `docker compose up` of a script starts, as far as its words are known; `folder` is where it runs."""
    place: str | None = folder
    for command in commands(text):
        values = [word.value for word in command]
        if values[0] in ("cd", "pushd"):
            plain = len(command) == 2 and command[1].known and not values[1].startswith(("/", "~", "-"))
            place = posixpath.normpath(posixpath.join(place, values[1])) if plain and place is not None else None
        words = _after_compose(command)
        if words is None or place is None:
            continue
        files: list[str] = []
        profiles: list[str] = []
        while words and words[0].value.startswith("-"):
            name, equals, value = words[0].value.partition("=")
            known = words[0].known if equals else len(words) > 1 and words[1].known
            if name in _COMPOSE_VALUES and not equals:
                value = words[1].value if len(words) > 1 else ""
                words = words[1:]
            words = words[1:]
            if name in ("-f", "--file", "--profile"):
                (profiles if name == "--profile" else files).append(value if known else "")
        if words and words[0].value == "up" and all(files) and all(profiles):
            joined = tuple(posixpath.normpath(posixpath.join(place, file)) for file in files)
            yield ComposeUp(files=joined, folder=place, profiles=tuple(profiles))


def _after_compose(command: tuple[Word, ...]) -> tuple[Word, ...] | None:
    for index, word in enumerate(command[:4]):
        if word.value == "docker-compose":
            return command[index + 1 :]
        if word.value == "docker" and index + 1 < len(command) and command[index + 1].value == "compose":
            return command[index + 2 :]
    return None


def _sections(source: Source) -> Iterator[list[Text]]:
    """The shell texts that belong together."""
    text = source.text
    if not source.path.lower().endswith((".md", ".markdown")):
        yield [assemble(source, [(text, 0, len(text))], 0, len(text))]
        return
    section: list[Text] = []
    position = 0
    while (fence := _FENCE.search(text, position)) is not None:
        if _HEADING.search(text, position, fence.start()) and section:
            yield section
            section = []
        close = re.compile(rf"(?m)^[ ]{{0,12}}{fence['mark'][0]}{{{len(fence['mark'])},}}[ \t]*$")
        end = close.search(text, fence.end())
        stop = end.start() if end is not None else len(text)
        if fence["language"].lower() in _SHELLS:
            section.append(_block(source, fence.end(), stop))
        position = end.end() if end is not None else len(text)
    if section:
        yield section


def _block(source: Source, start: int, end: int) -> Text:
    """A block without the prompts at the beginning of its lines."""
    text = source.text
    pieces: list[tuple[str, int, int]] = []
    done = start
    for prompt in _PROMPT.finditer(text, start, end):
        if done < prompt.start():
            pieces.append((text[done : prompt.start()], done, prompt.start()))
        done = prompt.end()
    if done < end:
        pieces.append((text[done:end], done, end))
    return assemble(source, pieces, start, end)


def _deployments(source: Source, texts: list[Text], folder: str, read: ReadFile) -> Iterator[CommandLines]:
    services: dict[str, Service] = {}
    for text in texts:
        for command in commands(text):
            words = _arguments(command)
            if words is None:
                continue
            service = _service(source, words, services, folder, read)
            if service is None:
                continue
            if service.name in services or len(services) >= _MOST_CONTAINERS:
                yield _together(source, services)
                services = {}
            services[service.name] = service
    if services:
        yield _together(source, services)


def _together(source: Source, services: dict[str, Service]) -> CommandLines:
    first = next(iter(services.values()))
    names = {a.network: a.span for s in services.values() for a in s.networks}
    networks = {name: Network(key=name, name=name, span=span) for name, span in names.items()}
    known = {name: replace(s, links=tuple(k for k in s.links if k.service in services)) for name, s in services.items()}
    project = Project(name=None, path=source.path, services=known, networks=networks)
    return CommandLines(project=project, where=first.span)


def _arguments(command: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """What stands behind `docker run`; None for another command."""
    for index, word in enumerate(command[:6]):
        if word.value.lstrip("@-").rpartition("/")[2] not in _ENGINES:
            continue
        rest = command[index + 1 :]
        while rest and rest[0].value.startswith("-"):
            rest = rest[2 if rest[0].value in _GLOBAL else 1 :]
        if rest and rest[0].value == "container":
            rest = rest[1:]
        return rest[1:] if rest and rest[0].value in ("run", "create") else None
    return None


def _service(
    source: Source, words: tuple[Word, ...], taken: dict[str, Service], folder: str, read: ReadFile
) -> Service | None:
    options = docker_options([word.text for word in words])
    known = {id(word.text): word.known for word in words}
    unknown_places = [word.text.span for word in words if not word.known]

    def is_known(text: Text) -> bool:
        if id(text) in known:
            return known[id(text)]
        return not any(place.start <= text.span.start and text.span.end <= place.end for place in unknown_places)

    if not options.rest or any(not is_known(text) for name in _DECIDING for text in options.all(name)):
        return None
    image, *arguments = options.rest
    if not is_known(image):
        image = _visible(image)
        if not image.value:
            return None
    network = options.last("--network")
    if "-P" in options.switches or "--publish-all" in options.switches:
        return None
    name = options.last("--name")
    called = name.value if name is not None else _called_after(image.value, taken)
    key = Text(value=called, span=name.span if name is not None else image.span)
    fields: dict[str, Entry] = {"image": _entry(key, image)}
    environment = [text if is_known(text) else _name_of(text) for text in options.all("--env")]
    fields |= _list(key, "environment", environment)
    fields |= _list(key, "ports", options.all("--publish"))
    fields |= _list(key, "volumes", [text for text in options.all("--volume") if is_known(text)])
    fields |= _list(key, "extra_hosts", [text for text in options.all("--add-host") if is_known(text)])
    fields |= _list(key, "env_file", [_beside(text, folder) for text in options.all("--env-file")])
    fields |= _list(key, "command", [text for text in arguments if is_known(text)])
    for option, field in (("--hostname", "hostname"), ("--entrypoint", "entrypoint"), ("--user", "user")):
        text = options.last(option)
        if text is not None and is_known(text):
            fields[field] = _entry(key, text)
    mode = network.value if network is not None else "bridge"
    on_network = network is not None and mode not in ("bridge", "default", "host", "none", "private")
    on_network = on_network and not mode.startswith(("container:", "ns:", "slirp4netns", "pasta"))
    if not on_network:
        fields["network_mode"] = _entry(key, Text(value=mode, span=key.span))
    value = Mapping(entries=fields, span=key.span)
    service = read_service(Problems(), called, Entry(key=key, value=value), no_variables, read)
    if on_network and network is not None:
        aliases = options.all("--network-alias")
        service = replace(service, networks=(ServiceNetwork(network=mode, span=network.span, aliases=aliases),))
    return replace(service, container_name=name, links=tuple(map(_link, options.all("--link"))))


def _link(text: Text) -> Link:
    service, _, alias = text.value.partition(":")
    return Link(service=service, alias=alias or service, span=text.span)


def _visible(image: Text) -> Text:
    """An image without a tag that the shell would put there."""
    repository = image.value.partition("$")[0].partition("`")[0]
    return image.slice(0, len(repository)) if repository.endswith(":") else image.slice(0, 0)


def _name_of(variable: Text) -> Text:
    """A variable whose value is not known."""
    return variable.slice(0, len(variable.value.partition("=")[0]))


def _called_after(image: str, taken: dict[str, Service]) -> str:
    base = _IMAGE_NAME.sub("-", image.rpartition("/")[2].partition(":")[0].partition("@")[0]).strip("-") or "container"
    number, name = 1, base
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def _beside(text: Text, folder: str) -> Text:
    return replace(text, value=posixpath.normpath(posixpath.join(folder, text.value)), segments=())


def _entry(key: Text, text: Text) -> Entry:
    return Entry(key=key, value=Scalar(kind="str", text=text))


def _list(key: Text, field: str, texts: list[Text] | tuple[Text, ...]) -> dict[str, Entry]:
    if not texts:
        return {}
    items = tuple(Scalar(kind="str", text=text) for text in texts)
    return {field: Entry(key=key, value=Sequence(items=items, span=key.span))}
