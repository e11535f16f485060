"""Steps in words, and when a client works."""

from dataclasses import replace

from netdiag.deployment.model.contact import Address, Answered, Failed, Reason
from netdiag.deployment.model.contact import NodeEndpoint as Named
from netdiag.deployment.model.verdict import judge
from netdiag.deployment.observation.probe import (
    AddressReport,
    BootstrapReport,
    GroupReport,
    ProbeReport,
    Step,
    StepKind,
    answered_steps,
    failed_step,
)
from netdiag.kafka.conversation import (
    ApiVersion,
    ApiVersionsReceived,
    ClusterReceived,
    IdentityReceived,
    MetadataReceived,
    NodeEndpoint,
)


def test_events_that_come_together_share_their_time() -> None:
    offered = (
        ApiVersion(api_key=1, min_version=0, max_version=17),
        ApiVersion(api_key=3, min_version=0, max_version=12),
    )
    brokers = (NodeEndpoint(node_id=1, host="a", port=1),)
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
    answered = Answered(node_id=1, cluster_id="abc", brokers=(Named(node_id=1, host="a", port=1),))
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
