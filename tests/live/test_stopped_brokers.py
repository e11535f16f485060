"""Brokers that do not run: their state, the line that says why, and what is left of their vantages."""

import pytest

from netdiag.deployment.model.deployment import State
from tests.lab.lab import Lab
from tests.live.stacks import SCENARIOS, check


@pytest.mark.parametrize("form", ["kraft", pytest.param("zookeeper", marks=pytest.mark.bar("cells", long=True))])
def test_brokers_that_cannot_bind(lab: Lab, form: str) -> None:
    path = SCENARIOS / "S04-bind-foreign-address" / f"{form}.broken.yml"
    with lab.up(path, wait="settled") as stack:
        checked = check(stack)
    assert sorted(checked.live.stopped) == [f"broker-{n}" for n in range(1, 6)]
    for number in range(1, 6):
        said = str(checked.live.stopped[f"broker-{number}"])
        expected = f"Socket server failed to bind to 192.168.8.133:909{number}: Cannot assign requested address."
        assert said.startswith("not running, exit code 1: ")
        assert expected in said
    brokers = [b for b in checked.live.deployment.brokers if b.config.is_broker]
    assert {b.member.state for b in brokers} == {State.STOPPED}
    assert not any(each.vantage.kind.value == "B" for each in checked.live.vantages)
    assert set(checked.words("docker host").values()) <= {"bootstrap: refused", "bootstrap: unresolved"}
    assert checked.disagreements == []
