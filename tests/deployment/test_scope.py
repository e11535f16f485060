"""What a question is about, and what only surrounds it."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.verdict import Answered, NodeEndpoint
from netdiag.deployment.prediction.cluster import cluster_of
from netdiag.deployment.scope import one_of_each_network, projects_of, scope_of, scopes_of
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import Container
from tests.deployment.test_engine_source import attached
from tests.deployment.two_projects import NETWORKS, SEPARATE, SHARED, alone, app, broker, labels


def names(containers: tuple[Container, ...], **how: object) -> list[str]:
    asked = scope_of(containers, NETWORKS, **how).asked  # type: ignore[arg-type]
    return [c.name for c in containers if c.id in asked]


def test_a_project_is_its_containers_whatever_shares_their_network() -> None:
    assert names(SHARED, project="a") == ["a-kafka-1", "a-app-1"]
    assert names(SHARED, project="c") == []
    assert names(SHARED) == [c.name for c in SHARED]


def test_a_broker_stands_for_its_cluster_and_a_client_for_the_brokers_beside_it() -> None:
    other = broker("c", 6)
    voters = {**other.environment, "KAFKA_NODE_ID": "2", "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@k1:9093,2@k2:9093"}
    first = replace(
        other, environment={**voters, "KAFKA_NODE_ID": "1"}, networks=(attached("shared", "172.18.0.7", ("k1",)),)
    )
    second = replace(
        broker("d", 8), environment=voters, networks=(attached("shared", "172.18.0.8", ("k2",)),), name="d-k2-1"
    )
    containers = (*SHARED, first, second)
    assert names(containers, names=["/d-k2-1"]) == ["c-kafka-1", "d-k2-1"]
    assert names(containers, names=[SHARED[0].id[:12]]) == ["a-kafka-1"]
    assert names(SEPARATE, names=["b-app-1"]) == ["b-kafka-1", "b-app-1"]
    assert names(SEPARATE, names=["abc"]) == []


@pytest.mark.parametrize("containers", [SHARED, SEPARATE])
def test_projects_of_one_template_are_clusters_of_their_own(containers: tuple[Container, ...]) -> None:
    deployment = from_engine(containers, NETWORKS)
    assert [len(cluster_of(deployment, one)) for one in deployment.brokers] == [1, 1]
    scopes = scopes_of(containers, NETWORKS)
    assert [(scope.name, scope.project, len(scope.asked)) for scope in scopes] == [("a", "a", 2), ("b", "b", 2)]


def test_what_is_of_no_project_belongs_to_the_cluster_beside_it() -> None:
    tool, far = alone("tool", "b_default"), alone("far", "elsewhere")
    first, second = scopes_of((*SEPARATE, tool, far), NETWORKS)
    assert tool.id in second.asked
    assert not {tool.id, far.id} & first.asked
    assert far.id not in second.asked


def test_one_cluster_is_one_scope_with_everything_else() -> None:
    containers = (*SEPARATE[:2], alone("far", "elsewhere"))
    (scope,) = scopes_of(containers, NETWORKS)
    assert (len(scope.asked), scope.project, scope.name) == (3, None, "")


def test_a_cluster_may_be_of_two_projects() -> None:
    """As where each broker has a compose file of its own."""
    quorum = {"KAFKA_CONTROLLER_QUORUM_VOTERS": "1@k1:9093,2@k2:9093"}
    one, two = broker("a", 2), broker("b", 3)
    one = replace(one, environment={**one.environment, **quorum}, networks=(attached("shared", aliases=("k1",)),))
    two = replace(
        two,
        environment={**two.environment, **quorum, "KAFKA_NODE_ID": "2"},
        networks=(attached("shared", "172.18.0.9", aliases=("k2",)),),
    )
    (scope,) = scopes_of((one, two), NETWORKS)
    assert len(scope.asked) == 2
    deployment = from_engine((one, two), NETWORKS, asked={one.id})
    (asked,) = deployment.brokers
    assert {other.name for other in cluster_of(deployment, asked)} == {"kafka", "b-kafka-1"}


def unknown(project: str, number: int, node_id: str) -> Container:
    """A broker that nobody can tell the quorum of."""
    made = broker(project, number)
    environment = {
        **made.environment,
        "KAFKA_NODE_ID": node_id,
        "KAFKA_CONTROLLER_QUORUM_VOTERS": f"9@q-{project}:9093",
    }
    alias = (attached("shared", f"172.18.0.{number}", (f"k{node_id}",)),)
    return replace(made, environment={**environment, "CLUSTER_ID": project}, networks=alias)


def says(cluster: str, *nodes: int) -> Answered:
    named = tuple(NodeEndpoint(node_id=node, host=f"k{node}", port=9092) for node in nodes)
    return Answered(node_id=None, cluster_id=cluster, brokers=named)


@pytest.mark.parametrize(
    ("first", "second", "scopes"),
    [
        (says("x", 1, 2), says("x", 1, 2), ["a, b"]),
        (says("x", 1), says("y", 2), ["a", "b"]),
        # images have a default, so many clusters have the same id
        (says("x", 1), says("x", 2), ["a", "b"]),
        (says("x", 1, 2), None, ["a", "b"]),
    ],
)
def test_brokers_say_to_which_cluster_they_belong(first: Answered, second: Answered | None, scopes: list[str]) -> None:
    told = {"a-kafka-1": first} | ({} if second is None else {"b-kafka-1": second})
    found = scopes_of((unknown("a", 2, "1"), unknown("b", 3, "2")), NETWORKS, told)
    assert [scope.name or "a, b" for scope in found] == scopes


def test_brokers_of_one_configuration_may_be_of_two_clusters() -> None:
    quorum = {"KAFKA_CONTROLLER_QUORUM_VOTERS": "9@far.example:9093"}
    pair = [replace(one, environment={**one.environment, **quorum}) for one in (broker("a", 2), broker("b", 3))]
    assert len(scopes_of(pair, NETWORKS)) == 1
    assert len(scopes_of(pair, NETWORKS, {"a-kafka-1": says("x", 1), "b-kafka-1": says("y", 1)})) == 2


def started_from(project: str, file: str) -> Container:
    return broker(project, 2, labels={**labels(project, "kafka"), "com.docker.compose.project.config_files": file})


def test_the_name_decides_between_projects_of_one_file() -> None:
    twice = [started_from("a", "/x/compose.yml"), started_from("b", "/x/compose.yml")]
    assert projects_of(twice, project="b", compose_file="/x/compose.yml") == ("b",)
    assert projects_of(twice, project="x", compose_file="/x/compose.yml") == ("a", "b")
    assert projects_of(twice[:1], project="x", compose_file="/x/compose.yml") == ("a",)
    assert projects_of(twice, project="a", compose_file="/y/compose.yml") == ("a",)
    assert projects_of(twice, project="x", compose_file="/y/compose.yml") == ()


def test_one_of_each_set_of_networks_stands_for_the_others() -> None:
    far = [app(f"p{n}", n, "other") for n in range(3)]
    assert [c.name for c in one_of_each_network([*far, alone("hosted", "host"), app("x", 9)])] == [
        "p0-app-1",
        "x-app-1",
    ]


def session(container: Container, identifier: str | None, lang: str = "java") -> Container:
    """The container as Testcontainers labels it, in a session or reused."""
    own = {} if identifier is None else {"org.testcontainers.sessionId": identifier}
    return replace(container, labels={"org.testcontainers": "true", "org.testcontainers.lang": lang, **own})


def test_each_session_of_testcontainers_is_a_scope_without_the_reaper_and_the_others() -> None:
    one, other = session(broker("a", 2), "first-session"), session(broker("b", 3), "second-session")
    ours = session(alone("ours", "elsewhere"), "first-session")
    stranger, tool = session(alone("stranger", "a_default"), "third-session"), alone("tool", "a_default")
    reaper = replace(session(alone("reaper", "a_default"), "first-session"), image="testcontainers/ryuk:0.14.0")
    one = replace(one, networks=(attached("a_default", "172.19.0.2", ("kafka",)),))
    other = replace(other, networks=(attached("b_default", "172.20.0.2", ("kafka",)),))
    everything = (one, other, ours, stranger, tool, reaper)
    first, second = scopes_of(everything, NETWORKS)
    assert first.name == "Testcontainers for Java, session first-se"
    assert first.asked == {one.id, ours.id, tool.id}
    assert second.asked == {other.id}
    assert reaper.id not in scope_of(everything, NETWORKS).asked
    (alone_here,) = scopes_of((one, stranger), NETWORKS)
    assert alone_here.asked == {one.id}


def test_a_reused_broker_belongs_to_the_sessions_on_its_network() -> None:
    one = replace(session(broker("a", 2), None), networks=(attached("a_default", "172.19.0.2", ("kafka",)),))
    client, far = session(alone("client", "a_default"), "s"), session(alone("far", "b_default"), "s")
    (scope,) = scopes_of((one, client, far), NETWORKS)
    assert scope.asked == {one.id, client.id}
    assert scope.name == f"Testcontainers for Java, {one.name}"
