"""What the helper runs is the command line, as if it were its own."""

import pytest

from netdiag.cli.in_helper import carried_out


@pytest.mark.parametrize(
    ("words", "status"), [(["--version"], 0), (["check-listeners", "--no-such-option"], 2), (["playbook", "show"], 2)]
)
def test_the_status_is_that_of_the_command(
    words: list[str], status: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("sys.argv", [])
    assert carried_out(words) == status
    capsys.readouterr()
