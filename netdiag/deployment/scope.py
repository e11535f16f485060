"""What a question is about: a compose project, a session of Testcontainers, a cluster or a container.

Everything else on the engine is its surroundings: it explains who holds a port or a name, and is never judged.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import Answered
from netdiag.deployment.prediction.client_namespace import MemberAddress, resolve
from netdiag.deployment.prediction.cluster import cluster_of, quorum_members
from netdiag.deployment.sources.engine import NO_NETWORKS, from_engine, runs_kafka
from netdiag.engine.container import Container, EngineNetwork
from netdiag.engine.testcontainers import is_reaper, library_of, session_of, session_title
from netdiag.values import dataclass

_DEFAULT_BRIDGE = "bridge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is asked about: containers by their ids. `project` is the compose project of the question, if it has one.

    `name` is what a report calls it.
    """

    asked: frozenset[str]
    project: str | None = None
    name: str = ""


def scope_of(
    containers: Sequence[Container],
    networks: Iterable[EngineNetwork],
    *,
    project: str | None = None,
    names: Sequence[str] = (),
) -> Scope:
    """The containers of a compose project, or those named with their clusters, controllers and ZooKeeper; else all.

    A name is a container's name, or its id from the first digits on. Where none of those named runs Kafka, the brokers
    on their networks belong to the question: they are what such a container connects to.
    """
    if project is not None:
        asked = frozenset(c.id for c in containers if c.project == project)
        return Scope(asked=asked, project=project, name=project)
    if not names:
        return Scope(asked=frozenset(c.id for c in containers if not is_reaper(c)))
    found = {c.id for c in named(containers, names)}
    brokers = {c.id for c in containers if c.id in found and runs_kafka(c)}
    brokers = brokers or {c.id for c in sharing_a_network(containers, found) if runs_kafka(c)}
    if brokers:
        deployment = from_engine(containers, networks)
        chosen = {c.name for c in containers if c.id in brokers}
        clusters = [cluster_of(deployment, one) for one in deployment.brokers if one.member.container in chosen]
        together = {broker.name for cluster in clusters for broker in cluster}
        together |= {name for cluster in clusters for broker in cluster for name in quorum_members(deployment, broker)}
        members = {deployment.by_name[name].container for name in together if name in deployment.by_name}
        found |= {c.id for c in containers if c.name in members}
    return Scope(asked=frozenset(found), name=", ".join(names))


def named(containers: Iterable[Container], names: Sequence[str]) -> tuple[Container, ...]:
    """The containers of these names, or of ids that begin so."""
    return tuple(c for c in containers if any(_is_called(c, name) for name in names))


def scopes_of(
    containers: Sequence[Container],
    networks: Sequence[EngineNetwork],
    told: Mapping[str, Answered] | None = None,
) -> tuple[Scope, ...]:
    """All containers, one scope for each cluster: brokers of one cluster, project or session belong together.

    `told` is what brokers answer from inside, by the names of their containers: the cluster ID decides, and where two
    clusters have the same, whether a broker names the other. Of a broker that does not answer, its configuration says
    where its quorum is. Their projects and sessions come with them.

    What belongs to none of these belongs to the first scope with which it shares a network, but no other session does.
    Where there is one scope, everything belongs to it, unless that is a session.
    """
    groups = _groups(from_engine(containers, networks), told or {}, {c.name: session_of(c) for c in containers})
    by_name = {c.name: c for c in containers}
    if len(groups) < 2 and not any(library_of(by_name[name]) for group in groups for name in group):
        return (scope_of(containers, networks),)
    scopes = []
    taken: set[str] = set()
    for group in groups:
        brokers = [by_name[name] for name in group]
        projects = tuple(dict.fromkeys(c.project for c in brokers if c.project))
        sessions = {session for c in brokers if (session := session_of(c))}
        asked = {c.id for c in containers if c.name in group or c.project in projects or session_of(c) in sessions}
        scopes.append((asked, projects, brokers, sessions))
        taken |= asked
    for asked, _, brokers, sessions in scopes:
        near = {c.id for c in sharing_a_network(containers, asked) if _may_join(c, brokers, sessions)} - taken
        asked |= near
        taken |= near
    reapers = {c.id for c in containers if is_reaper(c)}
    return tuple(
        Scope(
            asked=frozenset(asked - reapers),
            project=projects[0] if len(projects) == 1 else None,
            name=", ".join(projects) or _called(brokers),
        )
        for asked, projects, brokers, _ in scopes
    )


