"""An outcome that could not look says why."""

from netdiag.playbook.outcome import Outcome


def test_looked() -> None:
    assert Outcome().looked
    assert not Outcome(why_not="no engine").looked
    assert Outcome(seconds=1.0) == Outcome(seconds=2.0)
