"""Stacks on a swarm of two engines: from both nodes, from outside and from containers on each node, kcat gets what
the file foretells, what each engine's deployment foretells, and what a live check of each engine sees.

An engine tells nothing of some cells, and a file of others (which node runs a task): these are unknown, never wrong.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.config import Facts
from netdiag.deployment.model.deployment import HostKind, Platform
from netdiag.deployment.model.vantage import Vantage as Place
from netdiag.deployment.model.vantage import VantageKind, container_vantage, docker_host
from netdiag.deployment.model.verdict import Cell as Predicted
from netdiag.deployment.model.verdict import parse_address
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import Severity
from netdiag.io.engine.live_deployment import OtherVantages, read_live
from netdiag.io.network.observation import observe
from netdiag.linux.netns import ProcessNamespace
from netdiag.rules.declared import check_deployment, swarm_ingress_with_dnsrr
from netdiag.rules.rule import rule_page
from tests.figures import Report
from tests.lab.errors import LabError
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import Cell
from tests.lab.swarm import ADDRESSES, Swarm, SwarmStack, lan_vantage, node_vantage
from tests.lab.vantages import Vantage
from tests.live.stacks import PATIENCE
from tests.live.swarm_cases import CASES, PLACES, SwarmCase

_FACTS = Facts(resolves={"*": ""})
# (place, address)
Words = Mapping[tuple[str, str], str]


# Each takes a start of Kafka; make test has those that every kind of place and name is in.
_SHORT = ("replicas with a name each", "a port in host mode")
_PARAMETERS = [
    pytest.param(case, id=name, marks=pytest.mark.bar("swarm", long=name not in _SHORT)) for name, case in CASES.items()
]


@pytest.mark.parametrize("case", _PARAMETERS)
def test_clients_get_what_is_predicted(case: SwarmCase, swarm: Swarm, tmp_path: Path, figure: Report) -> None:
    files = []
    for index, text in enumerate(case.files):
        files.append(tmp_path / f"stack-{index}.yml")
        files[-1].write_text(text, encoding="utf-8")
    expected = {
        (place, address): word
        for address, words in case.cells.items()
        for place, word in zip(PLACES, words.split(), strict=True)
    }
    told = {"the file": _of_file(case)}
    with swarm.deployed(*files) as stack:
        stack.wait_ready()
        places = _places(stack, case)
        topic = lead_topics(stack)
        cells = {key: Cell(vantage=places[key[0]], bootstrap=key[1], topic=topic) for key in expected}
        told |= _of_engines(stack, case, places)
        answers = swarm.oracles.ask_all(cells.values(), ("kcat",))
    told["kcat"] = {key: answers[cell, "kcat"].verdict() for key, cell in cells.items()}
    found = {source: {key: _short(words[key]) for key in expected} for source, words in told.items()}
    wrong = [
        f"{place} {address}: expected {word}, {source} says {words[place, address]} ({told[source][place, address]})"
        for (place, address), word in expected.items()
        for source, words in found.items()
        if not _fits(words[place, address], word, source)
    ]
    assert not wrong, "\n".join(wrong)
    assert _errors(case.files) == case.errors
    for source, words in found.items():
        decided = Counter(word != "unknown" for word in words.values())
        figure(f"cells, {source}", decided[True])
    figure("cells", len(expected))


@pytest.mark.bar("swarm")
def test_a_swarm_refuses_a_port_in_ingress_mode_without_a_virtual_address(swarm: Swarm, tmp_path: Path) -> None:
    page = rule_page(swarm_ingress_with_dnsrr.__doc__ or "")
    file = tmp_path / "stack.yml"
    # A docker command before release 25 takes no file without a version.
    version = 'version: "3.8"\n'
    file.write_text(version + page.bad, encoding="utf-8")
    with pytest.raises(LabError, match="can't be used with dnsrr mode"), swarm.deployed(file):
        pass
    # Its image and its ZooKeeper are not asked for: the service is taken.
    file.write_text(version + page.good, encoding="utf-8")
    words = ("stack", "deploy", "--resolve-image=never", f"--compose-file={file}", "nd-good")
    try:
        assert "Creating service nd-good_kafka" in swarm.manager.docker(*words)
    finally:
        swarm.manager.docker("stack", "rm", "nd-good")


def _fits(word: str, expected: str, source: str) -> bool:
    if expected == "shared":
        # kcat has one connection for both brokers, whichever of them it meets.
        return word in {"kcat": ("partial", "wrong-broker"), "observed": ("partial",)}.get(
            source, ("partial", "unknown")
        )
    if word == "unknown":
        return source in ("the file", "the engine")
    return word == expected or (word == "bootstrap" and expected in ("refused", "unresolved") and source == "kcat")


def _short(word: str) -> str:
    """The reason of a bootstrap that fails, else the first word."""
    first, _, reason = word.partition(": ")
    return reason if first == "bootstrap" and reason else first.split()[0]


def _places(stack: SwarmStack, case: SwarmCase) -> dict[str, Vantage]:
    return {
        "node 0": node_vantage(stack.swarm, 0),
        "node 1": node_vantage(stack.swarm, 1),
        "L": lan_vantage(stack.swarm),
        "client 0": stack.inside(case.client, 0),
        "client 1": stack.inside(case.client, 1),
    }


def _of_file(case: SwarmCase) -> Words:
    """What the file with the brokers foretells; for a client of another stack, that stack's file."""
    found = {}
    for index, text in enumerate(case.files):
        project = load(Source("stack.yml", text), environ={})
        deployment = from_compose(
            project, host_addresses=ADDRESSES, facts=_FACTS, platform=Platform(kind=HostKind.SWARM)
        )
        places = {"L": Place(kind=VantageKind.LAN, label="L")} | dict.fromkeys(PLACES[:2], docker_host())
        if client := deployment.by_name.get("client"):
            places |= dict.fromkeys(PLACES[3:], container_vantage(client))
        addresses = [parse_address(one) for one in case.cells]
        for place, vantage in places.items():
            for cell in predict(deployment, [vantage], addresses):
                if index == 0 or place.startswith("client"):
                    found[place, str(cell.bootstrap)] = str(cell.predicted)
    return found


