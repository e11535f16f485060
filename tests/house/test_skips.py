"""The skip policy lets nothing through that is not written down."""

from pathlib import Path

import pytest

from tests.skips import ALLOWED, allowed

SKIPPING = """
import pytest

def test_one():
    pytest.skip({reason!r})

def test_two():
    pass
"""


@pytest.mark.parametrize(
    ("reason", "in_ci", "outcome"),
    [
        ("shared corpus absent", False, "skipped"),
        ("shared corpus absent", True, "skipped"),
        ("not root: the lab makes network namespaces", False, "skipped"),
        ("not root: the lab makes network namespaces", True, "failed"),
        ("works on my machine", False, "failed"),
        ("works on my machine", True, "failed"),
    ],
)
@pytest.mark.parametrize("whole_module", [False, True])
def test_a_skip_passes_only_for_a_reason_that_is_allowed_here(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
    in_ci: bool,
    outcome: str,
    whole_module: bool,
) -> None:
    monkeypatch.setenv("CI", "true" if in_ci else "")
    monkeypatch.delenv("NETDIAG_NOT_RUN", raising=False)
    text = SKIPPING.format(reason=reason)
    if whole_module:
        text = f"import pytest\npytest.skip({reason!r}, allow_module_level=True)\n"
    pytester.makepyfile(text)
    done = pytester.runpytest("-p", "tests.skips")
    if outcome == "skipped":
        assert done.parseoutcomes()["skipped"] == 1
        done.stdout.fnmatch_lines(["*could not run*", f"*{reason} (*"])
    else:
        assert done.ret != 0
        assert "skipped" not in done.parseoutcomes()
        done.stdout.fnmatch_lines([f"*tests/skips.py does not allow*{reason}*"])


def test_a_skip_in_another_process_is_judged_and_listed_once(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.txt"
    monkeypatch.setenv("CI", "")
    monkeypatch.setenv("NETDIAG_NOT_RUN", str(notes))
    pytester.makepyfile(
        test_allowed=SKIPPING.format(reason="shared corpus absent"),
        test_not_allowed=SKIPPING.format(reason="works on my machine"),
        test_whole='import pytest\npytest.skip("needs root", allow_module_level=True)\n',
    )
    done = pytester.runpytest("-p", "tests.skips", "-n", "2")
    assert done.parseoutcomes() == {"passed": 2, "skipped": 2, "failed": 1}
    listed = notes.read_text().splitlines()
    assert sorted(line.partition(" (")[0] for line in listed) == [
        "test_allowed.py: shared corpus absent",
        "test_whole.py: needs root",
    ]


def test_an_expected_failure_is_no_skip(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.xfail\ndef test_one():\n    assert False\n")
    done = pytester.runpytest("-p", "tests.skips")
    assert done.parseoutcomes() == {"xfailed": 1}


def test_what_ci_may_lack_is_only_what_the_repository_cannot_hold() -> None:
    assert [entry.reason for entry in ALLOWED if entry.in_ci] == [r"^shared corpus absent"]
    assert allowed("shared corpus absent", in_ci=True)
    assert not allowed("", in_ci=False)
