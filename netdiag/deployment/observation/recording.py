"""What a live check saw, as a document: seen once, it can be judged again without an engine, rights or files.

A recording holds looks, one for each thing asked for: what the engine told (without secrets), what every vantage gave,
the ends of the logs of brokers that do not run, and what the files declare. Findings and matrix are not in it: they are
made of it by the rules, when it is made and when it is replayed. The document is the values' own fields
(`value_json`) under `{"format": FORMAT, "version": VERSION, "looks": [...]}`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from netdiag.deployment.model.contact import Address, Contact, NodeEndpoint, Unknown
from netdiag.deployment.model.platform import Platform
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import Cell, judge
from netdiag.deployment.observation.live_view import SecuredPort
from netdiag.deployment.observation.secrets import masked, masked_text, masked_words
from netdiag.deployment.observation.value_json import decode, encode
from netdiag.deployment.prediction.mesh import Mesh
from netdiag.deployment.sources.declared_services import (
    DeclaredService,
    DeclaredServices,
    DeclaredText,
    PredictedRefusal,
)
from netdiag.deployment.sources.engine import runs_kafka
from netdiag.engine.container import FILES_LABEL, PROJECT_LABEL, SERVICE_LABEL, Container
from netdiag.engine.network import EngineNetwork
from netdiag.errors import InputError
from netdiag.linux.sockets import ListeningSocket
from netdiag.values import dataclass

FORMAT = "netdiag live recording"
VERSION = 1
# The longest document that is read, in bytes: a thousand containers take about five million.
LARGEST = 64 * 1024 * 1024

_MOST_CONTAINERS = 2000
_NOT_RECORDED = Unknown(because="it was not recorded")
_LABELS = (FILES_LABEL, PROJECT_LABEL, SERVICE_LABEL)


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
    """What a client got at a bootstrap address, and at every endpoint that the answer names."""

    vantage: str
    bootstrap: Address
    contact: Contact
    endpoints: tuple[SeenEndpoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One thing that was asked for, and all that was seen of it.

    `kind` is "project" or "engine". `stopped` and `logs`, as in a LiveView, and `sockets` are by member name.
    `vantages` and `addresses` span the matrix, which is None where there is none to show; `cells` hold what was
    observed by a client that `speaks` this security protocol. `sources` are the files that may be shown.
    """

    name: str
    kind: str
    failure: Failure | None = None
    project: str | None = None
    containers: tuple[Container, ...] = ()
    networks: tuple[EngineNetwork, ...] = ()
    platform: Platform = field(default_factory=Platform)
    host_addresses: tuple[str, ...] = ()
    stopped: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sockets: Mapping[str, tuple[ListeningSocket, ...]] = field(default_factory=dict)
    vantages: tuple[Vantage, ...] = ()
    addresses: tuple[Address, ...] | None = None
    cells: tuple[SeenCell, ...] = ()
    speaks: str = "PLAINTEXT"
    security: tuple[SecuredPort, ...] = ()
    mesh: Mesh | None = None
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
        )
        for cell in cells
        if cell.observed is not None
    )


def _judged(seen: SeenCell) -> Cell:
    contacts = {one.endpoint: one.contact for one in seen.endpoints}
    verdict = judge(seen.contact, lambda endpoint: contacts.get(endpoint, _NOT_RECORDED))
    return Cell(vantage=seen.vantage, bootstrap=seen.bootstrap, observed=verdict)


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
    )
    if not runs_kafka(container):
        return shown
    return replace(shown, entrypoint=masked_words(container.entrypoint), command=masked_words(container.command))


def _masked_services(declared: DeclaredServices) -> DeclaredServices:
    return DeclaredServices(
        services={name: _masked_service(service) for name, service in declared.services.items()},
        foretold=tuple(map(_masked_refusal, declared.foretold)),
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
