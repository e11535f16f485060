"""Rules are listed, and explain themselves in a terminal."""

from pathlib import Path

import pytest

from netdiag.rules.all_rules import ALL
from tests.cli.shell import netdiag


def test_every_rule_has_a_line(tmp_path: Path) -> None:
    done = netdiag("rules", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.decode().splitlines()] == [rule.ID for rule in ALL]


def test_a_rule_is_explained(tmp_path: Path) -> None:
    done = netdiag("explain", "advertised-wildcard", cwd=tmp_path)
    assert done.returncode == 0
    text = done.stdout.decode()
    for heading in ("advertised-wildcard (error)", "Why", "Bad", "Good", "Sources", "# <- here"):
        assert heading in text


def test_the_repair_of_the_bad_example_is_shown(tmp_path: Path) -> None:
    text = netdiag("explain", "advertised-internal-name-for-host", cwd=tmp_path).stdout.decode()
    assert "Repair\n    netdiag check-listeners --fix --unsafe-fixes\n    --- a/compose.yml\n" in text
    assert '    +    ports: ["9092:29092"]\n' in text
    assert "check-listeners --fix\n" in netdiag("explain", "controller-wildcard-on-3.9.0", cwd=tmp_path).stdout.decode()
    assert "Repair" not in netdiag("explain", "listener-port-invalid", cwd=tmp_path).stdout.decode()


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


@pytest.mark.parametrize("name", ["unused-ignore", "stale-baseline", "declared-client-fails"])
def test_what_is_said_without_a_rule_is_explained_too(tmp_path: Path, name: str) -> None:
    done = netdiag("explain", name, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, name.encode())
    assert b"docs/configuration.md" in done.stdout
