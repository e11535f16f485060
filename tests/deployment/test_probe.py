"""What a probe reports, step by step, and the next step that it advises."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, NodeEndpoint, Reason, Unknown, judge
from netdiag.deployment.observation.probe import (
    AddressReport,
    BootstrapReport,
    GroupReport,
    ProbeReport,
    Step,
    StepKind,
    answered_steps,
    failed_step,
    next_step,
)
from netdiag.kafka import questions
from netdiag.kafka.questions import ApiVersion, ApiVersionsReceived, ClusterReceived, IdentityReceived, MetadataReceived


def test_events_that_come_together_share_their_time() -> None:
    offered = (
        ApiVersion(api_key=1, min_version=0, max_version=17),
        ApiVersion(api_key=3, min_version=0, max_version=12),
    )
    brokers = (questions.NodeEndpoint(node_id=1, host="a", port=1),)
    steps = answered_steps(
        (
            ApiVersionsReceived(api_version=4, api_versions=offered),
            MetadataReceived(cluster_id="abc", controller_id=-1, brokers=brokers),
            ClusterReceived(error_code=31, cluster_id=None, controller_id=-1, brokers=()),
            IdentityReceived(node_id=None, settings=(), unknown_because="it was not asked"),
        ),
        0.5,
    )
    assert [step.said for step in steps] == [
        "ApiVersions: 2 request types, like Kafka 3.9",
        "Metadata: cluster abc, controller none, brokers 1",
        "DescribeConfigs: unknown which broker answers, it was not asked",
    ]
    assert [step.seconds for step in steps] == [0.5, 0, 0]
    assert {step.act for step in steps} == {StepKind.ASK}


def test_a_conversation_that_breaks_off_ends_with_that_step() -> None:
    (step,) = failed_step(Failed(reason=Reason.CLOSED, because="it closed"), 1)
    assert (step.well, step.said) == (False, "closed: it closed")
    assert failed_step(Answered(node_id=1, cluster_id=None), 1) == ()


def story(group: GroupReport | None) -> BootstrapReport:
    answered = Answered(node_id=1, cluster_id="abc", brokers=(NodeEndpoint(node_id=1, host="a", port=1),))
    step = Step(act=StepKind.RESOLVE, well=True, said="", seconds=0)
    dialogue = AddressReport(address=Address(host="a", port=1), resolve=step, attempts=(), contact=answered)
    verdict = judge(answered, lambda _: answered)
    return BootstrapReport(dialogue=dialogue, endpoints=(dialogue,), verdict=verdict, group=group)


def test_a_coordinator_that_cannot_be_reached_spoils_it() -> None:
    group = GroupReport(group="g", said="", seconds=0, outcome="ok")
    assert story(None).usable
    assert story(group).usable
    assert story(replace(group, outcome="", harmless=True)).usable
    assert not story(replace(group, outcome="refused")).usable
    assert not ProbeReport(place="host", bootstraps=(story(group), story(replace(group, outcome="refused")))).usable


HERE = Address(host="kafka", port=9092)
STEP = Step(act=StepKind.RESOLVE, well=True, said="", seconds=0)


def advised_story(contact: Contact, second: Contact | None = None, group: GroupReport | None = None) -> BootstrapReport:
    dialogue = AddressReport(address=HERE, resolve=STEP, attempts=(), contact=contact)
    verdict = judge(contact, lambda _: second or contact)
    return BootstrapReport(dialogue=dialogue, endpoints=(), verdict=verdict, group=group)


def failed(reason: Reason) -> Failed:
    return Failed(reason=reason, because="so it is")


def advertises(host: str, node_id: int = 1) -> Answered:
    return Answered(node_id=1, cluster_id=None, brokers=(NodeEndpoint(node_id=node_id, host=host, port=9092),))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (advised_story(advertises("kafka")), None),
        (advised_story(Unknown(because="no time")), "longer --timeout"),
        (advised_story(failed(Reason.UNRESOLVED)), 'make "kafka" resolve there'),
        (advised_story(failed(Reason.REFUSED)), "`netdiag trace host kafka:9092`"),
        (advised_story(failed(Reason.CLOSED)), "which process accepts"),
        (advised_story(failed(Reason.TLS)), "security.protocol=SSL"),
        (advised_story(failed(Reason.SASL)), "SASL_PLAINTEXT"),
        (advised_story(failed(Reason.NOT_KAFKA)), "no broker answers here"),
        (advised_story(Answered(node_id=1, cluster_id=None)), "has not joined its cluster"),
        (advised_story(advertises("kafka-1"), failed(Reason.UNRESOLVED)), "advertised.listeners of broker 1"),
        (advised_story(advertises("localhost"), failed(Reason.REFUSED)), "localhost is host itself"),
        (advised_story(advertises("10.0.0.1"), failed(Reason.TIMEOUT)), "`netdiag trace host 10.0.0.1:9092`"),
        (advised_story(advertises("kafka", 2)), "a different address for every broker"),
        (advised_story(advertises("kafka"), failed(Reason.TLS)), "security.protocol=SSL"),
    ],
)
def test_advice(told: BootstrapReport, expected: str | None) -> None:
    advice = next_step("host", told)
    assert advice is None if expected is None else expected in (advice or "")


def test_advice_about_groups() -> None:
    well = advertises("kafka")
    endpoint = NodeEndpoint(node_id=2, host="kafka-2", port=9092)
    lost = GroupReport(group="shop", said="", seconds=0, endpoint=endpoint, outcome="refused")
    assert "kafka-2:9092" in (next_step("host", advised_story(well, group=lost)) or "")
    nobody = GroupReport(group="shop", said="", seconds=0)
    assert "__consumer_offsets" in (next_step("host", advised_story(well, group=nobody)) or "")
    unused = GroupReport(group="shop", said="", seconds=0, harmless=True)
    assert next_step("host", advised_story(well, group=unused)) is None
