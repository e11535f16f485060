"""Facts compare by what they say."""

from netdiag.traffic.engine.bodies.facts import RequestFacts, ResponseFacts


def test_facts_are_equal_when_they_say_the_same() -> None:
    one, other = RequestFacts(), RequestFacts()
    assert one == other
    one.group = "g"
    assert one != other
    other.group = "g"
    assert one == other
    assert repr(one) == "RequestFacts(group='g')"
    assert RequestFacts() != ResponseFacts()
