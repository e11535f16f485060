"""What a live check saw, as a document: seen once, it can be judged again without an engine, rights or files.

A recording holds looks, one for each thing asked for: what the engine told, what every vantage gave, the ends of the
logs of brokers that do not run, and what the files declare; variables that hold secrets, and passwords inside other
values, are left out. Findings and matrix are not in it: the rules make them of it, when it is made and when it is
replayed.

The document is the values' own fields under `{"format": FORMAT, "version": VERSION, "looks": [...]}`: frozen
dataclasses, enums, tuples and mappings as JSON and back, driven by their own annotations. It may come from strangers:
what is not exactly of the type asked for is a ValueError that says where, and nothing else. Fields that have a default
may be absent, fields that are unknown are an error: the document would mean more than is read. A union of dataclasses
is written with the name of the class under "is".
"""

import json
import re
import shlex
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from netdiag.deployment.model.deployment import Platform, Relay
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import Address, Cell, Contact, NodeEndpoint, Unknown, judge
from netdiag.deployment.observation.live_view import Flapping, SecuredPort, SeenGroup, SeenName, SeenUrl
from netdiag.deployment.observation.registered import Registered
from netdiag.deployment.prediction.mesh import Mesh
from netdiag.deployment.sources.declared_services import (
    DeclaredService,
    DeclaredServices,
    DeclaredText,
    PredictedRefusal,
)
from netdiag.deployment.sources.engine import runs_kafka
from netdiag.engine.container import FILES_LABEL, PROJECT_LABEL, SERVICE_LABEL, Container, EngineNetwork
from netdiag.engine.testcontainers import LABELS, exports, redpanda_start
from netdiag.errors import InputError
from netdiag.linux.sockets import ListeningSocket, Peer
from netdiag.patterns import regex
from netdiag.values import dataclass

HIDDEN = "[hidden]"

# Stricter than what a message hides: a recording is handed to others.
_NAME = regex(
    r"PASS(?!IVE)|PWD|SECRET|JAAS|TOKEN|CREDENTIAL|PRIVATE.?KEY|API.?KEY|ACCESS.?KEY|SASL.USERS|CLIENT.USERS|_KEY$|_DSN$"
    r"|_AUTH$|COOKIE|LICENSE",
    re.IGNORECASE,
)
_NO_SECRET = regex(
    r"_(?:FILENAME|FILE|LOCATION)$|^KAFKA_\w*_CREDENTIALS$|OAUTHBEARER[._]TOKEN[._]ENDPOINT[._]URL$", re.IGNORECASE
)
_TOKEN = r"token(?![._]endpoint[._]url\b)"
_INSIDE = regex(
    rf"(?P<name>[\w.\-]*(?:password|passwd|passphrase|secret|{_TOKEN}|user_\w{{1,64}})[\w.\-]{{0,64}}"
    r"(?:\\?[\"']\s*:\s*|\s*=\s*|\s*:\s+))(?P<value>\\?\"[^\"]*\"?|'[^']*'?|[^\s;,]+)",
    re.IGNORECASE,
)
_OPTION = regex(r"(--?[\w\-]{0,64}(?:pass(?:word|wd|phrase)?|secret|token)\s+)[^\s\-]\S*", re.IGNORECASE)
_OPTION_ALONE = regex(r"--?[\w\-.]{0,64}(?:pass(?:word|wd|phrase)?|secret|token)", re.IGNORECASE)
_IN_URL = regex(r"(://[^\s/@:]*:)[^\s/@]+(@)")
_LONG = 20_000


def is_secret(name: str, value: str) -> bool:
    """Whether a variable's value, or a part of it, is nobody's business. The name of a file is no secret."""
    return masked(name, value) != value


def masked(name: str, value: str) -> str:
    """The value with what is secret of it hidden."""
    if not value:
        return value
    if _NAME.search(name) and not _NO_SECRET.search(name):
        return HIDDEN
    return masked_text(value)


def masked_text(text: str) -> str:
    """A text with the passwords inside it hidden; one that is too long to be searched is cut."""
    if len(text) > _LONG:
        return text[:_LONG] + HIDDEN
    return _IN_URL.sub(rf"\1{HIDDEN}\2", _OPTION.sub(rf"\1{HIDDEN}", _INSIDE.sub(rf"\g<name>{HIDDEN}", text)))


def masked_words(words: Sequence[str]) -> tuple[str, ...]:
    """A command line with what follows the options for passwords hidden."""
    return tuple(
        HIDDEN if index and _OPTION_ALONE.fullmatch(words[index - 1]) else masked_text(word)
        for index, word in enumerate(words)
    )


