"""A configuration that says nothing says nothing."""

from netdiag.config.document import Configuration, ExternalNetwork, Facts


def test_nothing_is_said_by_default() -> None:
    nothing = Configuration()
    assert (nothing.select, nothing.ignore, nothing.fail_on, nothing.profiles) == (None, (), None, None)
    assert nothing.facts == Facts()
    assert nothing.facts.docker_desktop is None


def test_nobody_knows_and_nobody_is_there_are_two_things() -> None:
    assert ExternalNetwork().members is None
    assert ExternalNetwork(members=()) != ExternalNetwork()
