"""Names that containers of two projects answer to: who is met by which client, predicted and as observed."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import Vantage, VantageKind, broker_vantage, container_vantage
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Contact,
    Failed,
    NodeEndpoint,
    Reason,
    Unknown,
    Verdict,
    Word,
    judge,
)
from netdiag.deployment.observation.live_view import SeenName, identified
from netdiag.deployment.prediction.client_namespace import client_namespace
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.prediction.shared_names import NamedContact, met_by_name
from netdiag.deployment.scope import scope_of
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import Container, PortBinding
from tests.deployment.test_engine_source import EXITED
from tests.deployment.two_projects import NETWORKS, SEPARATE, SHARED, app, broker

KAFKA = Address(host="kafka", port=9092)
DOCKER_HOST = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")


def asked(containers: tuple[Container, ...], project: str = "a", *, ipv6: bool = False) -> Deployment:
    scope = scope_of(containers, NETWORKS, project=project)
    networks = [replace(network, ipv6=ipv6) for network in NETWORKS]
    return from_engine(containers, networks, asked=scope.asked, host_addresses=("192.168.8.133",))


def verdict(deployment: Deployment, vantage: Vantage, address: Address = KAFKA) -> Verdict:
    (cell,) = predict(deployment, [vantage], [address])
    assert cell.predicted is not None
    return cell.predicted


def of_app(deployment: Deployment) -> Vantage:
    return container_vantage(deployment.by_name["app"])


def test_a_client_beside_both_meets_either() -> None:
    found = verdict(asked(SHARED), of_app(asked(SHARED)))
    assert str(found) == "ambiguous"
    assert not found.usable
    (choice,) = found.choices
    assert choice.members == choice.first == ("b-kafka-1", "kafka")
    assert choice.because == (
        '"kafka" leads to b-kafka-1 of project b (172.18.0.4) and kafka of project a (172.18.0.2); librdkafka takes '
        "b-kafka-1 or kafka at random; Java and Python take the first address of the resolver, which changes with "
        "every answer"
    )


def test_a_broker_that_has_the_name_is_itself_the_first() -> None:
    deployment = asked(SHARED)
    (choice,) = verdict(deployment, broker_vantage(deployment.brokers[0])).choices
    assert choice.first == ("kafka",)
    assert choice.clients.endswith("Java and Python with glibc take kafka, and another one only after a refusal")


@pytest.mark.parametrize(("number", "first"), [(3, ("kafka",)), (5, ("b-kafka-1",)), (9, ("b-kafka-1", "kafka"))])
def test_with_ipv6_the_nearest_address_is_the_first(number: int, first: tuple[str, ...]) -> None:
    """RFC 6724, rule 9: 2 and 3 have 31 bits in common, 4 and 5 too; both are as far from 9."""
    containers = (broker("a", 2), app("a", number), broker("b", 4))
    deployment = asked(containers, ipv6=True)
    (choice,) = verdict(deployment, of_app(deployment)).choices
    assert choice.first == first


def test_where_the_other_refuses_the_name_is_told_and_the_cell_is_ok() -> None:
    other = broker("b", 4)
    moved = {key: value.replace("9092", "19092") for key, value in other.environment.items()}
    deployment = asked((*SHARED[:2], replace(other, environment=moved)))
    found = verdict(deployment, of_app(deployment))
    assert found.word is Word.OK
    (choice,) = found.choices
    assert choice.members == ("kafka",)
    assert choice.clients == "b-kafka-1 refuses this port, so clients go on to the other address"


def test_one_cluster_behind_one_name_is_no_choice() -> None:
    voters = {"KAFKA_CONTROLLER_QUORUM_VOTERS": "1@a-kafka-1:9093,2@c:9093"}
    first, second = broker("a", 2), broker("a", 4, name="c", id="c" * 64)
    pair = (
        replace(first, environment={**first.environment, **voters}),
        replace(second, environment={**second.environment, **voters, "KAFKA_NODE_ID": "2"}),
        app("a", 3),
    )
    deployment = asked(pair)
    assert verdict(deployment, of_app(deployment)).choices == ()


def test_relays_to_one_broker_are_no_choice() -> None:
    deployment = asked(SHARED)
    answer = replace(answered("172.18.0.2"), member="kafka")
    relays = [NamedContact(member=name, ip=None, contact=answer) for name in ("app", "b-app-1")]
    client = client_namespace(deployment, of_app(deployment))
    assert met_by_name(deployment, client, "relay", relays) is None
    silent = [NamedContact(member=name, ip=None, contact=Unknown(because="")) for name in ("app", "b-app-1")]
    assert met_by_name(deployment, client, "web", silent) is None


def test_separate_projects_share_no_name() -> None:
    deployment = asked(SEPARATE)
    found = verdict(deployment, of_app(deployment))
    assert (found.word, found.choices) == (Word.OK, ())


def publishing(project: str, *, runs: bool = True) -> Container:
    port = (PortBinding(target=9092, protocol="tcp", host_ip="0.0.0.0", published=9092),)
    made = broker(project, 2, f"{project}_default", ports=port if runs else (), requested_ports=port)
    return made if runs else replace(made, state=EXITED)


def test_the_host_port_of_another_project_is_not_ours() -> None:
    both = (publishing("a"), publishing("b", runs=False))
    address = Address(host="localhost", port=9092)
    ours = verdict(asked(both, "a"), DOCKER_HOST, address)
    assert isinstance(ours.bootstrap, Answered)
    assert (ours.bootstrap.member, ours.bootstrap.foreign) == ("kafka", False)
    theirs = verdict(asked(both, "b"), DOCKER_HOST, address)
    assert isinstance(theirs.bootstrap, Answered)
    assert (str(theirs), theirs.bootstrap.because) == ("wrong-broker", "a-kafka-1 of project a answers there")


def answered(ip: str, host: str = "kafka") -> Answered:
    """What both brokers say: they are made from one template."""
    return Answered(
        node_id=1, cluster_id="same", brokers=(NodeEndpoint(node_id=1, host=host, port=9092),), listener="P", ip=ip
    )


def observed(deployment: Deployment, vantage: Vantage, address: Address, contact: Contact, *each: Contact) -> Verdict:
    cell = Cell(vantage=vantage.label, bootstrap=address, observed=judge(contact, lambda _: contact))
    names = [SeenName(vantage=vantage.label, address=address, contacts=each)] if each else []
    (found,) = identified(deployment, [vantage], [cell], names)
    assert found.observed is not None
    return found.observed


def test_an_answer_is_told_by_its_address_not_by_its_ids() -> None:
    deployment = asked(SHARED)
    both = answered("172.18.0.2"), answered("172.18.0.4")
    found = observed(deployment, of_app(deployment), KAFKA, both[0], *both)
    assert str(found) == "ambiguous"
    assert found.choices == verdict(deployment, of_app(deployment)).choices
    alone = observed(deployment, of_app(deployment), Address(host="172.18.0.4", port=9092), both[1])
    assert str(alone) == "wrong-broker"


def test_an_address_that_refused_leaves_the_other() -> None:
    deployment = asked(SHARED)
    contacts = answered("172.18.0.2"), Failed(reason=Reason.REFUSED, because="refused", ip="172.18.0.4")
    found = observed(deployment, of_app(deployment), KAFKA, contacts[0], *contacts)
    assert found.word is Word.OK
    assert [choice.members for choice in found.choices] == [("kafka",)]


def test_an_address_that_no_container_shown_has_is_told_too() -> None:
    deployment = asked(SHARED)
    contacts = answered("172.18.0.2"), answered("172.18.7.7")
    found = observed(deployment, of_app(deployment), KAFKA, contacts[0], *contacts)
    assert str(found) == "ambiguous"
    assert "a container that is not shown (172.18.7.7)" in found.choices[0].owners


def test_two_addresses_of_loopback_are_no_choice() -> None:
    deployment = asked(SEPARATE)
    address = Address(host="localhost", port=9092)
    refusals = [Failed(reason=Reason.REFUSED, because="refused", ip=ip) for ip in ("127.0.0.1", "::1")]
    found = observed(deployment, DOCKER_HOST, address, refusals[0], *refusals)
    assert (str(found), found.choices) == ("bootstrap: refused", ())


LOCAL = NodeEndpoint(node_id=1, host="localhost", port=1)
BROKER = Answered(node_id=1, cluster_id="c", ip="127.0.0.1", brokers=(LOCAL,))


def at_localhost(six: Contact) -> Verdict:
    """What the docker host gets at localhost, where a broker answers at 127.0.0.1, and at ::1 something else."""
    address = Address(host="localhost", port=1)
    cell = Cell(vantage="docker host", bootstrap=address, observed=judge(BROKER, lambda _: BROKER))
    names = SeenName(vantage="docker host", address=address, contacts=(BROKER, six))
    (found,) = identified(asked(SEPARATE), [DOCKER_HOST], [cell], [names])
    assert found.observed is not None
    return found.observed


def test_another_program_at_the_other_family_makes_localhost_ambiguous() -> None:
    for reason in (Reason.NOT_KAFKA, Reason.CLOSED):
        found = at_localhost(Failed(reason=reason, because="it answers HTTP", ip="::1"))
        assert str(found) == "ambiguous"
        assert found.bootstrap.because == (
            '"localhost" leads to a broker (127.0.0.1) and another program (::1); librdkafka takes 127.0.0.1 or ::1 at '
            "random; Java takes IPv4 first, so 127.0.0.1; Python and other programs with glibc take IPv6 first, so ::1"
        )
    assert str(at_localhost(replace(BROKER, ip="::1", cluster_id="other"))) == "ambiguous"


def test_families_that_lead_to_one_cluster_are_no_choice() -> None:
    refused = Failed(reason=Reason.REFUSED, because="refused", ip="::1")
    for six in (refused, replace(BROKER, ip="::1")):
        assert (str(at_localhost(six)), at_localhost(six).choices) == ("ok", ())


def test_an_address_that_swallows_packets_is_told_with_the_answer() -> None:
    found = at_localhost(Failed(reason=Reason.TIMEOUT, because="no answer", ip="::1"))
    assert (str(found), found.choices) == ("ok", ())
    assert isinstance(found.bootstrap, Answered)
    assert found.bootstrap.silent == ("::1",)
