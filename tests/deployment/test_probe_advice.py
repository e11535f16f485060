"""The next step after a probe."""

import pytest

from netdiag.deployment.model.contact import Address, Answered, Contact, Failed, NodeEndpoint, Reason, Unknown
from netdiag.deployment.model.verdict import judge
from netdiag.deployment.observation.probe import AddressReport, BootstrapReport, GroupReport, Step, StepKind, next_step

HERE = Address(host="kafka", port=9092)
STEP = Step(act=StepKind.RESOLVE, well=True, said="", seconds=0)


def story(contact: Contact, second: Contact | None = None, group: GroupReport | None = None) -> BootstrapReport:
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
        (story(advertises("kafka")), None),
        (story(Unknown(because="no time")), "longer --timeout"),
        (story(failed(Reason.UNRESOLVED)), 'make "kafka" resolve there'),
        (story(failed(Reason.REFUSED)), "`netdiag trace host kafka:9092`"),
        (story(failed(Reason.CLOSED)), "which process accepts"),
        (story(failed(Reason.TLS)), "security.protocol=SSL"),
        (story(failed(Reason.SASL)), "SASL_PLAINTEXT"),
        (story(failed(Reason.NOT_KAFKA)), "no broker answers here"),
        (story(Answered(node_id=1, cluster_id=None)), "has not joined its cluster"),
        (story(advertises("kafka-1"), failed(Reason.UNRESOLVED)), "advertised.listeners of broker 1"),
        (story(advertises("localhost"), failed(Reason.REFUSED)), "localhost is host itself"),
        (story(advertises("10.0.0.1"), failed(Reason.TIMEOUT)), "`netdiag trace host 10.0.0.1:9092`"),
        (story(advertises("kafka", 2)), "a different address for every broker"),
        (story(advertises("kafka"), failed(Reason.TLS)), "security.protocol=SSL"),
    ],
)
def test_advice(told: BootstrapReport, expected: str | None) -> None:
    advice = next_step("host", told)
    assert advice is None if expected is None else expected in (advice or "")


def test_advice_about_groups() -> None:
    well = advertises("kafka")
    endpoint = NodeEndpoint(node_id=2, host="kafka-2", port=9092)
    lost = GroupReport(group="shop", said="", seconds=0, endpoint=endpoint, outcome="refused")
    assert "kafka-2:9092" in (next_step("host", story(well, group=lost)) or "")
    nobody = GroupReport(group="shop", said="", seconds=0)
    assert "__consumer_offsets" in (next_step("host", story(well, group=nobody)) or "")
    unused = GroupReport(group="shop", said="", seconds=0, harmless=True)
    assert next_step("host", story(well, group=unused)) is None
