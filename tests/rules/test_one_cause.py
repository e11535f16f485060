"""A finding, `--why`, JSON, a playbook and the model say the same of one cause, for every mechanism."""

from dataclasses import replace

import pytest

from netdiag.app.playbook_actions import cause_item, finding_item
from netdiag.deployment.model.causes import (
    REPAIRS,
    Cause,
    Certainty,
    Explanation,
    Repair,
    causes_of,
    predicted_cause,
    predicted_repair,
)
from netdiag.deployment.model.verdict import Address, Failed, Mechanism, Reason
from netdiag.findings import Finding
from netdiag.playbook.document import ActionName, Conclusion, Confidence, Item, Outcome, Playbook, Step, There
from netdiag.playbook.runner import Reached, run
from netdiag.render.matrix.sections import cause_value, explained_lines
from netdiag.render.screen import Screen, paint
from netdiag.rules.observed import OBSERVED
from netdiag.topology.causes import find_causes as find_causes_module
from netdiag.topology.causes.failed_connection import Suspect
from tests.rules.recorded import view_of
from tests.topology.failed_connections import failing, shop

_STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_LISTENERS: INTERNAL://:9092,EXTERNAL://:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,EXTERNAL://localhost:9093
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
  app:
    image: example/app:1
    environment:
      {client}: kafka:9092
x-observed:
  cells:
    - {cell}
"""
_FIRST = '{vantage: container app, bootstrap: "kafka:9092", fails: %s, because: seen}'
_SECOND = (
    '{vantage: container app, bootstrap: "kafka:9093", answers: {node: 1, listener: EXTERNAL},'
    ' told: [{node: 1, at: "localhost:9093", gives: %s}]}'
)
# The reasons that findings about addresses are made of; TLS and SASL have findings of their own.
_REASONS = (Reason.UNRESOLVED, Reason.REFUSED, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.CLOSED, Reason.NOT_KAFKA)
_RULES = tuple(rule for rule in OBSERVED if rule.ID != "live-differs-from-predicted")


def cause_of(mechanism: Mechanism) -> Cause:
    return Cause(
        mechanism=mechanism,
        certainty=Certainty.FOUND,
        because=f"because {mechanism}",
        evidence=(f"evidence {mechanism}",),
        repairs=(Repair(text=f"repair {mechanism}", confirmed=True, because="predicted"),),
    )


def findings(cell: str, cause: Cause, *, client: str = "UNRELATED") -> list[Finding]:
    view = view_of(_STACK.replace("{client}", client).replace("{cell}", cell))
    addresses = {Address(host=host, port=port) for host, port in (("kafka", 9092), ("localhost", 9093))}
    explained = [Explanation(vantage="container app", address=one, causes=(cause,)) for one in addresses]
    view = replace(view, causes=causes_of(view.cells, explained))
    return [finding for rule in _RULES for finding in rule.check(view)]


def concluded(item: Item) -> Reached:
    """What a playbook concludes from a thing that its step saw."""
    step = Step(id="s", title="t", action=ActionName.MATRIX)
    conclusion = Conclusion(
        id="c",
        when=There(step="s", of=item.of, where={}),
        confidence=Confidence.PROVEN,
        cause="another text",
        repair="another text",
    )
    playbook = Playbook(
        name="p", title="t", means="m", symptoms=(), variables={}, steps=(step,), conclusions=(conclusion,)
    )
    (reached,) = run(playbook, {}, lambda taken, arguments: Outcome(items=(item,)), live=True).reached
    return reached


@pytest.mark.parametrize("mechanism", Mechanism)
def test_all_say_the_same(mechanism: Mechanism) -> None:
    cause = cause_of(mechanism)
    explanation = Explanation(vantage="v", address=Address(host="h", port=1), causes=(cause,))
    screen = Screen()
    shown = paint(explained_lines([explanation], screen), screen)
    value = cause_value(cause)
    assert [value["because"], *value["evidence"], value["repairs"][0]["text"]] == [
        cause.because,
        *cause.evidence,
        cause.repair,
    ]
    assert all(text in shown for text in (cause.because, *cause.evidence, cause.repair))
    from_cause = concluded(cause_item(cause))
    assert (from_cause.cause, from_cause.repair) == (cause.because, cause.repair)
    for cell, client in [
        *((_FIRST % reason.value, "UNRELATED") for reason in _REASONS),
        *((_SECOND % reason.value, "UNRELATED") for reason in _REASONS),
        (_FIRST % "unresolved", "KAFKA_BOOTSTRAP_SERVERS"),
    ]:
        (finding,) = findings(cell, cause, client=client)
        assert cause.because in finding.why, cell
        assert all(line in finding.why for line in cause.evidence), cell
        assert finding.hint == cause.repair, cell
        of_finding = concluded(finding_item(finding))
        assert (of_finding.cause, of_finding.repair) == (finding.why, finding.hint)


@pytest.mark.parametrize("mechanism", Mechanism)
def test_a_look_at_the_machine_adds_evidence_to_what_the_model_says(
    mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = Address(host="kafka", port=9092)
    predicted = Failed(reason=Reason.REFUSED, because="as the model says", mechanism=mechanism, container="kafka")
    of_kernel = Suspect(mechanism=mechanism, because="as the kernel says", evidence=("what it shows",))
    connection = replace(failing(shop(), "client", "172.20.0.2", 9093), predicted=predicted)
    monkeypatch.setattr(find_causes_module, "_of_path", lambda connection, *, connects: of_kernel)
    (cause,) = find_causes_module.find_causes(connection)
    alone = predicted_cause(predicted, address)
    assert alone is not None
    assert cause.because == alone.because == "as the model says"
    assert cause.evidence[:2] == ("as the kernel says", "what it shows")


def test_the_model_has_a_repair_for_every_mechanism() -> None:
    assert set(REPAIRS) == set(Mechanism)
    for mechanism in Mechanism:
        text = predicted_repair(mechanism, Address(host="h", port=9), "c").text
        assert text
        assert "{" not in text


def test_what_nobody_looked_for_is_what_the_model_says() -> None:
    prediction = "prediction: {fails: unresolved, because: it stopped, mechanism: name-of-stopped}"
    cell = f"{(_FIRST % 'unresolved')[:-1]}, {prediction}}}"
    (found,) = causes_of(view_of(_STACK.replace("{client}", "X").replace("{cell}", cell)).cells).values()
    assert (found.because, found.evidence) == ("it stopped", ("seen",))
    assert found.mechanism is Mechanism.NAME_OF_STOPPED
    assert found.repair == "start the container; its log says why it ended"
