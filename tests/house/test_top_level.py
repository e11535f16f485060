"""The top of the tree holds what is expected there: no log, no capture, nothing that a run left behind."""

from tests.house.tree import ROOT, files

EXPECTED = {
    *(".ci", ".dockerignore", ".gitignore", ".pre-commit-hooks.yaml"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "Makefile", "README.md"),
    *("action.yml", "constraints.txt", "mkdocs.yml", "pyproject.toml"),
    *("compose", "docs", "native", "netdiag", "playbooks", "templates", "tests", "tools"),
}


def test_the_top_holds_what_is_expected_and_nothing_else() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in files()} == EXPECTED
