"""What netdiag says of a stack from its file alone: findings, and the predicted cell of any vantage x bootstrap."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.config import Facts
from netdiag.config.parse import parse
from netdiag.deployment.model.deployment import Deployment, HostKind, Platform, generation_of, podman_release
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, parse_address
from netdiag.deployment.prediction.jmx import predict_jmx
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.compose import DEFAULT_BRIDGE, from_compose
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.io.files.projects import store_tools
from netdiag.rules.declared import check_deployment, failing_to_start
from tests.scenarios.expectations import SCENARIOS, Engine, ExpectedFinding, Stack

DOCKER_HOST = "192.168.8.133"
USUAL = Engine(version="20.10", proxy=True)
# What the engine hands out is not in the file: any address will do.
_SOME_ADDRESS = "172.17.0.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The static view of one stack."""

    file: Path
    deployment: Deployment
    findings: tuple[Finding, ...]

    def cell(self, vantage: str, bootstrap: str) -> str:
        """The word of a cell, with the vantage as `expected.yml` writes it."""
        host, _, port = re.sub(r"\{.*\}", _SOME_ADDRESS, bootstrap).rpartition(":")
        down = failing_to_start(self.findings, self.deployment)
        address = Address(host=host.strip("[]"), port=int(port))
        (cell,) = predict(self.deployment.with_down(down), [vantage_of(vantage, self.deployment)], [address])
        return str(cell.predicted)

    def jmx_cell(self, vantage: str, registry: str) -> str:
        """The word of a cell of JMX."""
        (cell,) = predict_jmx(self.deployment, [vantage_of(vantage, self.deployment)], [parse_address(registry)])
        return str(cell.predicted)

    def serious(self) -> tuple[ExpectedFinding, ...]:
        """The findings above note, in the form of `expected.yml`."""
        return tuple(
            ExpectedFinding(
                rule=f.rule,
                severity=f.severity.value,
                service=f.service or "",
                line=f.location.line,
                file="" if f.location.path == self.file.name else f.location.path,
            )
            for f in self.findings
            if f.severity is not Severity.NOTE and isinstance(f.location, FileLocation)
        )


def prediction(
    stack: Stack,
    environ: Mapping[str, str] | None = None,
    *,
    engine: Engine | None = None,
    profiles: tuple[str, ...] = (),
) -> Prediction:
    """Load and judge the stack's file, as `docker compose up` reads it on an engine."""
    project = load(Source(stack.file.name, stack.file.read_bytes()), environ=environ or {}, profiles=profiles)

    def read(path: str) -> bytes | None:
        file = stack.file.parent / path
        return file.read_bytes() if file.is_file() else None

    deployment = from_compose(
        project,
        host_addresses=(DOCKER_HOST,),
        facts=facts(),
        read=read,
        stores=store_tools,
        platform=platform_of(engine or USUAL),
    )
    return Prediction(file=stack.file, deployment=deployment, findings=check_deployment(deployment))


def facts() -> Facts:
    """What the configuration file beside the scenarios says of the clients' resolvers."""
    path = SCENARIOS / "netdiag.toml"
    configuration = parse(path.name, path.read_bytes(), known=lambda rule: None)
    assert configuration is not None
    return configuration.facts


def platform_of(engine: Engine) -> Platform:
    """What the model is told of an engine."""
    kind = HostKind(engine.platform)
    if kind is HostKind.PODMAN:
        return Platform(kind=kind, podman=podman_release(engine.version))
    return Platform(kind=kind, generation=generation_of(engine.version), userland_proxy=engine.proxy)


def vantage_of(text: str, deployment: Deployment) -> Vantage:
    """`H`, `L`, `O`, `D`, `C`, `C(network)`, `B(broker)` or `S(service)` as a vantage of this deployment."""
    match = re.fullmatch(r"([HLODCBS])(?:\((.*)\))?", text)
    assert match, text
    letter, name = match.groups()
    if letter == "D":
        return Vantage(kind=VantageKind.OTHER_NETWORK, label=text, networks=(DEFAULT_BRIDGE,))
    kind = VantageKind.CONTAINER if letter == "S" else VantageKind(letter)
    if letter in "BS":
        member = deployment.by_name[name]
        networks = tuple(a.network for a in member.attachments)
        return Vantage(kind=kind, label=text, member=name, networks=networks)
    networks = ()
    if kind is VantageKind.CONTAINER:
        networks = (name or "kafka",)
    return Vantage(kind=kind, label=text, networks=networks)
