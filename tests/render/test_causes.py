"""Causes as text and as JSON."""

from netdiag.deployment.model.causes import Cause, Certainty, Explanation, Repair
from netdiag.deployment.model.verdict import Address, Mechanism
from netdiag.render.matrix.sections import cause_lines, cause_value, explained_lines, explained_value
from netdiag.render.screen import Screen, paint

CAUSE = Cause(
    mechanism=Mechanism.NETWORK_ISOLATION,
    certainty=Certainty.PROVEN,
    because="client is on another network",
    evidence=("rule 1 of STAGE-2: its counter rose by 1, 1, 1",),
    repairs=(
        Repair(text="attach client to network a", confirmed=True, because="predicted: it accepts"),
        Repair(text="pray", confirmed=False, because="cannot be tested in the model"),
    ),
)
OTHER = Cause(mechanism=Mechanism.NOT_RUNNING, certainty=Certainty.PREDICTED, because="kafka is \x1b[31mgone")
PLAIN = Screen()


def test_the_first_cause_in_full_and_the_others_in_a_line() -> None:
    text = paint(cause_lines((CAUSE, OTHER), PLAIN), PLAIN)
    assert text.splitlines() == [
        "  network-isolation (proven): client is on another network",
        "    evidence: rule 1 of STAGE-2: its counter rose by 1, 1, 1",
        "    repair: attach client to network a (tested in the model)",
        "    repair: pray (cannot be tested in the model)",
        "  not-running (predicted): kafka is \\x1b[31mgone",
    ]


def test_equal_explanations_stand_once() -> None:
    explained = [
        Explanation(vantage=vantage, address=Address(host="kafka", port=port), causes=(CAUSE,))
        for vantage, port in (("client", 9092), ("client", 9093), ("other", 9092))
    ]
    text = paint(explained_lines(explained, PLAIN), PLAIN)
    assert text.count("network-isolation") == 1
    first = text.splitlines()[0]
    assert first.startswith("why ")
    assert all(word in first for word in ("client", "other", "kafka:9092", "kafka:9093"))


def test_values() -> None:
    value = explained_value("shop", Explanation(vantage="a", address=Address(host="k", port=1), causes=(CAUSE,)))
    assert (value["input"], value["vantage"], value["host"], value["port"]) == ("shop", "a", "k", 1)
    assert value["causes"] == [cause_value(CAUSE)]
    assert cause_value(CAUSE)["mechanism"] == "network-isolation"
    assert cause_value(CAUSE)["certainty"] == "proven"
    assert [one["confirmed"] for one in cause_value(CAUSE)["repairs"]] == [True, False]
