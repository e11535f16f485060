"""What a test says whose output differs from the kept one."""

import pytest

from tests.render import golden


def test_the_difference_is_shown_and_how_to_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOLDEN", raising=False)
    kept = (golden.FOLDER / "everything.concise").read_text()
    golden.assert_golden("everything.concise", kept)
    with pytest.raises(pytest.fail.Exception) as raised:
        golden.assert_golden("everything.concise", kept.replace("warning", "war\x1bning"))
    said = str(raised.value)
    assert said.startswith("--- golden/everything.concise\n+++ now\n@@ ")
    assert "\n-compose.yml:" in said
    assert "war\\x1bning" in said
    assert "\x1b" not in said
    assert said.endswith(
        "\nGOLDEN=write pytest 'tests/render/test_golden.py::test_the_difference_is_shown_and_how_to_keep_it' "
        "writes it anew"
    )


@pytest.mark.parametrize(
    ("kept", "now", "said"),
    [
        ("a\n", "a\r\n", "only line endings differ"),
        ("", "a\n" * 100, "... and 43 more lines"),
    ],
)
def test_a_difference(kept: str, now: str, said: str) -> None:
    assert said in golden.difference("x", kept, now).splitlines()
