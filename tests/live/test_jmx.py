"""JMX of real brokers: predicted = observed = what Java's own client gets, from every vantage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import jsonschema
import pytest

from netdiag.config import Facts
from netdiag.deployment.model.verdict import Address, parse_address
from netdiag.deployment.prediction.jmx import predict_jmx
from netdiag.io.engine.live_deployment import OtherVantages, read_live
from netdiag.io.network.jmx import observe_jmx
from netdiag.linux.netns import ProcessNamespace
from netdiag.rules.declared import check_deployment
from tests.cli.shell import process
from tests.deployment.stacks import deployment_of
from tests.each import each
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live.jmx_cases import JMX_CASES, JmxCase, JmxSide
from tests.render.schemas import strict_schema
from tests.scenarios.expectations import Stack as Scenario
from tests.scenarios.expectations import stacks
from tests.scenarios.predicted import USUAL, platform_of
from tests.scenarios.predicted import vantage_of as vantage_in_file
from tests.scenarios.real_clients import vantage_of
from tests.scenarios.running_stack import started_stack

VANTAGES = ("H", "B(kafka)", "C", "O", "L")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a stack gave by vantage and registry: Java's words with its exception, netdiag's three words."""

    java: Mapping[tuple[str, str], tuple[str, str]]
    observed: Mapping[tuple[str, str], str]
    from_engine: Mapping[tuple[str, str], str]
    from_file: Mapping[tuple[str, str], str]


def java_client(lab: Lab, running: Stack, vantage: str, registries: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """What Java's JMX client says of each registry: a word, and what it prints."""
    printed = lab.oracles.java_tool(vantage_of(running, vantage), "JmxClient", registries, 60)
    lines = [line.split("\t") for line in printed.splitlines()]
    return {line[0]: (line[1], line[2]) for line in lines if len(line) == 3}


def java_clients(lab: Lab, running: Stack, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, str]]:
    """The same for every vantage and registry."""
    asked: dict[str, list[str]] = {}
    for vantage, registry in pairs:
        asked.setdefault(vantage, []).append(registry)
    return {
        (vantage, registry): said
        for vantage, registries in asked.items()
        for registry, said in java_client(lab, running, vantage, tuple(registries)).items()
    }


def predicted(text: str, pairs: list[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What the file alone says."""
    deployment = deployment_of(text, host_addresses=("192.168.8.133",))
    deployment = replace(deployment, platform=platform_of(USUAL), facts=Facts(resolves={"*": ""}))
    return {
        (vantage, registry): str(
            predict_jmx(deployment, [vantage_in_file(vantage, deployment)], [parse_address(registry)])[0].predicted
        )
        for vantage, registry in pairs
    }


def tell(lab: Lab, folder: Path, side: JmxSide, image: str) -> Answers:
    """Start the stack, ask from everywhere."""
    file = folder / "compose.yml"
    file.write_text(side.text(image), encoding="utf-8")
    pairs = [(vantage, registry) for vantage in VANTAGES for registry in side.registries]
    with lab.up(file) as running:
        java = java_clients(lab, running, pairs)
        live = read_live(
            host=running.engine.docker_host,
            project=running.project,
            vantages=OtherVantages(netns=(running.engine.record.lan_netns,), everywhere=True),
        )
        labels = {
            each.entrance.container_id: each.vantage.label
            for each in live.vantages
            if isinstance(each.entrance, ProcessNamespace)
        }
        known = {"H": "docker host", "L": f"netns:{running.engine.record.lan_netns}"}
        places = {name: known.get(name) or labels[vantage_of(running, name).container_id] for name in VANTAGES}
        addresses = [parse_address(registry) for registry in side.registries]
        seen = observe_jmx(live.vantages, addresses, timeout=6.0)
        deployment = replace(live.deployment, facts=Facts(resolves={"*": ""}))
        foretold = predict_jmx(deployment, [each.vantage for each in live.vantages], addresses)

    def words(cells: Mapping[tuple[str, Address], str]) -> dict[tuple[str, str], str]:
        return {(name, registry): cells[places[name], parse_address(registry)] for name, registry in pairs}

    return Answers(
        java=java,
        observed=words({(cell.vantage, cell.registry): str(cell.observed) for cell in seen.cells}),
        from_engine=words({(cell.vantage, cell.registry): str(cell.predicted) for cell in foretold}),
        from_file=predicted(side.text(image), pairs),
    )


@each("case", JMX_CASES, ids=lambda case: case.name)
def test_the_rule_finds_the_broken_one_and_nothing_in_the_repaired_one(case: JmxCase) -> None:
    for side in (case.broken, case.repaired):
        found = check_deployment(deployment_of(side.text(case.image), host_addresses=("192.168.8.133",)))
        assert sorted(one.rule for one in found if one.rule.startswith("jmx-")) == sorted(side.rules)


CASES = [pytest.param(case, id=case.name, marks=pytest.mark.bar("jmx", long=not case.is_quick)) for case in JMX_CASES]


@pytest.mark.parametrize("case", CASES)
def test_netdiag_says_what_javas_client_gets(lab: Lab, tmp_path: Path, case: JmxCase, figure: Report) -> None:
    broken = tell(lab, tmp_path, case.broken, case.image)
    repaired = tell(lab, tmp_path, case.repaired, case.image)
    different: list[str] = []
    unknown = 0
    for name, answers in (("broken", broken), ("repaired", repaired)):
        assert len(answers.java) == len(answers.observed)
        for cell, (word, said) in answers.java.items():
            for source, words in (
                ("observed", answers.observed),
                ("engine", answers.from_engine),
                ("file", answers.from_file),
            ):
                unknown += words[cell] == "unknown"
                if words[cell] not in (word, *(("unknown",) if source != "observed" else ())):
                    different.append(f"{name} {cell}: Java {word}, {source} {words[cell]}: {said}")
    assert not different, "\n".join(different)
    assert broken.java[case.where][0].startswith("stub: ")
    assert case.seen in broken.java[case.where][1]
    assert "ok" in {word for (vantage, _), (word, _) in repaired.java.items() if vantage == case.where[0]}
    figure(f"{case.name}: cells that Java, both predictions and the observation agree on", len(broken.java) * 2)
    figure(f"{case.name}: predictions that are unknown", unknown)


S24 = [stack for stack in stacks() if stack.jmx]


@pytest.mark.bar("jmx", long=True)
@pytest.mark.parametrize("stack", S24, ids=lambda stack: stack.name)
def test_java_gets_what_the_scenario_expects(lab: Lab, tmp_path: Path, stack: Scenario, figure: Report) -> None:
    with started_stack(lab, stack, tmp_path) as running:
        java = java_clients(lab, running, stack.jmx)
        host = running.engine.docker_host
        drawn = process("jmx", "localhost:9101", "--host", host, "--format", "json", cwd=tmp_path)
    assert {pair: word for pair, (word, _) in java.items()} == dict(stack.jmx)
    document = json.loads(drawn.stdout)
    jsonschema.validate(document, strict_schema("jmx.v1.json"))
    seen = {cell["vantage"]: cell["observed"]["outcome"] for cell in document["cells"] if cell["observed"]}
    assert seen["docker host"] == stack.jmx["H", "localhost:9101"]
    assert {cell["agrees"] for cell in document["cells"] if cell["observed"]} == {True}
    assert drawn.returncode == (1 if "stub: " in seen["docker host"] else 0)
    figure(f"{stack.name}: cells of Java's client", len(java))
