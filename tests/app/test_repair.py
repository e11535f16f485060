"""Repairs are tried in memory and kept only where they help."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from netdiag.app.check import Check, CheckResult
from netdiag.app.configuration import CheckOptions
from netdiag.app.repair import MOST_CHECKS, Repairs, fix, tried
from netdiag.errors import InputError
from netdiag.findings import Applicability, Edit, Finding, Severity
from netdiag.render.report import Input, Problem, Report
from netdiag.rules.selection import Choice
from tests.app.checks import Recorder
from tests.cli.shell import BROKEN, ROOT
from tests.render.literals import place

MOVED = BROKEN.replace("      KAFKA_LISTENERS: EXTERNAL://1.2.3.4:9092  # why\n", "").replace(
    "    environment:", "    env_file: ../kafka.env\n    environment:"
)
SINGLE = """services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:9092"]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""
LOOPBACK = """services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: PORTS
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: EXTERNAL://127.0.0.1:9092,INTERNAL://0.0.0.0:29092
      KAFKA_ADVERTISED_LISTENERS: EXTERNAL://kafka:9092,INTERNAL://kafka:29092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: EXTERNAL:PLAINTEXT,INTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
"""


SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def check_of(replaced: Mapping[str, bytes], start: bytes = b"") -> Report:
    """Small letters are defects with a repair; `w` is a warning, `e` an error, others say what they become."""
    data = replaced.get("f", start)
    found = tuple(finding(data, index) for index in range(len(data)) if data[index : index + 1].islower())
    error = Problem(message="broken") if b"!" in data else None
    return Report(inputs=(Input(name="f", error=error),), findings=found, sources={"f": data})


BECOMES = {"a": "A", "b": "e", "c": "!", "e": "E", "w": "W", "x": "x", "y": "w", "s": "e", "k": "k2"}


def finding(data: bytes, index: int) -> Finding:
    letter = chr(data[index])
    applicability = SAFE if letter in "as" else UNSAFE
    made = Edit(path="f", start=index, end=index + 1, replacement=BECOMES[letter], applicability=applicability)
    severity = Severity.WARNING if letter in "wb" else Severity.ERROR
    return Finding(rule=letter, severity=severity, message="m", location=place(data, letter, "f"), edits=(made,))


def made(start: bytes, *, unsafe: bool = True, writable: bool = True) -> Repairs:
    return tried(lambda replaced: check_of(replaced, start), {}, lambda path: writable, unsafe=unsafe)


def test_all_that_helps_is_made() -> None:
    result = made(b"a-w-e")
    assert result.changed == {"f": (b"a-w-e", b"A-W-E")}
    assert len(result.repaired) == 3
    assert not result.left


def test_unsafe_repairs_are_counted_and_not_made() -> None:
    result = made(b"a-w-e", unsafe=False)
    assert result.after["f"] == b"A-w-e"
    assert (len(result.repaired), result.unsafe) == (1, 2)


def test_what_makes_it_no_better_is_left_and_the_rest_is_made() -> None:
    for bad in ("b", "c", "x"):
        result = made(f"a-{bad}-w".encode())
        assert result.after["f"] == f"A-{bad}-W".encode()
        assert [(f.rule, reason) for f, reason in result.refused] == [(bad, "another defect would take its place")]


def test_one_step_may_lead_to_a_milder_one() -> None:
    result = made(b"y")
    assert result.after["f"] == b"W"
    assert len(result.repaired) == 2


def test_a_safe_repair_may_bring_to_light_what_was_hidden() -> None:
    assert made(b"s", unsafe=False).after["f"] == b"e"
    assert made(b"s").after["f"] == b"E"


def test_files_outside_are_not_touched() -> None:
    result = made(b"a", writable=False)
    assert result.changed == {}
    assert [reason for _, reason in result.refused] == ["f is outside of the project"]


def test_what_never_ends_is_bounded() -> None:
    checks = 0

    def counted(replaced: Mapping[str, bytes]) -> Report:
        nonlocal checks
        checks += 1
        return check_of(replaced, b"-".join([b"x"] * 400))

    tried(counted, {}, lambda path: True, unsafe=True)
    assert checks <= MOST_CHECKS + 1


def test_what_an_earlier_input_made_of_a_file_is_the_start() -> None:
    result = tried(check_of, {"f": b"e"}, lambda path: True, unsafe=True)
    assert (result.before["f"], result.after["f"]) == (b"e", b"E")


