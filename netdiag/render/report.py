"""What one run of check-listeners found out, as a value: inputs, findings, cells, and what could not be looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from netdiag.deployment.live_view import SecuredPort
from netdiag.deployment.mesh import Mesh
from netdiag.deployment.vantage import Vantage
from netdiag.deployment.verdict import Cell
from netdiag.findings import Finding, Suppressed
from netdiag.topology.explained import Explained


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something could not be looked at; `hint` is an imperative."""

    message: str
    where: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What was asked for: a compose file, or what runs. `error` is None when it was read."""

    name: str
    kind: Literal["file", "project", "engine"] = "file"
    brokers: tuple[str, ...] = ()
    also_read: tuple[str, ...] = ()
    error: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The cells of one input; `not_running` are brokers with no inside to stand in, and the reason where known.

    `mesh` is what its members get from each other; None where nobody looked. `causes` are asked for with --why.
    """

    input: str
    vantages: tuple[Vantage, ...]
    cells: tuple[Cell, ...]
    not_running: Mapping[str, str] = field(default_factory=dict)
    mesh: Mesh | None = None
    causes: tuple[Explained, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A vantage that was asked for and not taken; `command` is the line that would take it."""

    vantage: str
    reason: str
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPort:
    """What a port of one input told about its security."""

    input: str
    port: SecuredPort


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a renderer may show. `sources` holds the bytes of the files that findings point into.

    `suppressed` are those that the user asked to overlook, which are in `findings` no more.
    `interrupted` says that the user stopped the run: inputs that were not reached carry that as their error.
    """

    inputs: tuple[Input, ...] = ()
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    security: tuple[SeenPort, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    sources: Mapping[str, bytes] = field(default_factory=dict)
    interrupted: bool = False
