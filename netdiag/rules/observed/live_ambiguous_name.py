"""Containers of different clusters answer to one name.

Why: Docker's DNS gives the addresses of all containers that have a name on a network, in a new order each time. Part of
the connections go to the other cluster, and no error says so: both have a broker 1, often even the same cluster ID.
Data ends up in the wrong cluster, or clients report errors about a listener that is not theirs.

Bad:
    name: a
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: alpine:3.20
    x-observed:
      cells:
        - vantage: container app
          bootstrap: kafka:9092
          shared: [{of: kafka, at: 172.18.0.3}, {of: b-kafka-1, at: 172.18.0.4}]  # <- here

Good:
    name: a
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://a-kafka:9092
        networks:
          default:
            aliases: [a-kafka]
      app:
        image: alpine:3.20
    x-observed:
      cells:
        - vantage: container app
          bootstrap: a-kafka:9092
          answers: {node: 1, listener: PLAINTEXT}
          told: [{node: 1, at: "a-kafka:9092", gives: ok}]

Seen: UNKNOWN_TOPIC_OR_PARTITION and topics that come and go; or nothing at all

Sources: handleIPQuery and shuffleAddr in libnetwork/resolver.go of moby; rd_sockaddr_list_shuffle in rdaddr.c of
    librdkafka; rfc3484_sort in getaddrinfo.c of glibc.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import NameChoice, Word
from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.prediction.shared_names import alias_hint, member_in_words
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.rules.live_findings import listed, written
from netdiag.rules.names_in_use import NameInUse, names_of_several_projects

ID = "live-ambiguous-name"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every name in the cells: an error where a client may meet another cluster, else a warning.

    Then one for every other name that brokers or clients are configured with, such as that of ZooKeeper.
    """
    places: dict[str, list[str]] = {}
    choices: dict[str, NameChoice] = {}
    divided: set[str] = set()
    for cell in view.cells:
        verdict = cell.observed
        for choice in verdict.choices if verdict else ():
            places.setdefault(choice.name, []).append(cell.vantage)
            choices.setdefault(choice.name, choice)
            if verdict and verdict.word is Word.AMBIGUOUS and len(choice.members) > 1 and choice.name not in divided:
                divided.add(choice.name)
                choices[choice.name] = choice
    for name, choice in choices.items():
        yield _in_cells(view, choice, places[name], divided=name in divided)
    for use in names_of_several_projects(view.deployment):
        if use.others and use.name not in choices:
            choices[use.name] = NameChoice(name=use.name, meetings=(), first=())
            yield _configured(view, use)


def _in_cells(view: LiveView, choice: NameChoice, places: list[str], *, divided: bool) -> Finding:
    known = view.deployment.by_name
    members = [known[one.member] for one in choice.meetings if one.member in known]
    asked = next((found for member in members if (found := view.deployment.broker(member.name))), None)
    return Finding(
        rule=ID,
        severity=SEVERITY if divided else Severity.WARNING,
        message=f'from {listed(places)}: "{choice.name}" leads to {choice.owners}',
        location=ContainerLocation(container=asked.name if asked else places[0], part=choice.name),
        why=choice.clients,
        hint=alias_hint(view.deployment, choice.name, members) if members else _by_address(choice),
        related=written(view, asked, "advertised.listeners") if asked else (),
        service=asked.name if asked else None,
    )


def _by_address(choice: NameChoice) -> str:
    """What helps where the name is that of a machine."""
    return f"use one address instead of {choice.name}, or end the program that listens at the other one"


def _configured(view: LiveView, use: NameInUse) -> Finding:
    owners = [member_in_words(view.deployment, member.name) for member in (*use.own, *use.others)]
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{use.member.name} uses "{use.name}" on network {use.network.name}: it leads to {listed(owners)}',
        location=use.where,
        why="Docker's DNS gives the addresses of all of them, in a new order each time",
        hint=alias_hint(view.deployment, use.name, use.own),
        service=use.member.name,
    )
