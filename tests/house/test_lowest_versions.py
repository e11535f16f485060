"""The lower bounds in pyproject.toml are versions that work: the fast tests pass with exactly those."""

from pathlib import Path

from tests.house.environments import build_wheel, create, extras, lower_bounds, pinned
from tests.house.tree import ROOT

PROVEN = ("", "live", "capture")
TEST_TOOLS = ("pytest", "hypothesis", "kio", "kafka-python")


def test_the_fast_tests_pass_with_the_lowest_versions(tmp_path: Path) -> None:
    lowest = lower_bounds(requirement for extra in PROVEN for requirement in extras()[extra])
    constraints = tmp_path / "lowest.txt"
    constraints.write_text("\n".join([*lowest, *pinned(*TEST_TOOLS)]) + "\n")
    environment = create(tmp_path / "environment")
    wheel = build_wheel(tmp_path / "dist")
    environment.install("--constraint", constraints, f"{wheel}[{','.join(filter(None, PROVEN))}]", *TEST_TOOLS)
    done = environment.run(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not lab", "--ignore", "tests/house", "tests"), cwd=ROOT
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
