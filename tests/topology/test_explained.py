"""The words of explanations."""

from netdiag.topology.explained import Certainty


def test_certainties_stand_in_order() -> None:
    assert [one.value for one in Certainty] == ["because", "found", "consistent with", "foretold"]
