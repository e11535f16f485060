"""The vantages of `expected.yml` in the lab, and real clients as sources of cells."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.lab import vantages
from tests.lab.errors import LabError
from tests.lab.lab import Lab
from tests.lab.lead_topics import Topic, lead_topics
from tests.lab.oracles import ORACLES, Cell
from tests.lab.stack import Stack as Running
from tests.lab.vantages import Vantage
from tests.scenarios.client_words import word
from tests.scenarios.comparison import Source
from tests.scenarios.expectations import Stack

_NAMED = re.compile(r"([A-Z])(?:\((.+)\))?")


def stand(running: Running, name: str) -> Vantage:
    """`H`, `B(broker-2)`, `S(kafka-ui)`, `C`, `C(front)`, `O`, `L`, `D`; clients are made where they are needed."""
    found = _NAMED.fullmatch(name)
    match found.groups() if found else (None, None):
        case ("H", None):
            return vantages.docker_host(running)
        case ("L", None):
            return vantages.lan_machine(running)
        case ("O", None):
            return vantages.other_network(running)
        case ("D", None):
            return vantages.default_bridge(running)
        case ("C", None):
            return vantages.same_network(running)
        case ("C", str(network)):
            return vantages.same_network(running, f"{running.project}_{network}")
        case ("B" | "S", str(service)):
            return vantages.inside(running, service)
    raise ValueError(f"no vantage {name!r}")


def clients(lab: Lab, running: Running, stack: Stack) -> Mapping[str, Source]:
    """kcat, Java's console tools and kafka-python, each standing where the cell says."""
    topic = _topic(running, stack)
    # In order, before any client runs: the first stand at a vantage may make a container.
    places = {name: stand(running, name) for name in dict.fromkeys(cell.vantage for cell in stack.cells)}

    def source(oracle: str) -> Source:
        def ask(vantage: str, bootstrap: str) -> str:
            cell = Cell(vantage=places[vantage], bootstrap=filled(running, bootstrap), topic=topic)
            return word(lab.oracles.ask(oracle, cell))

        return ask

    return {oracle: source(oracle) for oracle in ORACLES}


def filled(running: Running, bootstrap: str) -> str:
    """With the address of a service's container in the place of its name in braces."""
    return re.sub(r"\{(.+)\}", lambda found: _address_of(running, found[1]), bootstrap)


def _address_of(running: Running, service: str) -> str:
    return next(iter(running.state(service).networks.values()))


def _topic(running: Running, stack: Stack) -> Topic | None:
    if stack.settled == "ready":
        return lead_topics(running)
    try:
        lead_topics(running)
    except LabError:
        return None
    raise LabError(f"{stack.name} was to end as {stack.settled!r}, yet its brokers made a topic")
