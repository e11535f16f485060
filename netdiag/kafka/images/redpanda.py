"""redpandadata/redpanda: listeners from the flags of `redpanda start`, from variables, else from redpanda.yaml.

Sources: `rpk redpanda start`, `conf/redpanda.yaml`, `config/node_config` and the metadata handler of Redpanda 21.11 to
24.3. The image's entrypoint hands its words, split at blanks, to rpk. Listeners are matched by name, case included;
the name may be left out, and a listener speaks plain Kafka unless redpanda.yaml gives it TLS or SASL.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Self, TypeVar

from netdiag.kafka.images.reference import Environment, Family, ImageFamily, ImageReference
from netdiag.kafka.images.settings import ImageSettings, Provenance, Setting
from netdiag.kafka.listeners import Endpoint, ListenerEntry, MalformedEntry, well_formed
from netdiag.patterns import regex

DEFAULT_PORT = 9092
# What a listener without a name is called here: no name that rpk takes has parentheses.
UNNAMED = "(unnamed)"
LISTENERS = "listeners"
ADVERTISED = "advertised.listeners"
NODE_ID = "node.id"
SEEDS = "seed_servers"
RPC = "advertised_rpc_api"
PROTOCOLS = "redpanda.protocols"
OTHER_PORTS = "redpanda.ports"
# Schema Registry, HTTP proxy, admin API with metrics, RPC.
USUAL_PORTS = frozenset({8081, 8082, 9644, 33145})
# What a release from 23.3 on prints, and ends, when it is told to advertise a wildcard address.
REFUSES_WILDCARD = "improperly configured with ADDR_ANY"

# Property, flag, variable: the flag wins over the variable, both over redpanda.yaml.
_GIVEN = (
    (LISTENERS, ("--kafka-addr",), "REDPANDA_KAFKA_ADDRESS"),
    (ADVERTISED, ("--advertise-kafka-addr",), "REDPANDA_ADVERTISE_KAFKA_ADDRESS"),
    (SEEDS, ("--seeds", "-s"), "REDPANDA_SEEDS"),
    (RPC, ("--advertise-rpc-addr",), "REDPANDA_ADVERTISE_RPC_ADDRESS"),
    (NODE_ID, ("--node-id",), None),
)
_ENTRY = regex(
    r"(?:(?P<name>[a-zA-Z][a-zA-Z0-9+._-]*)://)?(?P<host>\[[0-9a-fA-F:]+\]|[a-zA-Z0-9][a-zA-Z0-9._-]*)"
    r"(?::(?P<port>[0-9]{1,9}))?/?(?:\|(?P<method>[a-z_]+))?"
)
_KAFKA = ("--kafka-addr", "--advertise-kafka-addr", "--memory", "--smp", "--node-id")
_STARTED = regex(r"(?:^|[\s/])redpanda\s+start\b")
_PORT = regex(r":([0-9]{2,5})(?![0-9])")
_RELEASE = regex(r"v?(\d{2})\.(\d{1,9})")
_NEWEST = (99, 0)
# Since this release 0.0.0.0 is refused as an advertised address, and the packaged file advertises 127.0.0.1.
_STRICT = (23, 3)


class Word(Protocol):
    """A word of a command line; `is_open` where only a shell could tell the whole of it."""

    @property
    def value(self) -> str:
        """The characters."""

    @property
    def is_open(self) -> bool:
        """Whether something in it is not known."""

    def slice(self, start: int, end: int) -> Self:
        """Characters start..end."""


_Word = TypeVar("_Word", bound=Word)


def is_redpanda(image: ImageReference, command: str) -> bool:
    """Whether an image is Redpanda's, or one that is not known is started as Redpanda is."""
    is_started = image.family is ImageFamily.OTHER and _STARTED.search(command) is not None
    return image.family is ImageFamily.REDPANDA or is_started


def start_flags(lines: Iterable[Sequence[_Word]], *, by_image: bool) -> Mapping[str, tuple[_Word, ...]] | None:
    """The flags behind `redpanda start` by name, each with its values in order; None where nothing starts Redpanda.

    `by_image`: the image's own entrypoint runs, which splits every word at blanks and knows `start` alone as well.
    """
    for line in lines:
        words = [part for word in line for part in _split(word)] if by_image else list(line)
        for index, word in enumerate(words):
            before = words[index - 1].value.rpartition("/")[2] if index else "redpanda" if by_image else ""
            if word.value == "start" and before == "redpanda":
                return _flags(words[index + 1 :])
            if word.value == "--redpanda-cfg" or word.value.startswith("--redpanda-cfg="):
                return _flags(words[index:])
    return None


