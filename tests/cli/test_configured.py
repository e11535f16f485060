"""The configuration file through the process: found, named, refused, outdone by options."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import BROKEN, CLEAN, netdiag

FOREIGN = "listener-bound-to-foreign-address"
LOOPBACK = "advertised-loopback-for-remote-clients"


def rules(folder: Path, *words: str, cwd: Path | None = None) -> tuple[int, list[tuple[str, str]]]:
    done = netdiag("check-listeners", "--format", "json", *words, cwd=cwd or folder)
    assert done.stdout, done.stderr
    value = json.loads(done.stdout)
    return done.returncode, [(finding["rule"], finding["severity"]) for finding in value["findings"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "compose.yml").write_text(BROKEN, encoding="utf-8")
    return tmp_path


def configure(folder: Path, text: str, name: str = "netdiag.toml") -> None:
    (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ('ignore = ["listener-"]', [], (0, [])),
        ('ignore = ["listener-"]', ["--isolated"], (1, [(FOREIGN, "error")])),
        ('ignore = ["listener-"]', ["--select", "listener-"], (1, [(FOREIGN, "error")])),
        ('select = ["kraft-"]', [], (0, [])),
        (f'severity.{FOREIGN} = "warning"', [], (0, [(FOREIGN, "warning")])),
        (f'fail-on = "warning"\nseverity.{FOREIGN} = "warning"', [], (1, [(FOREIGN, "warning")])),
        (f'fail-on = "warning"\nseverity.{FOREIGN} = "warning"', ["--fail-on", "error"], (0, [(FOREIGN, "warning")])),
        (f'severity = {{ "listener-" = "note", {FOREIGN} = "warning" }}', [], (0, [(FOREIGN, "warning")])),
        (f'[per-file-ignores]\n"sub/*.yml" = ["{FOREIGN}"]', [], (0, [])),
        (f'[per-file-ignores]\n"*.yaml" = ["{FOREIGN}"]', [], (1, [(FOREIGN, "error")])),
    ],
)
def test_keys(project: Path, text: str, words: list[str], expected: tuple[int, list[tuple[str, str]]]) -> None:
    configure(project, text)
    assert rules(project, *words, "sub/compose.yml") == expected
    # The same from within, and by an absolute path from elsewhere.
    assert rules(project, *words, cwd=project / "sub") == expected
    assert rules(project, *words, str(project / "sub" / "compose.yml"), cwd=Path("/")) == expected


def test_the_table_of_a_python_project(project: Path) -> None:
    configure(project, '[tool.netdiag]\nignore = ["listener-"]\n', "pyproject.toml")
    assert rules(project, "sub/compose.yml") == (0, [])
    configure(project, "# netdiag reads netdiag.toml first\n", "sub/pyproject.toml")
    assert rules(project, "sub/compose.yml") == (0, [])
    configure(project, "", "sub/netdiag.toml")
    assert rules(project, "sub/compose.yml")[0] == 1


def test_standard_input_is_configured_by_the_current_folder(project: Path) -> None:
    configure(project, 'ignore = ["listener-"]')
    assert netdiag("check-listeners", "-", cwd=project, stdin=BROKEN.encode()).returncode == 0


def test_a_named_file(project: Path) -> None:
    configure(project, 'ignore = ["listener-"]', "other.toml")
    assert rules(project, "--config", "other.toml", "sub/compose.yml") == (0, [])
    configure(project, "[project]\n", "pyproject.toml")
    for words, status in ((["--config", "pyproject.toml"], 2), (["--config", "gone.toml"], 3)):
        assert netdiag("check-listeners", *words, "sub/compose.yml", cwd=project).returncode == status
    assert netdiag("check-listeners", "--config", "other.toml", "--isolated", cwd=project).returncode == 2


def test_what_cannot_be_understood_is_one_line_and_nothing_is_checked(project: Path) -> None:
    configure(project, '\nselct = ["listener-"]')
    done = netdiag("check-listeners", "sub/compose.yml", cwd=project)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"netdiag: netdiag.toml:2: unknown key 'selct'; did you mean \"select\"?\n"


def test_files_of_variables_lie_beside_the_configuration(project: Path) -> None:
    (project / "sub" / "compose.yml").write_text(BROKEN.replace("1.2.3.4", "${BIND}"), encoding="utf-8")
    (project / "ci.env").write_text("BIND=1.2.3.4\n", encoding="utf-8")
    (project / "good.env").write_text("BIND=0.0.0.0\n", encoding="utf-8")
    configure(project, f'env-files = ["ci.env"]\nignore = ["{LOOPBACK}"]')
    assert rules(project, "sub/compose.yml") == (1, [(FOREIGN, "error")])
    assert rules(project, "--env-file", "good.env", "sub/compose.yml") == (0, [])


def test_profiles(project: Path) -> None:
    text = BROKEN.replace("    ports:", "    profiles: [kafka]\n    ports:")
    (project / "sub" / "compose.yml").write_text(text, encoding="utf-8")
    configure(project, 'profiles = ["other"]')
    assert rules(project, "sub/compose.yml")[0] == 4
    assert rules(project, "--profile", "kafka", "sub/compose.yml")[0] == 1


def test_projects_that_do_not_agree_when_to_fail(project: Path) -> None:
    (project / "two").mkdir()
    (project / "two" / "compose.yml").write_text(CLEAN, encoding="utf-8")
    configure(project, 'fail-on = "note"', "two/netdiag.toml")
    done = netdiag("check-listeners", "sub/compose.yml", "two/compose.yml", cwd=project)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"do not agree on fail-on" in done.stderr
    assert netdiag("check-listeners", "two/compose.yml", cwd=project).returncode == 1


def test_declared_clients_are_shown_with_their_line(project: Path) -> None:
    text = CLEAN.replace("EXTERNAL://localhost", "EXTERNAL://kafka").replace("cp-kafka:", "ours:")
    (project / "sub" / "compose.yml").write_text(text, encoding="utf-8")
    configure(
        project,
        'host-clients = ["localhost:9092"]\nimages."confluentinc/ours" = "confluentinc/cp-kafka"\n'
        'docker-host-ip = "192.168.8.133"\n',
    )
    done = netdiag("check-listeners", "sub/compose.yml", cwd=project)
    assert done.returncode == 1
    assert b"[declared-client-fails]" in done.stdout
    assert b'host-clients = ["localhost:9092"]' in done.stdout
    assert b"192.168.8.133:9092" in done.stdout
    _, found = rules(project, "--ignore", "declared-client-fails", "sub/compose.yml")
    assert "declared-client-fails" not in dict(found)
