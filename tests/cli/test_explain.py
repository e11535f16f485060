"""Rules explain themselves in a terminal."""

from pathlib import Path

from tests.cli.shell import netdiag


def test_a_rule_is_explained(tmp_path: Path) -> None:
    done = netdiag("explain", "advertised-wildcard", cwd=tmp_path)
    assert done.returncode == 0
    text = done.stdout.decode()
    for heading in ("advertised-wildcard (error)", "Why", "Bad", "Good", "Sources", "# <- here"):
        assert heading in text


def test_a_wrong_name_is_wrong_usage_and_gets_the_right_one(tmp_path: Path) -> None:
    done = netdiag("explain", "advertised-wildcrad", cwd=tmp_path)
    assert done.returncode == 2
    assert b"did you mean advertised-wildcard?" in b" ".join(done.stderr.split())


def test_names_are_completed(tmp_path: Path) -> None:
    done = netdiag(
        cwd=tmp_path,
        env={"_NETDIAG_COMPLETE": "complete_bash", "COMP_WORDS": "netdiag explain advertised-wild", "COMP_CWORD": "2"},
    )
    assert done.stdout.split() == [b"advertised-wildcard", b"advertised-wildcard-uncaught"]