_KIND = "is"
_UNIONS = (Union, types.UnionType)
_SIMPLE = {str: "a text", int: "a number", float: "a number", bool: "true or false"}
_LARGEST = 2**63


def encode(value: object, hint: Any) -> Any:
    """A value of an annotated type as JSON."""
    origin, arguments = get_origin(hint), get_args(hint)
    if value is None or hint in _SIMPLE:
        return value
    if origin in _UNIONS:
        return _encode_union(value, arguments)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if _is_record(hint):
        hints = _hints(hint)
        return {one.name: encode(getattr(value, one.name), hints[one.name]) for one in _fields(hint)}
    if isinstance(value, tuple | frozenset):
        items = sorted(value) if isinstance(value, frozenset) else value
        return [encode(item, _item(arguments, index)) for index, item in enumerate(items)]
    if isinstance(value, Mapping):
        return {str(key): encode(item, arguments[1]) for key, item in value.items()}
    raise TypeError(f"no encoding for {hint}")


def decode(document: Any, hint: Any, where: str = "it") -> Any:
    """A value of an annotated type out of JSON; ValueError with the place where it is something else."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _simple(document, hint, where)
    if origin in _UNIONS:
        return _decode_union(document, arguments, where)
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(document)
        except ValueError:
            raise ValueError(f"{where} is not one of {', '.join(str(one.value) for one in hint)[:200]}") from None
    if hint is datetime:
        return _moment(document, where)
    if _is_record(hint):
        return _decode_dataclass(document, hint, where)
    if origin is tuple or origin is frozenset:
        return _decode_items(document, origin, arguments, where)
    if origin is not None and issubclass(origin, Mapping):
        _must(isinstance(document, dict), where, "an object")
        named = ((_simple(key, str, where), item) for key, item in document.items())
        return {key: decode(item, arguments[1], f"{where}.{key[:60]}") for key, item in named}
    raise TypeError(f"no decoding for {hint}")


def _encode_union(value: object, options: tuple[Any, ...]) -> Any:
    classes = [one for one in options if _is_record(one)]
    if len(classes) > 1:
        return {_KIND: type(value).__name__, **encode(value, type(value))}
    (option,) = [one for one in options if one is not types.NoneType]
    return encode(value, option)


def _decode_union(document: Any, options: tuple[Any, ...], where: str) -> Any:
    if document is None and types.NoneType in options:
        return None
    classes = {one.__name__: one for one in options if _is_record(one)}
    if len(classes) > 1:
        _must(isinstance(document, dict), where, "an object")
        kind = document.get(_KIND)
        _must(isinstance(kind, str) and kind in classes, where, f"one of {', '.join(classes)}")
        return _decode_dataclass({key: item for key, item in document.items() if key != _KIND}, classes[kind], where)
    (option,) = [one for one in options if one is not types.NoneType]
    return decode(document, option, where)


def _decode_dataclass(document: Any, hint: Any, where: str) -> Any:
    _must(isinstance(document, dict), where, "an object")
    hints, known = _hints(hint), {one.name: one for one in _fields(hint)}
    for key in document:
        if key not in known:
            raise ValueError(f"{where} has no {str(key)[:60]!r}")
    values = {}
    for name, one in known.items():
        if name in document:
            values[name] = decode(document[name], hints[name], f"{where}.{name}")
        elif one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"{where} lacks {name!r}")
    return hint(**values)


def _decode_items(document: Any, origin: type, arguments: tuple[Any, ...], where: str) -> Any:
    _must(isinstance(document, list), where, "a list")
    if origin is tuple and Ellipsis not in arguments and len(document) != len(arguments):
        raise ValueError(f"{where} is not a list of {len(arguments)}")
    return origin(decode(item, _item(arguments, index), f"{where}[{index}]") for index, item in enumerate(document))


def _item(arguments: tuple[Any, ...], index: int) -> Any:
    """The type of an item: of a list, or of one place of a tuple."""
    return arguments[0] if Ellipsis in arguments or len(arguments) == 1 else arguments[index]


def _simple(document: Any, hint: Any, where: str) -> Any:
    # True is an int to Python.
    is_it = isinstance(document, hint) and (hint is bool or not isinstance(document, bool))
    if hint is float and isinstance(document, int) and not isinstance(document, bool):
        is_it = True
    _must(is_it, where, _SIMPLE[hint])
    if isinstance(document, int) and abs(document) >= _LARGEST:
        raise ValueError(f"{where} is too large")
    if isinstance(document, str) and not document.isascii():
        try:
            document.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{where} contains half a character") from None
    return document


def _moment(document: Any, where: str) -> datetime:
    _must(isinstance(document, str), where, "a time")
    try:
        return datetime.fromisoformat(document)
    except ValueError:
        raise ValueError(f"{where} is not a time") from None


def _is_record(hint: Any) -> bool:
    return is_dataclass(hint)


def _must(holds: bool, where: str, what: str) -> None:
    if not holds:
        raise ValueError(f"{where} is not {what}")


@cache
def _hints(hint: type) -> Mapping[str, Any]:
    return get_type_hints(hint)


@cache
def _fields(hint: Any) -> tuple["Field[Any]", ...]:
    return tuple(one for one in fields(hint) if one.init)


FORMAT = "netdiag live recording"
VERSION = 1
# The longest document that is read, in bytes: a thousand containers take about five million.
LARGEST = 64 * 1024 * 1024

_MOST_CONTAINERS = 2000
_NOT_RECORDED = Unknown(because="it was not recorded")
_LABELS = (FILES_LABEL, PROJECT_LABEL, SERVICE_LABEL, *LABELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTaken:
    """A vantage that could not be taken; `command` is the line that would take it."""

    vantage: str
    reason: str
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why nothing could be seen at all."""

    message: str
    where: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenEndpoint:
    """What a client got at an endpoint that it was sent to."""

    endpoint: NodeEndpoint
    contact: Contact


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCell:
    """What a client got at a bootstrap address, after how many seconds, and at every endpoint that the answer names."""

    vantage: str
    bootstrap: Address
    contact: Contact
    endpoints: tuple[SeenEndpoint, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One thing that was asked for, and all that was seen of it.

    `kind` is "project" or "engine". `containers` are all of the engine, `asked` the ids of those that are asked about,
    None for all. `relays` are those that commands and files tell of. `stopped`, `starting` and `logs`, as in a
    LiveView, and `sockets` are by member name. `vantages` and `addresses` span the matrix, which is None where there is
    none to show; `cells` hold what was observed by a client that `speaks` this security protocol, `names` what names
    gave that have several addresses. `flapping` is what differed between repeated looks, `peers` are those to whom
    members have connected, by member name. `groups` are those of Connect workers, `urls` what members
    got at those of services beside the brokers, `registered` what the clusters have registered. `sources` are the files
    that may be shown.
    """

    name: str
    kind: str
    failure: Failure | None = None
    project: str | None = None
    containers: tuple[Container, ...] = ()
    asked: tuple[str, ...] | None = None
    networks: tuple[EngineNetwork, ...] = ()
    platform: Platform = field(default_factory=Platform)
    host_addresses: tuple[str, ...] = ()
    stopped: Mapping[str, str] = field(default_factory=dict)
    starting: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sockets: Mapping[str, tuple[ListeningSocket, ...]] = field(default_factory=dict)
    relays: tuple[Relay, ...] = ()
    vantages: tuple[Vantage, ...] = ()
    addresses: tuple[Address, ...] | None = None
    cells: tuple[SeenCell, ...] = ()
    names: tuple[SeenName, ...] = ()
    flapping: tuple[Flapping, ...] = ()
    peers: Mapping[str, tuple[Peer, ...]] = field(default_factory=dict)
    speaks: str = "PLAINTEXT"
    security: tuple[SecuredPort, ...] = ()
    mesh: Mesh | None = None
    groups: tuple[SeenGroup, ...] = ()
    urls: tuple[SeenUrl, ...] = ()
    registered: tuple[Registered, ...] = ()
    not_taken: tuple[NotTaken, ...] = ()
    notes: tuple[str, ...] = ()
    declared: DeclaredServices | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def observed(self) -> tuple[Cell, ...]:
        """The cells, judged again by what each contact gave."""
        return tuple(_judged(cell) for cell in self.cells)


def seen_cells(cells: Iterable[Cell]) -> tuple[SeenCell, ...]:
    """What was observed of cells; those that nobody observed are left out."""
    return tuple(
        SeenCell(
            vantage=cell.vantage,
            bootstrap=cell.bootstrap,
            contact=cell.observed.bootstrap,
            endpoints=tuple(
                SeenEndpoint(endpoint=outcome.endpoint, contact=outcome.contact) for outcome in cell.observed.endpoints
            ),
            seconds=cell.seconds,
        )
        for cell in cells
        if cell.observed is not None
    )


def _judged(seen: SeenCell) -> Cell:
    contacts = {one.endpoint: one.contact for one in seen.endpoints}
    verdict = judge(seen.contact, lambda endpoint: contacts.get(endpoint, _NOT_RECORDED))
    return Cell(vantage=seen.vantage, bootstrap=seen.bootstrap, observed=verdict, seconds=seen.seconds)


def to_json(looks: tuple[Look, ...]) -> str:
    """The document of looks, without secrets."""
    document = {"format": FORMAT, "version": VERSION, "looks": encode(tuple(map(without_secrets, looks)), _LOOKS)}
    return json.dumps(document, indent=1, ensure_ascii=True, sort_keys=True) + "\n"


def from_json(data: bytes) -> tuple[Look, ...]:
    """The looks of a document; InputError of one line when it is not one of this format."""
    if len(data) > LARGEST:
        raise InputError(f"not a recording: larger than {LARGEST // 1024 // 1024} MiB")
    try:
        document = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a recording: not JSON ({_one_line(error)})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"not a recording: its format is not {FORMAT!r}", hint="create one with --live --record FILE")
    if document.get("version") != VERSION:
        raise InputError(
            f"the recording does not have version {VERSION}", hint="record again with this version of netdiag"
        )
    try:
        looks: tuple[Look, ...] = decode(document.get("looks"), _LOOKS, "looks")
    except (ValueError, RecursionError, OverflowError) as error:
        raise InputError(f"invalid recording: {_one_line(error)}") from error
    if sum(len(look.containers) for look in looks) > _MOST_CONTAINERS:
        raise InputError(f"the recording has more than {_MOST_CONTAINERS} containers")
    return looks


_LOOKS = tuple[Look, ...]


def without_secrets(look: Look) -> Look:
    """The same look, without what is nobody's business; findings do not hang on that."""
    return replace(
        look,
        containers=tuple(map(_masked_container, look.containers)),
        logs={name: tuple(map(masked_text, lines)) for name, lines in look.logs.items()},
        stopped={name: masked_text(line) for name, line in look.stopped.items()},
        declared=_masked_services(look.declared) if look.declared else None,
        sources={path: masked_source(text) for path, text in look.sources.items()},
    )


def _masked_container(container: Container) -> Container:
    """Its variables without secrets; the command line of what is no broker, which nobody looks at, is left out."""
    shown = replace(
        container,
        environment={name: masked(name, value) for name, value in container.environment.items()},
        labels={name: value for name, value in container.labels.items() if name in _LABELS},
        entrypoint=(),
        command=(),
        start_script=_masked_script(container.start_script),
        advertised=masked_text(container.advertised),
        config_file=_without_secrets(container.config_file),
    )
    if not runs_kafka(container):
        return shown
    return replace(shown, entrypoint=masked_words(container.entrypoint), command=masked_words(container.command))


def _masked_script(script: str) -> str:
    """What is read of a script."""
    words = redpanda_start(script)
    if words:
        return shlex.join(masked_words(words))
    return "".join(f"export {name}={masked(name, text)}\n" for name, text in exports(script))


def _without_secrets(text: str) -> str:
    """The lines of a file that hold no secret: with asterisks in them, YAML would be another."""
    return "\n".join(line for line in text.split("\n") if masked_source(line) == line)


def _masked_services(declared: DeclaredServices) -> DeclaredServices:
    return DeclaredServices(
        services={name: _masked_service(service) for name, service in declared.services.items()},
        predicted_refusals=tuple(map(_masked_refusal, declared.predicted_refusals)),
    )


def _masked_service(service: DeclaredService) -> DeclaredService:
    variables = {
        name: DeclaredText(value=masked(name, text.value), where=text.where)
        for name, text in service.environment.items()
    }
    return replace(service, environment=variables)


def _masked_refusal(one: PredictedRefusal) -> PredictedRefusal:
    return replace(one, message=masked_text(one.message), hint=masked_text(one.hint))


def masked_source(text: str) -> str:
    """A file line by line, with its secrets starred out; as long as before, so that places stay where they are."""
    lines = text.split("\n")
    return "\n".join(_masked_line(line) for line in lines)


def _masked_line(line: str) -> str:
    name, colon, value = line.partition(":" if ":" in line else "=")
    bare = value.strip()
    is_variable = bool(colon and bare) and masked(name.strip().strip("-\"' "), bare) != bare
    if not is_variable and masked_text(line) == line:
        return line
    kept = name + colon if is_variable else ""
    end = "\r" if line.endswith("\r") else ""
    rest = line[len(kept) : len(line) - len(end)]
    return kept + "*" * len(rest.encode()) + end


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200]
