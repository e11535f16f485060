"""Members and their ports, the vantages of a deployment, and engines that filter alike."""

import re

import pytest

from netdiag.deployment.model.deployment import Generation, PublishedPort, generation_of
from netdiag.deployment.model.vantage import DOCKER_HOST, bootstraps, vantages
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Contact,
    Failed,
    Mechanism,
    NodeEndpoint,
    Reason,
    Unknown,
    Verdict,
    judge,
)
from netdiag.findings import ContainerLocation, FileLocation
from tests.deployment.stacks import deployment_of, five_brokers


@pytest.mark.parametrize(
    ("host_ip", "everywhere", "loopback"),
    [
        ("", True, True),
        ("0.0.0.0", True, True),
        ("::", False, False),
        ("127.0.0.1", False, True),
        ("10.0.0.1", False, False),
    ],
)
def test_where_a_port_is_offered(host_ip: str, everywhere: bool, loopback: bool) -> None:
    port = PublishedPort(target=1, published=1, host_ip=host_ip, protocol="tcp", where=ContainerLocation(container="c"))
    assert (port.on_all_addresses, port.on_loopback) == (everywhere, loopback)


def test_only_brokers_with_a_configuration_are_configured() -> None:
    # What broker-3 misses leaves its listeners known; what broker-4 gives, its image refuses.
    text = five_brokers().replace("      KAFKA_BROKER_ID: 3\n      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181\n", "")
    text = text.replace("      KAFKA_BROKER_ID: 4\n", "      KAFKA_BROKER_ID: 4\n      KAFKA_ADVERTISED_PORT: 9\n")
    deployment = deployment_of(text)
    assert [b.name for b in deployment.configured] == ["broker-1", "broker-2", "broker-3", "broker-5"]
    assert deployment.broker("broker-4") is not None
    assert deployment.broker("nobody") is None
    assert [m.name for m in deployment.members][-1] == "zookeeper"


def test_a_derived_property_points_at_the_whole_of_its_source_and_cannot_be_edited() -> None:
    text = five_brokers()
    text = "\n".join(line for line in text.splitlines() if "KAFKA_LISTENERS" not in line)
    broker = deployment_of(text).brokers[0]
    place = broker.place("listeners", 3, 5)
    assert isinstance(place, FileLocation)
    assert text.encode()[place.start : place.end].startswith(b"INTERNAL://broker-1")
    assert broker.edit("listeners", 3, 5, "x") == ()
    assert broker.member.on("kafka") is not None
    assert broker.member.on("nowhere") is None


def test_vantages_of_the_reference_cluster() -> None:
    labels = [v.label for v in vantages(deployment_of(five_brokers()))]
    assert labels == [
        "docker host",
        *(f"inside broker-{n}" for n in range(1, 6)),
        "container on kafka",
        "container elsewhere",
        "LAN machine",
    ]


def test_nobody_stands_inside_a_broker_that_is_down() -> None:
    labels = [v.label for v in vantages(deployment_of(five_brokers()).with_down({"broker-2"}))]
    assert "inside broker-2" not in labels
    assert "inside broker-1" in labels


def test_bootstraps_are_what_people_try() -> None:
    found = bootstraps(deployment_of(five_brokers()))
    for host, port in [
        ("broker-1", 29092),
        ("broker-5", 9095),
        ("localhost", 9093),
        ("localhost", 29092),
        (DOCKER_HOST, 9091),
    ]:
        assert Address(host=host, port=port) in found
    assert len(found) == len(set(found)) == 5 + 5 + 5 + 1 + 5


def test_the_declared_address_of_the_docker_host_is_used() -> None:
    found = bootstraps(deployment_of(five_brokers(), host_addresses=("192.168.8.133",)))
    assert Address(host="192.168.8.133", port=9091) in found


def test_hostile_ports_are_not_tried() -> None:
    deployment = deployment_of(five_brokers().replace("localhost:9091", "localhost:99999"))
    assert all(0 < address.port < 65536 for address in bootstraps(deployment))


@pytest.mark.parametrize(
    ("release", "generation"),
    [
        ("20.10.24+dfsg1", Generation.V20),
        ("27.5.1", Generation.V20),
        ("28.5.2", Generation.V28),
        ("29.7.2", Generation.V29),
        ("31.0.0-rc.1", Generation.V29),
        ("dev", None),
        ("", None),
    ],
)
def test_a_release_tells_how_the_engine_filters(release: str, generation: Generation | None) -> None:
    assert generation_of(release) is generation


