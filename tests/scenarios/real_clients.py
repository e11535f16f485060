"""The vantages of `expected.yml` in the lab, and real clients as sources of cells.

The set of brokers that answered decides the verdict (`tests.lab.answers`). The reason is added only where the client
itself names it, and names one: Java's `could not be established` covers a refused and an unreachable address alike, so
it gives no reason. An address of a family that the place does not have (EADDRNOTAVAIL for `::1`) was never tried, and
is no reason either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.lab import vantages
from tests.lab.answers import Answer
from tests.lab.errors import LabError
from tests.lab.lab import Lab
from tests.lab.lead_topics import Topic, lead_topics
from tests.lab.oracles import ORACLES, Cell
from tests.lab.readiness import NotKafka, ask
from tests.lab.stack import Stack as Running
from tests.lab.vantages import Vantage
from tests.scenarios.comparison import Source
from tests.scenarios.expectations import Stack

_REASONS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "kcat": {
        "unresolved": re.compile(r"Failed to resolve"),
        "refused": re.compile(r"failed: Connection refused"),
        "unreachable": re.compile(r"failed: (Network is unreachable|No route to host)"),
        "timeout": re.compile(r"Connection setup timed out|failed: Connection timed out"),
        "closed": re.compile(r"Disconnected|connection reset by peer"),
    },
    "java": {
        "unresolved": re.compile(r"DNS resolution failed|UnknownHostException"),
        "timeout": re.compile(r"due to socket connection setup timeout"),
    },
    "kafka-python": {
        "unresolved": re.compile(r"DNS lookup failed"),
        "refused": re.compile(r"\d+ ECONNREFUSED"),
        "unreachable": re.compile(r"\d+ (ENETUNREACH|EHOSTUNREACH)"),
        "timeout": re.compile(r"timed out after \d+ ms|\d+ ETIMEDOUT"),
        "closed": re.compile(r"socket disconnected|\d+ ECONNRESET"),
    },
}


def word(answer: Answer) -> str:
    """A cell as in `expected.yml`; `bootstrap` or `advertised` alone where the client names no reason."""
    verdict = answer.verdict()
    if verdict == "no-brokers":
        return "advertised: no-brokers"
    if verdict not in ("bootstrap", "advertised"):
        return verdict
    named = [reason for reason, said in _REASONS[answer.oracle].items() if said.search(answer.raw)]
    return f"{verdict}: {named[0]}" if len(named) == 1 else verdict


_NAMED = re.compile(r"([A-Z])(?:\((.+)\))?")


def vantage_of(running: Running, name: str) -> Vantage:
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
    topics = _topics(running, stack)
    # In order, before any client runs: the first stand at a vantage may make a container.
    places = {name: vantage_of(running, name) for name in dict.fromkeys(cell.vantage for cell in stack.cells)}

    def source(oracle: str) -> Source:
        def answer(vantage: str, bootstrap: str) -> str:
            address = filled(running, bootstrap)
            topic = _topic_behind(places[vantage], address, topics)
            return word(lab.oracles.ask(oracle, Cell(vantage=places[vantage], bootstrap=address, topic=topic)))

        return answer

    return {oracle: source(oracle) for oracle in ORACLES}


def filled(running: Running, bootstrap: str) -> str:
    """With the address of a service's container in the place of its name in braces."""
    return re.sub(r"\{(.+)\}", lambda found: _address_of(running, found[1]), bootstrap)


def _address_of(running: Running, service: str) -> str:
    return next(iter(running.state(service).networks.values()))


def _topic_behind(vantage: Vantage, address: str, topics: Mapping[str, Topic | None]) -> Topic | None:
    """The topic of the cluster that answers at an address, by its service's name or by the brokers that it names.

    No client can be asked: one that ends at another cluster forgets the first. Where nobody answers, any topic will do.
    """
    host, _, port = address.rpartition(":")
    some = next(iter(topics.values()))
    if host in topics or len(topics) == 1:
        return topics.get(host, some)
    try:
        named = ask(vantage.place.netns, host, int(port)).node_ids
    except NotKafka:
        return some
    return next((topic for topic in topics.values() if topic and topic.leaders == named), some)


def _topics(running: Running, stack: Stack) -> Mapping[str, Topic | None]:
    """The topic of each cluster, by the broker that has it; where there is one cluster, by nobody's name."""
    match stack.settled:
        case "ready" | "some-exited":
            return {"": lead_topics(running)}
        case "clusters":
            return {broker.service: lead_topics(running, of=broker.service) for broker in running.brokers()}
        case "refused":
            return {"": lead_topics(running) if any(one.is_running for one in running.brokers()) else None}
    try:
        lead_topics(running)
    except LabError:
        return {"": None}
    raise LabError(f"{stack.name} was to end as {stack.settled!r}, yet its brokers made a topic")
