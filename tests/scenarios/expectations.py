"""`expected.yml` beside the compose files of a scenario, as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ruamel.yaml import YAML

SCENARIOS = Path(__file__).parents[2] / "compose" / "scenarios"

_REASON = "unresolved|refused|timeout|unreachable|closed"
CELL = re.compile(
    rf"ok|partial [1-9]\d*/[1-9]\d*|bootstrap: ({_REASON})|advertised: ({_REASON}|no-brokers)"
    r"|wrong-broker|not-kafka|tls|sasl"
)
JMX_CELL = re.compile(rf"ok|(?:registry|stub): (?:{_REASON}|not-jmx)")
SETTLED = ("ready", "exited", "some-exited", "no-metadata", "clusters", "refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What a cell may depend on: the engine's version ("20.10", "28", "29"), its userland proxy, what it runs on."""

    version: str
    proxy: bool
    platform: str = "linux"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFinding:
    """A finding that the static check must give: nothing else at warning or error.

    `file` is what its line is in, if that is not the compose file.
    """

    rule: str
    severity: str
    service: str
    line: int
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One form of a cell, on the engines that it holds for; an empty tuple holds for all.

    `predicted` is what can be told without looking, where that is less: "unknown"; `from_file` is the same for the
    compose file alone. `kcat` is what kcat may say instead, where librdkafka is known to differ.
    """

    cell: str
    predicted: str | None = None
    from_file: str | None = None
    kcat: str | None = None
    versions: tuple[str, ...] = ()
    proxies: tuple[bool, ...] = ()
    platform: str | None = None

    def holds(self, engine: Engine) -> bool:
        """Whether this is the form of the cell on `engine`."""
        return (
            (not self.versions or engine.version in self.versions)
            and (not self.proxies or engine.proxy in self.proxies)
            and self.platform in (None, engine.platform)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCell:
    """What a client at `vantage` gets from `bootstrap`; `{kafka}` in it is the address of that service's container."""

    vantage: str
    bootstrap: str
    cases: tuple[Case, ...]

    def on(self, engine: Engine) -> str:
        """The word of the cell on `engine`: exactly one case must hold."""
        return self._case(engine).cell

    def from_file(self, engine: Engine) -> str:
        """The word that the compose file alone is good for."""
        case = self._case(engine)
        return case.from_file or case.predicted or case.cell

    def is_predicted(self, engine: Engine) -> bool:
        """Whether the cell is what a prediction from the running engine must say."""
        return self._case(engine).predicted is None

    def differs(self, source: str, engine: Engine) -> str | None:
        """What `source` may say instead of the word of the cell."""
        return self._case(engine).kcat if source == "kcat" else None

    def _case(self, engine: Engine) -> Case:
        cases = [case for case in self.cases if case.holds(engine)]
        if len(cases) != 1:
            raise ValueError(f"{self.vantage} {self.bootstrap}: {len(cases)} cases hold for {engine}")
        return cases[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why an engine does not start a stack whole, and whether it makes its containers at all."""

    says: str
    containers: bool = True
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A compose file with what is expected of it.

    `broker_prints` is predicted by findings, by service; `exits` is what other services print when they end;
    `jmx` is what a JMX client gets, by vantage and registry. `refusals` are why the engine (or compose) does not start
    the stack whole: none, or one on each engine.
    """

    scenario: str
    file: Path
    findings: tuple[ExpectedFinding, ...]
    broker_prints: Mapping[str, str]
    exits: Mapping[str, str] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    settled: str
    cells: tuple[ExpectedCell, ...]
    jmx: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Short and unique: `S02/kraft.broken`."""
        return f"{self.scenario}/{self.file.stem}"

    def refusal(self, engine: Engine) -> Refusal | None:
        """What keeps `engine` from starting the stack whole."""
        found = [one for one in self.refusals if not one.versions or engine.version in one.versions]
        if len(found) > 1 or (self.refusals and not found):
            raise ValueError(f"{self.name}: {len(found)} refusals hold for {engine}")
        return found[0] if found else None


@cache
def stacks(root: Path = SCENARIOS) -> tuple[Stack, ...]:
    """Every stack of every `expected.yml` one level below `root`, in order of folder, then as written."""
    return tuple(
        _stack(content["scenario"], document.parent / name, expected)
        for document in sorted(root.glob("*/expected.yml"))
        for content in [YAML(typ="safe", pure=True).load(document)]
        for name, expected in content["stacks"].items()
    )


def _stack(scenario: str, file: Path, expected: Mapping[str, object]) -> Stack:
    unknown = set(expected) - {"findings", "broker_prints", "exits", "engine_says", "settled", "matrix", "jmx"}
    if unknown:
        raise ValueError(f"{file}: {', '.join(sorted(unknown))} is no key of a stack")
    findings, matrix = expected["findings"], expected["matrix"]
    jmx = expected.get("jmx", {})
    assert isinstance(jmx, dict)
    prints, exits = expected.get("broker_prints", {}), expected.get("exits", {})
    assert isinstance(findings, list)
    assert isinstance(prints, dict)
    assert isinstance(exits, dict)
    assert isinstance(matrix, dict)
    return Stack(
        scenario=scenario,
        file=file,
        findings=tuple(ExpectedFinding(**finding) for finding in findings),
        broker_prints=prints,
        exits=exits,
        refusals=_refusals(expected.get("engine_says", [])),
        settled=str(expected["settled"]),
        cells=tuple(
            ExpectedCell(vantage=vantage, bootstrap=bootstrap, cases=_cases(cell))
            for vantage, row in matrix.items()
            for bootstrap, cell in row.items()
        ),
        jmx={(vantage, registry): word for vantage, row in jmx.items() for registry, word in row.items()},
    )


def _refusals(said: object) -> tuple[Refusal, ...]:
    if isinstance(said, str):
        return (Refusal(says=said),)
    assert isinstance(said, list)
    return tuple(
        Refusal(says=one["says"], containers=one.get("containers", True), versions=tuple(one["engine"])) for one in said
    )


def _cases(cell: object) -> tuple[Case, ...]:
    if isinstance(cell, str):
        return (Case(cell=cell),)
    cases = [cell] if isinstance(cell, dict) else cell
    assert isinstance(cases, list)
    return tuple(
        Case(
            cell=case["cell"],
            predicted=case.get("predicted"),
            from_file=case.get("from_file"),
            kcat=case.get("kcat"),
            versions=tuple(case.get("engine", ())),
            platform=case.get("platform"),
            proxies=({"on": True, "off": False}[case["proxy"]],) if "proxy" in case else (),
        )
        for case in cases
    )