@pytest.mark.parametrize(("host", "text"), [("kafka", "kafka:1"), ("::1", "[::1]:1"), ("10.0.0.1", "10.0.0.1:1")])
def test_address(host: str, text: str) -> None:
    assert str(Address(host=host, port=1)) == text
    assert NodeEndpoint(node_id=7, host=host, port=1).address == Address(host=host, port=1)


def test_the_words_are_kebab_case_and_unlike() -> None:
    words = [mechanism.value for mechanism in Mechanism]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", word) for word in words)
    assert all(mechanism.value == mechanism.name.lower().replace("_", "-") for mechanism in Mechanism)
    assert len(set(words)) == len(Mechanism.__members__)


def endpoint(node_id: int) -> NodeEndpoint:
    return NodeEndpoint(node_id=node_id, host=f"b{node_id}", port=9092)


def answered(node_id: int | None, cluster: str | None = "c", *named: int) -> Answered:
    return Answered(node_id=node_id, cluster_id=cluster, brokers=tuple(endpoint(n) for n in named))


def failed(reason: Reason) -> Failed:
    return Failed(reason=reason, because="test")


def verdict(bootstrap: Contact, **contacts: Contact) -> Verdict:
    return judge(bootstrap, lambda e: contacts[f"b{e.node_id}"])


@pytest.mark.parametrize(
    ("contacts", "expected"),
    [
        ({"b1": answered(1), "b2": answered(2)}, "ok"),
        ({"b1": answered(1), "b2": failed(Reason.REFUSED)}, "partial 1/2"),
        ({"b1": failed(Reason.TIMEOUT), "b2": failed(Reason.REFUSED)}, "advertised: timeout"),
        ({"b1": failed(Reason.REFUSED), "b2": failed(Reason.TIMEOUT)}, "advertised: refused"),
        ({"b1": answered(2), "b2": failed(Reason.REFUSED)}, "wrong-broker"),
        ({"b1": answered(2), "b2": failed(Reason.NOT_KAFKA)}, "wrong-broker"),
        ({"b1": failed(Reason.SASL), "b2": failed(Reason.NOT_KAFKA)}, "not-kafka"),
        ({"b1": failed(Reason.SASL), "b2": failed(Reason.TLS)}, "tls"),
        ({"b1": failed(Reason.REFUSED), "b2": failed(Reason.SASL)}, "sasl"),
        ({"b1": answered(None), "b2": answered(None)}, "ok"),
        ({"b1": answered(1, "other"), "b2": answered(2, "other")}, "wrong-broker"),
        ({"b1": answered(1, None), "b2": answered(2)}, "ok"),
        ({"b1": Unknown(because="x"), "b2": answered(2)}, "unknown"),
    ],
)
def test_second_hop(contacts: dict[str, Contact], expected: str) -> None:
    assert str(verdict(answered(1, "c", 1, 2), **contacts)) == expected


@pytest.mark.parametrize("reason", [Reason.UNRESOLVED, Reason.REFUSED, Reason.TIMEOUT, Reason.CLOSED])
def test_first_hop_failure(reason: Reason) -> None:
    made = verdict(failed(reason))
    assert str(made) == f"bootstrap: {reason.value}"
    assert (made.reached, made.advertised) == (None, None)


@pytest.mark.parametrize("reason", [Reason.NOT_KAFKA, Reason.TLS, Reason.SASL])
def test_first_hop_speaks_something_else(reason: Reason) -> None:
    assert str(verdict(failed(reason))) == reason.value


def test_an_answer_that_names_nobody() -> None:
    assert str(verdict(answered(1, "c"))) == "advertised: no-brokers"


def test_endpoints_are_judged_by_node_id() -> None:
    made = verdict(answered(1, "c", 2, 1), b1=answered(1), b2=failed(Reason.CLOSED))
    assert [(e.endpoint.node_id, e.outcome) for e in made.endpoints] == [(1, "ok"), (2, "closed")]


def test_agreement_needs_two_known_verdicts() -> None:
    ok, bad = verdict(answered(1, "c", 1), b1=answered(1)), verdict(failed(Reason.REFUSED))
    unknown = verdict(Unknown(because="x"))
    address = Address(host="h", port=1)

    def agrees(predicted: Verdict | None, observed: Verdict | None) -> bool | None:
        return Cell(vantage="v", bootstrap=address, predicted=predicted, observed=observed).agrees

    assert agrees(ok, ok) is True
    assert agrees(ok, bad) is False
    assert agrees(ok, None) is None
    assert agrees(ok, unknown) is None