def settings(
    image: ImageReference,
    flags: Environment,
    environment: Environment,
    file: Mapping[str, Setting] | None = None,
) -> dict[str, Setting]:
    """The properties a container starts with. `file` is what redpanda.yaml says, None where it is the packaged one.

    A flag or variable of None is one whose value nobody here can know.
    """
    found = dict(packaged(image) if file is None else file)
    for name, spellings, variable in _GIVEN:
        flag = next((spelling for spelling in spellings if spelling in flags), None)
        if flag is not None:
            found[name] = Setting(name=name, value=flags[flag], variable=flag)
        elif variable is not None and environment.get(variable, "") != "":
            found[name] = Setting(name=name, value=environment[variable], variable=variable)
    ports = {port for flag, value in flags.items() if flag not in _KAFKA for port in _PORT.findall(value or "")}
    ports |= {*(found[OTHER_PORTS].value or "").split(",")} if OTHER_PORTS in found else set()
    found[OTHER_PORTS] = Setting(name=OTHER_PORTS, value=",".join(sorted(filter(None, ports))), variable=None)
    return found


def packaged(image: ImageReference) -> dict[str, Setting]:
    """What the redpanda.yaml in the image says."""
    known = release(image)

    def default(name: str, value: str | None) -> Setting:
        return Setting(name=name, value=value, variable=None, provenance=Provenance.IMAGE_DEFAULT)

    found = {LISTENERS: default(LISTENERS, f"0.0.0.0:{DEFAULT_PORT}")}
    if known is None:
        found[ADVERTISED] = default(ADVERTISED, None)
    elif known >= _STRICT:
        found[ADVERTISED] = default(ADVERTISED, f"127.0.0.1:{DEFAULT_PORT}")
        found[RPC] = default(RPC, "127.0.0.1:33145")
    return found


def release(image: ImageReference) -> tuple[int, int] | None:
    """The release by the tag, (year, number); None where that does not tell."""
    match = _RELEASE.match(image.tag or "")
    if match is not None:
        return int(match[1]), int(match[2])
    # The older name of the image gets no more releases.
    return _NEWEST if image.is_newest and "redpandadata/" in image.repository else None


def refuses_wildcard(image: ImageReference) -> bool:
    """Whether this release is known to end when it is to advertise 0.0.0.0."""
    known = release(image)
    return known is not None and known >= _STRICT


def parse_addresses(value: str) -> tuple[ListenerEntry | MalformedEntry, ...]:
    """The entries of an address list: `[name://]host[:port][|method]`, with names as they are written."""
    found: list[ListenerEntry | MalformedEntry] = []
    start = 0
    for text in value.split(","):
        if text:
            found.append(_entry(text, start))
        start += len(text) + 1
    return tuple(found)


def hosts(value: str | None) -> tuple[str, ...]:
    """The hosts of an address list."""
    return tuple(entry.endpoint.host for entry in well_formed(parse_addresses(value or "")))


def protocols(value: str | None, listeners: Iterable[ListenerEntry]) -> dict[str, str]:
    """The security protocol of every listener: PLAINTEXT but for those that `value` names, as name=PROTOCOL."""
    found = {entry.endpoint.listener: "PLAINTEXT" for entry in listeners}
    for entry in listeners:
        method = entry.text.partition("|")[2]
        if method == "sasl":
            found[entry.endpoint.listener] = "SASL_PLAINTEXT"
    for pair in (value or "").split(",") if value else ():
        name, _, protocol = pair.partition("=")
        found[name] = protocol
    return found


def _entry(text: str, start: int) -> ListenerEntry | MalformedEntry:
    match = _ENTRY.fullmatch(text)
    if match is None:
        return MalformedEntry(text=text, start=start, end=start + len(text))
    port = match["port"]
    return ListenerEntry(
        text=text,
        start=start,
        end=start + len(text),
        endpoint=Endpoint(
            listener=match["name"] or UNNAMED,
            host=match["host"].strip("[]"),
            port=DEFAULT_PORT if port is None else int(port),
        ),
        host_start=start + match.start("host"),
        host_end=start + match.end("host"),
        port_start=start + (match.end("host") if port is None else match.start("port")),
        port_end=start + (match.end("host") if port is None else match.end("port")),
    )


def _split(word: _Word) -> list[_Word]:
    if word.is_open:
        return [word]
    found = [word.slice(match.start(), match.end()) for match in re.finditer(r"\S+", word.value)]
    return found if len(found) != 1 else [word]


def _flags(words: Sequence[_Word]) -> dict[str, tuple[_Word, ...]]:
    found: dict[str, tuple[_Word, ...]] = {}
    position = 0
    while position < len(words):
        word = words[position]
        name, equals, _ = word.value.partition("=")
        position += 1
        if not name.startswith("-"):
            continue
        values = found.get(name, ())
        if equals:
            values = (*values, word.slice(len(name) + 1, len(word.value)))
        elif position < len(words) and not words[position].value.startswith("-"):
            values = (*values, words[position])
            position += 1
        found[name] = values
    return found


# What runs a broker, and its settings, are told by flags: see netdiag.deployment.sources.redpanda.
FAMILY = Family(
    id=ImageFamily.REDPANDA,
    repositories=("redpandadata/redpanda", "vectorized/redpanda"),
    settings=lambda environment, image, launch: ImageSettings(),
    version=lambda repository, tag: None,
    runs_broker=lambda environment, command: False,
)
