"""The configuration file: found, named, refused, and below what the options say."""

from pathlib import Path
from typing import Any

import pytest

from netdiag.errors import InputError, UsageError
from netdiag.findings import Severity
from netdiag.io.files.projects import ReadOptions
from netdiag.render.formats import text
from netdiag.render.screen import Screen
from netdiag.rules.selection import Choice
from tests.app.checks import result_of
from tests.cli.shell import BROKEN, CLEAN

FOREIGN = "listener-bound-to-foreign-address"
LOOPBACK = "advertised-loopback-for-remote-clients"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "compose.yml").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(content: str, name: str = "netdiag.toml") -> None:
    Path(name).write_text(content, encoding="utf-8")


def found(*files: str | Path, **options: Any) -> tuple[bool, list[tuple[str, str]]]:
    """Whether the check fails, and its findings with their severities."""
    result = result_of(*files or ("sub/compose.yml",), **options)
    findings = result.report.findings
    failed = any(finding.severity.at_least(result.fail_on) for finding in findings)
    return failed, [(finding.rule, finding.severity.value) for finding in findings]


WARNING = f'severity.{FOREIGN} = "warning"'


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ('ignore = ["listener-"]', {}, (False, [])),
        ('ignore = ["listener-"]', {"isolated": True}, (True, [(FOREIGN, "error")])),
        ('ignore = ["listener-"]', {"rules": Choice(select=("listener-",))}, (True, [(FOREIGN, "error")])),
        ('select = ["kraft-"]', {}, (False, [])),
        (WARNING, {}, (False, [(FOREIGN, "warning")])),
        (f'fail-on = "warning"\n{WARNING}', {}, (True, [(FOREIGN, "warning")])),
        (f'fail-on = "warning"\n{WARNING}', {"fail_on": Severity.ERROR}, (False, [(FOREIGN, "warning")])),
        (f'severity = {{ "listener-" = "note", {FOREIGN} = "warning" }}', {}, (False, [(FOREIGN, "warning")])),
        (f'[per-file-ignores]\n"sub/*.yml" = ["{FOREIGN}"]', {}, (False, [])),
        (f'[per-file-ignores]\n"*.yaml" = ["{FOREIGN}"]', {}, (True, [(FOREIGN, "error")])),
    ],
)
def test_keys(
    project: Path,
    content: str,
    options: dict[str, Any],
    expected: tuple[bool, list[tuple[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configure(content)
    assert found(**options) == expected
    # The same from within, and by an absolute path from elsewhere.
    monkeypatch.chdir(project / "sub")
    assert found("compose.yml", **options) == expected
    monkeypatch.chdir("/")
    assert found(project / "sub" / "compose.yml", **options) == expected


def test_the_table_of_a_python_project() -> None:
    configure('[tool.netdiag]\nignore = ["listener-"]\n', "pyproject.toml")
    assert found() == (False, [])
    configure("# netdiag reads netdiag.toml first\n", "sub/pyproject.toml")
    assert found() == (False, [])
    configure("", "sub/netdiag.toml")
    assert found() == (True, [(FOREIGN, "error")])


def test_a_named_file() -> None:
    configure('ignore = ["listener-"]', "other.toml")
    assert found(config_file="other.toml") == (False, [])
    configure("[project]\n", "pyproject.toml")
    with pytest.raises(UsageError, match="netdiag"):
        found(config_file="pyproject.toml")
    with pytest.raises(InputError, match="no such file"):
        found(config_file="gone.toml")


def test_what_cannot_be_understood_is_an_error_with_its_line() -> None:
    configure('\nselct = ["listener-"]')
    with pytest.raises(UsageError) as raised:
        found()
    assert str(raised.value) == "netdiag.toml:2: unknown key 'selct'; did you mean \"select\"?"


def test_files_of_variables_lie_beside_the_configuration() -> None:
    Path("sub/compose.yml").write_text(BROKEN.replace("1.2.3.4", "${BIND}"), encoding="utf-8")
    Path("ci.env").write_text("BIND=1.2.3.4\n", encoding="utf-8")
    Path("good.env").write_text("BIND=0.0.0.0\n", encoding="utf-8")
    configure(f'env-files = ["ci.env"]\nignore = ["{LOOPBACK}"]')
    assert found() == (True, [(FOREIGN, "error")])
    assert found(read=ReadOptions(env_files=("good.env",))) == (False, [])


def test_profiles() -> None:
    profiled = BROKEN.replace("    ports:", "    profiles: [kafka]\n    ports:")
    Path("sub/compose.yml").write_text(profiled, encoding="utf-8")
    configure('profiles = ["other"]')
    assert result_of("sub/compose.yml").report.inputs[0].brokers == ()
    assert found(read=ReadOptions(profiles=("kafka",))) == (True, [(FOREIGN, "error")])


def test_projects_that_do_not_agree_when_to_fail(project: Path) -> None:
    (project / "two").mkdir()
    (project / "two" / "compose.yml").write_text(CLEAN, encoding="utf-8")
    configure('fail-on = "note"', "two/netdiag.toml")
    with pytest.raises(UsageError, match="set different values for fail-on"):
        found("sub/compose.yml", "two/compose.yml")
    assert found("two/compose.yml")[0]


def test_declared_clients_are_shown_with_their_line() -> None:
    content = CLEAN.replace("EXTERNAL://localhost", "EXTERNAL://kafka").replace("cp-kafka:", "ours:")
    Path("sub/compose.yml").write_text(content, encoding="utf-8")
    configure(
        'host-clients = ["localhost:9092"]\nimages."confluentinc/ours" = "confluentinc/cp-kafka"\n'
        'docker-host-ip = "192.168.8.133"\n',
    )
    shown = text.render(result_of("sub/compose.yml").report, Screen())
    assert "[declared-client-fails]" in shown
    assert 'host-clients = ["localhost:9092"]' in shown
    assert "192.168.8.133:9092" in shown
    assert "declared-client-fails" not in dict(found(rules=Choice(ignore=("declared-client-fails",)))[1])
