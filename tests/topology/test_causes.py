"""Causes in order, from literals: what counters prove, what the walk finds, what the model foretells."""

from dataclasses import replace

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.observations import Answered, Failed, Reason
from netdiag.topology.causes import causes
from netdiag.topology.explained import Certainty
from netdiag.topology.hops import End
from tests.topology.failing_cases import failing, shop


def test_what_works_has_no_cause() -> None:
    fine = failing(shop(), "client", "172.20.0.2", 9092)
    assert fine.path.end is End.CONNECTED
    assert causes(fine) == ()
    assert causes(replace(fine, seen=Answered(node_id=1, cluster_id="x"))) == ()


def test_the_walk_is_found_and_the_model_is_evidence() -> None:
    foretold = Failed(reason=Reason.REFUSED, because="port 9093 has no listener", mechanism=Mechanism.NOBODY_LISTENS)
    found = failing(shop(), "client", "172.20.0.2", 9093)
    (cause,) = causes(replace(found, foretold=foretold))
    assert (cause.mechanism, cause.certainty) == (Mechanism.NOBODY_LISTENS, Certainty.FOUND)
    assert any("foretell it" in line for line in cause.evidence)
    assert cause.repairs[0].confirmed


def test_another_opinion_of_the_model_comes_last() -> None:
    foretold = Failed(reason=Reason.TIMEOUT, because="not running", mechanism=Mechanism.NOT_RUNNING)
    found = causes(replace(failing(shop(), "client", "172.20.0.2", 9093), foretold=foretold))
    assert [(one.mechanism, one.certainty) for one in found] == [
        (Mechanism.NOBODY_LISTENS, Certainty.FOUND),
        (Mechanism.NOT_RUNNING, Certainty.FORETOLD),
    ]


def test_a_walk_that_ends_otherwise_than_was_seen_is_no_proof() -> None:
    seen = Failed(reason=Reason.TIMEOUT, because="silent", ip="172.20.0.2")
    (cause,) = causes(replace(failing(shop(), "client", "172.20.0.2", 9093), seen=seen))
    assert cause.certainty is Certainty.CONSISTENT


def test_accepted_and_then() -> None:
    fine = failing(shop(), "client", "172.20.0.2", 9092)
    silent = Failed(reason=Reason.TIMEOUT, because="accepted, then silent", ip="172.20.0.2")
    assert [one.mechanism for one in causes(replace(fine, seen=silent))] == [Mechanism.HUNG]
    for reason, mechanism in (
        (Reason.TLS, Mechanism.TLS_EXPECTED),
        (Reason.SASL, Mechanism.SASL_EXPECTED),
        (Reason.NOT_KAFKA, Mechanism.NOT_KAFKA),
    ):
        said = Failed(reason=reason, because="it speaks otherwise", ip="172.20.0.2")
        assert [one.mechanism for one in causes(replace(fine, seen=said))] == [mechanism]


def test_a_repair_that_would_not_be_enough_says_so() -> None:
    found = failing(shop(), "alone", "172.20.0.99", 9092)
    repairs = [repair for cause in causes(found) for repair in cause.repairs]
    assert repairs
    assert all("would not be enough" in one.because for one in repairs if not one.confirmed)
