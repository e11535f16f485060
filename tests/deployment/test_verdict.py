"""Contacts, the closed set of mechanisms, and both hops put together word by word."""

import re

import pytest

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
