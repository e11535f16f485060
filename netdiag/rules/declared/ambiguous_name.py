"""A broker or client uses a service name that another project on the network may have, too.

Why: On a network that projects share, Docker's DNS gives the addresses of all containers that have a name, in a new
order each time. If two projects have a service of this name, part of the connections go to the other cluster. The
finding is a warning if another file that is checked has the name on the same network, or if `netdiag.toml` lists it
among the members of the external network; else it is a note. An alias is not reported, because it was chosen.

Bad:
    name: a
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [shared]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper.example.com:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092  # <- here
    networks:
      shared:
        external: true

Good:
    name: a
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks:
          shared:
            aliases: [a-kafka]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper.example.com:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://a-kafka:9092
    networks:
      shared:
        external: true

Seen: UNKNOWN_TOPIC_OR_PARTITION and topics that come and go; or nothing at all

Sources: handleIPQuery and shuffleAddr in libnetwork/resolver.go of moby; Compose adds the service name as an alias on
    every network of a service.
"""

from collections.abc import Iterator, Sequence

from netdiag.deployment.model.deployment import Deployment, State
from netdiag.deployment.prediction.shared_names import alias_hint, alias_of, member_in_words
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.names_in_use import NameInUse, names_of_several_projects

ID = "ambiguous-name"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every name and network, at the first use; what runs is left to live-ambiguous-name."""
    groups: dict[tuple[str, str], list[NameInUse]] = {}
    for use in names_of_several_projects(deployment):
        if use.member.state is State.DECLARED and any(member.service == use.name for member in use.own):
            who = _who(deployment, use)
            if who:
                groups.setdefault((use.network.key, who), []).append(use)
    for (_, who), uses in groups.items():
        yield _finding(deployment, uses, who)


def _who(deployment: Deployment, use: NameInUse) -> str:
    """Who else has the name or may have it; empty where nobody has."""
    known = use.network.known_names
    if use.others:
        return f"{member_in_words(deployment, use.others[0].name)} has the name, too"
    if not use.network.external or (known is not None and use.name not in known):
        return ""
    return "another project there may have the same name" if known is None else "another container there has it, too"


def _finding(deployment: Deployment, uses: Sequence[NameInUse], who: str) -> Finding:
    first, *others = uses
    certain = first.others or first.network.known_names is not None
    names = " and ".join(filter(None, [", ".join(f'"{use.name}"' for use in uses[:-1]), f'"{uses[-1].name}"']))
    who = who.replace("the same name", "the same names") if others else who
    users = ", ".join(dict.fromkeys(use.member.name for use in uses))
    verb = "use" if "," in users else "uses"
    return Finding(
        rule=ID,
        severity=SEVERITY if certain else Severity.NOTE,
        message=f"{users} {verb} {names} on network {first.network.name}, which projects share: {who}",
        location=first.where,
        why="Docker's DNS then gives the addresses of both, and part of the connections go to the other project",
        hint=alias_hint(deployment, first.name, first.own)
        if not others
        else f"give each an alias of its own there, for example {alias_of(first.name, first.own)}, and use the aliases",
        related=(
            *(Related(location=use.where, message=f'"{use.name}" is used here') for use in others),
            *(Related(location=other.where, message="the other service") for other in first.others[:1]),
        ),
        service=first.member.name,
    )