def put(content: str, folder: str = ".") -> Path:
    path = Path(folder) / "compose.yml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def fixed(*, unsafe: bool = False, **options: Any) -> tuple[CheckResult, Recorder]:
    """The result of a check after its repairs, and what was said."""
    heard = Recorder()
    check = Check(CheckOptions(**options), heard)
    result, _ = fix(check, check.run(), unsafe=unsafe)
    return result, heard


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_unsafe_repairs_are_offered_and_made_when_asked_for(folder: Path) -> None:
    path = put(SINGLE)
    _, heard = fixed()
    assert heard.notices == ["--unsafe-fixes would repair 1 finding more"]
    assert path.read_text(encoding="utf-8") == SINGLE
    path.chmod(0o640)
    result, heard = fixed(unsafe=True)
    assert (result.report.findings, heard.notices) == ((), ["repaired 1 finding in compose.yml"])
    assert '    ports: ["9092:29092"]' in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(folder) == ["compose.yml"]
    after = path.read_bytes()
    assert fixed(unsafe=True)[1].notices == []
    assert path.read_bytes() == after


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_named_bytes_change_and_no_others(folder: Path, line_end: str) -> None:
    before = ("# K\u00e4se\n" + BROKEN).replace("\n", line_end).encode()
    (folder / "compose.yml").write_bytes(before)
    result, _ = fixed(rules=Choice(select=("listener-",)))
    assert result.report.findings == ()
    assert (folder / "compose.yml").read_bytes() == before.replace(b"1.2.3.4", b"0.0.0.0")


def test_a_file_that_the_project_names_is_repaired_where_it_lies(folder: Path) -> None:
    put(MOVED.replace("../kafka.env", "kafka.env"), "sub")
    (folder / "sub" / "kafka.env").write_text("KAFKA_LISTENERS=EXTERNAL://1.2.3.4:9092\n", encoding="utf-8")
    fixed(files=("sub/compose.yml",))
    assert (folder / "sub" / "kafka.env").read_text(encoding="utf-8") == "KAFKA_LISTENERS=EXTERNAL://0.0.0.0:9092\n"


def test_files_outside_of_the_project_are_left_alone(folder: Path) -> None:
    put(MOVED, "project")
    (folder / "kafka.env").write_text("KAFKA_LISTENERS=EXTERNAL://1.2.3.4:9092\n", encoding="utf-8")
    result, heard = fixed(files=("project",))
    assert [finding.rule for finding in result.report.findings] == ["listener-bound-to-foreign-address"]
    assert any("is outside of the project" in notice for notice in heard.notices)
    assert "1.2.3.4" in (folder / "kafka.env").read_text(encoding="utf-8")


def test_a_link_out_of_the_project_is_not_followed(folder: Path) -> None:
    elsewhere = put(BROKEN)
    (folder / "project").mkdir()
    (folder / "project" / "compose.yml").symlink_to(elsewhere.resolve())
    _, heard = fixed(files=("project",))
    assert any("is outside of the project" in notice for notice in heard.notices)
    assert elsewhere.read_text(encoding="utf-8") == BROKEN
    assert (folder / "project" / "compose.yml").is_symlink()


@pytest.mark.parametrize(
    "options",
    [{"rules": Choice(select=("advertised-",))}, {"baseline": "known.json"}],
    ids=["not chosen", "in the baseline"],
)
def test_what_nobody_wants_to_hear_of_is_not_repaired(folder: Path, options: dict[str, Any]) -> None:
    path = put(BROKEN)
    if "baseline" in options:
        Check(CheckOptions(write_baseline="known.json")).run()
    fixed(**options)
    assert path.read_text(encoding="utf-8") == BROKEN


def test_what_a_comment_ignores_is_not_repaired(folder: Path) -> None:
    commented = BROKEN.replace("# why", "# netdiag: ignore[listener-bound-to-foreign-address]")
    path = put(commented)
    fixed()
    assert path.read_text(encoding="utf-8") == commented


@pytest.mark.parametrize(
    ("ports", "repaired"), [('["9092:9092"]', True), ("[]", False)], ids=["published", "for whom is not said"]
)
def test_a_loopback_listener_is_opened_unasked_where_the_file_leads_others_to_it(
    folder: Path, ports: str, repaired: bool
) -> None:
    content = LOOPBACK.replace("PORTS", ports)
    path, chosen = put(content), Choice(select=("listener-bound-to-loopback",))
    fixed(rules=chosen)
    opened = content.replace("127.0.0.1", "0.0.0.0")
    assert path.read_text(encoding="utf-8") == (opened if repaired else content)
    fixed(rules=chosen, unsafe=True)
    assert path.read_text(encoding="utf-8") == opened


def test_every_repairable_scenario_is_clean_after_its_repair(folder: Path) -> None:
    for stack in sorted(ROOT.glob("compose/scenarios/S0[24]*/*.broken.yml")):
        shutil.copy(stack, "compose.yml")
        result, _ = fixed(unsafe=True)
        assert not any(finding.severity is Severity.ERROR for finding in result.report.findings), stack


def test_what_may_not_be_written_is_left_alone(folder: Path) -> None:
    path = put(BROKEN)
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        return  # a superuser may
    with pytest.raises(InputError, match="cannot be written: permission denied"):
        fixed()
    assert path.read_text(encoding="utf-8") == BROKEN