def _of_engines(stack: SwarmStack, case: SwarmCase, places: Mapping[str, Vantage]) -> dict[str, Words]:
    """What each node's engine foretells, and what is seen from there."""
    foretold: dict[tuple[str, str], str] = {}
    observed: dict[tuple[str, str], str] = {}
    asked = tuple(parse_address(one) for one in case.cells)
    for index, engine in enumerate(stack.swarm.engines):
        netns = (engine.record.lan_netns,) if index == 0 else ()
        live = read_live(host=engine.docker_host, vantages=OtherVantages(netns=netns, everywhere=True))
        labels = {"docker host": f"node {index}", f"netns:{engine.record.lan_netns}": "L"}
        for each in live.vantages:
            if isinstance(each.entrance, ProcessNamespace) and each.entrance.container_id:
                here = places[f"client {index}"].container_id
                labels |= {each.vantage.label: f"client {index}"} if each.entrance.container_id == here else {}
        wanted = [each for each in live.vantages if each.vantage.label in labels]
        deployment = replace(live.deployment.with_down(live.stopped), facts=_FACTS)
        known = predict(deployment, [each.vantage for each in wanted], asked)
        foretold |= {_key(cell, labels): str(cell.predicted) for cell in known}
        seen = observe(wanted, asked, timeout=PATIENCE).cells
        observed |= {_key(cell, labels): str(cell.observed) for cell in seen}
    return {"the engine": foretold, "observed": observed}


def _key(cell: Predicted, labels: Mapping[str, str]) -> tuple[str, str]:
    return labels[cell.vantage], str(cell.bootstrap)


def _errors(files: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for text in files:
        project = load(Source("stack.yml", text), environ={})
        deployment = from_compose(project, host_addresses=ADDRESSES, platform=Platform(kind=HostKind.SWARM))
        found += [one.rule for one in check_deployment(deployment) if one.severity is Severity.ERROR]
    return tuple(found)