def _may_join(container: Container, brokers: Sequence[Container], sessions: Collection[str]) -> bool:
    """Whether what shares a network with these brokers belongs to them: what another session started does not.

    Brokers without a session of their own, as reused ones are, serve the sessions on the networks that a user made.
    """
    if session_of(container) is None:
        return True
    if sessions:
        return False
    made = {endpoint.network for broker in brokers for endpoint in broker.networks} - {_DEFAULT_BRIDGE}
    return any(endpoint.network in made for endpoint in container.networks)


def _called(brokers: Sequence[Container]) -> str:
    """A session by its library and the beginning of its id; other brokers by their names."""
    title, names = session_title(brokers[0]), ", ".join(c.name for c in brokers)
    if title and session_of(brokers[0]) is not None:
        return title
    return f"{title}, {names}" if title else names


def projects_of(containers: Iterable[Container], *, project: str | None, compose_file: str | None) -> tuple[str, ...]:
    """The compose projects that are meant: those started from this very file, else the one of that name.

    The file comes first because `docker compose -p` may have given its project any name. Of several that were started
    from it, the one of that name is meant.
    """
    everything = tuple(containers)
    started = {c.project for c in everything if compose_file in c.compose_files and c.project}
    if project is not None and (project in started or not started):
        started = {c.project for c in everything if c.project == project}
    return tuple(sorted(name for name in started if name))


def sharing_a_network(containers: Iterable[Container], chosen: Collection[str]) -> tuple[Container, ...]:
    """The other containers on a network of those chosen, by their ids."""
    everything = tuple(containers)
    networks = {e.network for c in everything if c.id in chosen for e in c.networks if e.network not in NO_NETWORKS}
    return tuple(c for c in everything if c.id not in chosen and any(e.network in networks for e in c.networks))


def one_of_each_network(containers: Iterable[Container]) -> tuple[Container, ...]:
    """One running container for each set of networks, by name; none that has no network of its own."""
    found: dict[tuple[str, ...], Container] = {}
    for container in sorted(containers, key=lambda c: c.name):
        networks = tuple(sorted(endpoint.network for endpoint in container.networks))
        if networks and not set(networks) <= set(NO_NETWORKS) and container.state.has_process:
            found.setdefault(networks, container)
    return tuple(found.values())


def _groups(
    deployment: Deployment, told: Mapping[str, Answered], sessions: Mapping[str, str | None]
) -> list[list[str]]:
    """The names of the brokers' containers, those of one cluster, project or session together, in the order found.

    `sessions` are by the names of containers.
    """
    group: dict[str, str] = {}
    for broker in deployment.brokers:
        joined = {
            group[other.name]
            for other in deployment.brokers
            if other.name in group and _are_one(deployment, broker, other, told, sessions)
        }
        first = next((one for one in group.values() if one in joined), broker.name)
        group = {name: first if one in joined else one for name, one in group.items()}
        group[broker.name] = first
    found: dict[str, list[str]] = {}
    for broker in deployment.brokers:
        found.setdefault(group[broker.name], []).append(broker.member.container or broker.name)
    return list(found.values())


def _are_one(
    deployment: Deployment,
    one: Broker,
    other: Broker,
    told: Mapping[str, Answered],
    sessions: Mapping[str, str | None],
) -> bool:
    """Whether brokers belong together; those of two sessions do not, whatever they are called."""
    theirs = {sessions.get(broker.member.container or "") for broker in (one, other)}
    return len(theirs) == 1 if None not in theirs else _belong_together(deployment, one, other, told)


def _belong_together(deployment: Deployment, one: Broker, other: Broker, told: Mapping[str, Answered]) -> bool:
    if one.member.project is not None and one.member.project == other.member.project:
        return True
    said, heard = told.get(one.member.container or ""), told.get(other.member.container or "")
    if said is None or heard is None or None in (said.cluster_id, heard.cluster_id):
        return any(each is other for each in cluster_of(deployment, one))
    if said.cluster_id != heard.cluster_id:
        return False
    return _names(deployment, one, said, other) or _names(deployment, other, heard, one)


def _names(deployment: Deployment, broker: Broker, answered: Answered, other: Broker) -> bool:
    """Whether a broker names another one, by a host that leads from it to that one alone."""
    if broker.config.node_id == other.config.node_id:
        return False
    for endpoint in answered.brokers:
        if endpoint.node_id == other.config.node_id:
            targets = resolve(deployment, broker_vantage(broker), endpoint.host)
            members = [t.member for t in targets if isinstance(t, MemberAddress)] if isinstance(targets, tuple) else []
            return members == [other.name]
    return False


def _is_called(container: Container, name: str) -> bool:
    is_id = re.fullmatch(r"[0-9a-f]{4,64}", name) is not None and container.id.startswith(name)
    return is_id or name.removeprefix("/") == container.name
