"""netdiag as a source of cells: predicted from the file, predicted from the engine, observed."""

from __future__ import annotations

from collections.abc import Mapping

from netdiag.deployment.clients import attempts
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.verdict import Address
from netdiag.linux.netns import ProcessNamespace
from tests.lab.stack import Stack as Running
from tests.live.stacks import check
from tests.scenarios.comparison import Source
from tests.scenarios.expectations import Engine, Stack
from tests.scenarios.predicted import prediction
from tests.scenarios.real_clients import filled, vantage_of

PREDICTED = "predicted from the file"
PREDICTED_LIVE = "predicted from the engine"
OBSERVED = "observed"
NETDIAG = (PREDICTED, PREDICTED_LIVE, OBSERVED)


def netdiag_says(running: Running, stack: Stack, *, engine: Engine | None = None) -> Mapping[str, Source]:
    """The three views, taken once; the containers to look from must be there already."""
    declared = prediction(stack, engine=engine, profiles=running.profiles)
    pairs = [(cell.vantage, cell.bootstrap) for cell in stack.cells] + running_client_pairs(
        running, declared.deployment
    )
    asked = {bootstrap: _address(filled(running, bootstrap)) for _, bootstrap in pairs}
    addresses = tuple(dict.fromkeys(asked.values()))
    checked = check(running, addresses=addresses)
    cells = {(cell.vantage, cell.bootstrap): cell for cell in checked.cells}
    by_container = {
        each.entrance.container_id: each.vantage.label
        for each in checked.live.vantages
        if isinstance(each.entrance, ProcessNamespace)
    }

    def label(vantage: str) -> str:
        if vantage == "H":
            return "docker host"
        if vantage == "L":
            return f"netns:{running.engine.record.lan_netns}"
        return by_container[vantage_of(running, vantage).container_id]

    labels = {vantage: label(vantage) for vantage in dict.fromkeys(vantage for vantage, _ in pairs)}

    def predicted_live(vantage: str, bootstrap: str) -> str:
        return str(cells[labels[vantage], asked[bootstrap]].predicted)

    def observed(vantage: str, bootstrap: str) -> str:
        return str(cells[labels[vantage], asked[bootstrap]].observed)

    return {PREDICTED: declared.cell, PREDICTED_LIVE: predicted_live, OBSERVED: observed}


def client_rows(running: Running, stack: Stack, sources: Mapping[str, Source]) -> dict[tuple[str, str], set[str]]:
    """What the file and the observation say of every row of a declared client: one word where they agree."""
    pairs = running_client_pairs(running, prediction(stack, profiles=running.profiles).deployment)
    return {pair: {sources[PREDICTED](*pair), sources[OBSERVED](*pair)} for pair in pairs}


def running_client_pairs(running: Running, deployment: Deployment) -> list[tuple[str, str]]:
    """Those of the clients that run: the engine may have refused to start one."""
    up = {container.service for container in running.containers() if container.is_running}
    return [pair for pair in client_pairs(deployment) if pair[0].removeprefix("S(").removesuffix(")") in up]


def client_pairs(deployment: Deployment) -> list[tuple[str, str]]:
    """Every declared client as a vantage, with every address of its bootstrap list."""
    return [
        (f"S({attempt.member.name})", str(attempt.address))
        for attempt in attempts(deployment)
        if attempt.client.active and deployment.broker(attempt.member.name) is None
    ]


def _address(bootstrap: str) -> Address:
    host, _, port = bootstrap.rpartition(":")
    return Address(host=host, port=int(port))
