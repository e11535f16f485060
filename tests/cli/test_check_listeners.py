"""check-listeners through its process: exit statuses, files, repairs, formats."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from tests.cli.shell import BROKEN, CLEAN, NETDIAG, NO_BROKER, ROOT, environment, netdiag

SCHEMA = json.loads((ROOT / "netdiag/render/schema/check-listeners.v1.json").read_text(encoding="utf-8"))
FIVE = ROOT / "compose/scenarios"


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.yml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["clean.yml"], 0),
        (["broken.yml"], 1),
        (["clean.yml", "broken.yml"], 1),
        (["web.yml"], 4),
        (["clean.yml", "web.yml"], 0),
        ([], 4),
        (["--allow-empty", "web.yml"], 0),
        (["--allow-empty", "broken.yml", "web.yml"], 1),
        (["--allow-empty", "gone.yml", "web.yml"], 3),
        (["gone.yml"], 3),
        (["gone.yml", "broken.yml"], 3),
        (["nonsense.yml"], 3),
        (["folder"], 3),
        (["--env-file", "gone.env", "clean.yml"], 3),
        (["--no-such-option"], 2),
        (["--format", "yaml", "clean.yml"], 2),
        (["--fix", "--diff", "clean.yml"], 2),
        (["--diff", "--format", "json", "clean.yml"], 2),
        (["--fix", "-", "clean.yml"], 2),
        (["--fix", "--format", "json", "-"], 2),
        (["--unsafe-fixes", "clean.yml"], 2),
        (["-", "-"], 2),
        (["--container", "kafka", "clean.yml"], 2),
        (["--live", "--fix"], 2),
        (["--live", "--container", "kafka", "clean.yml"], 2),
        (["--live", "--timeout", "0"], 2),
        (["--live", "--host", "unix:///no/such/socket"], 3),
        (["--output", "no/such/folder/x", "clean.yml"], 3),
    ],
)
def test_exit_status(tmp_path: Path, words: list[str], status: int) -> None:
    put(tmp_path, clean=CLEAN, broken=BROKEN, web=NO_BROKER, nonsense="services: [")
    (tmp_path / "folder").mkdir()
    done = netdiag("check-listeners", *words, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    if status != 2 and not {"--diff", "--fix", "--output"} & set(words):
        result = netdiag("check-listeners", "--format", "json", *words, cwd=tmp_path)
        assert result.returncode == status
        jsonschema.validate(json.loads(result.stdout), SCHEMA)


@pytest.mark.parametrize(("level", "status"), [("error", 0), ("warning", 1), ("note", 1)])
def test_fail_on(tmp_path: Path, level: str, status: int) -> None:
    stack = FIVE / "S07-single-listener-container-name/kraft.broken.yml"
    assert netdiag("check-listeners", "--fail-on", level, stack, cwd=tmp_path).returncode == status


def test_an_input_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    put(tmp_path, broken=BROKEN)
    done = netdiag("check-listeners", "gone.yml", "broken.yml", cwd=tmp_path)
    assert b"gone.yml: could not be checked: no such file" in done.stdout
    assert b"broken.yml:8:" in done.stdout
    value = json.loads(netdiag("check-listeners", "--format", "json", "gone.yml", "broken.yml", cwd=tmp_path).stdout)
    assert [(item["path"], item["error"] is None) for item in value["inputs"]] == [
        ("gone.yml", False),
        ("broken.yml", True),
    ]


def test_the_compose_file_of_the_folder_is_found_in_composes_order(tmp_path: Path) -> None:
    for name in ("docker-compose.yaml", "docker-compose.yml", "compose.yml", "compose.yaml"):
        (tmp_path / name).write_text(CLEAN, encoding="utf-8")
        value = json.loads(netdiag("check-listeners", "--format", "json", cwd=tmp_path).stdout)
        assert [item["path"] for item in value["inputs"]] == [name]


def test_the_project_of_a_folder_above_and_of_a_chain(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN, over="services: {kafka: {environment: {KAFKA_LISTENERS: 'EXTERNAL://1.2.3.4:9'}}}\n")
    (tmp_path / "sub").mkdir()
    assert netdiag("check-listeners", cwd=tmp_path / "sub").returncode == 0
    words = ("-f", "compose.yml", "-f", "over.yml")
    done = netdiag("check-listeners", *words, cwd=tmp_path)
    assert (done.returncode, b"over.yml:1:" in done.stdout) == (1, True)
    assert netdiag("check-listeners", "-f", "over.yml", "-f", "compose.yml", cwd=tmp_path).returncode == 0
    chain = {"COMPOSE_FILE": "../compose.yml:../over.yml"}
    assert netdiag("check-listeners", cwd=tmp_path / "sub", env=chain).returncode == 1
    assert netdiag("check-listeners", "-f", "-", "-f", "over.yml", cwd=tmp_path, stdin=CLEAN.encode()).returncode == 1
    assert netdiag("check-listeners", "sub", cwd=tmp_path).returncode == 3


@pytest.mark.parametrize(
    "words",
    [
        ("-f", "compose.yml", "compose.yml"),
        ("-f", "-", "-f", "-"),
        ("--fix", "-f", "-", "-f", "compose.yml"),
        ("-p", ""),
    ],
)
def test_contradictions_of_chains(tmp_path: Path, words: tuple[str, ...]) -> None:
    put(tmp_path, compose=CLEAN)
    assert netdiag("check-listeners", *words, cwd=tmp_path).returncode == 2


def test_standard_input(tmp_path: Path) -> None:
    done = netdiag("check-listeners", "-", cwd=tmp_path, stdin=BROKEN.encode())
    assert done.returncode == 1
    assert b"<stdin>:8:" in done.stdout


def test_dotenv_env_file_and_profile_are_heard(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN.replace("1.2.3.4", "${BIND}").replace("ports:", "profiles: [kafka]\n    ports:"))
    (tmp_path / ".env").write_text("BIND=1.2.3.4\n", encoding="utf-8")
    (tmp_path / "good.env").write_text("BIND=0.0.0.0\n", encoding="utf-8")
    assert netdiag("check-listeners", cwd=tmp_path).returncode == 1
    assert netdiag("check-listeners", "--env-file", "good.env", cwd=tmp_path).returncode == 0
    assert netdiag("check-listeners", cwd=tmp_path, env={"BIND": "0.0.0.0"}).returncode == 0
    assert netdiag("check-listeners", "--profile", "other", cwd=tmp_path).returncode == 4
    assert netdiag("check-listeners", "--profile", "kafka", cwd=tmp_path).returncode == 1


def test_files_drawn_in_are_shown_where_they_lie(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    moved = BROKEN.replace("      KAFKA_LISTENERS: EXTERNAL://1.2.3.4:9092  # why\n", "").replace(
        "    environment:", "    env_file: kafka.env\n    environment:"
    )
    (tmp_path / "sub" / "compose.yml").write_text(moved, encoding="utf-8")
    (tmp_path / "sub" / "kafka.env").write_text("KAFKA_LISTENERS=EXTERNAL://1.2.3.4:9092\n", encoding="utf-8")
    place = str(Path("sub") / "kafka.env")
    done = netdiag("check-listeners", "sub/compose.yml", cwd=tmp_path)
    assert f"{place}:1:28: error".encode() in done.stdout
    assert "1 │ KAFKA_LISTENERS=EXTERNAL://1.2.3.4:9092".encode() in done.stdout
    assert netdiag("check-listeners", "--fix", "sub/compose.yml", cwd=tmp_path).returncode == 0
    assert (tmp_path / place).read_text(encoding="utf-8") == "KAFKA_LISTENERS=EXTERNAL://0.0.0.0:9092\n"


def test_a_declared_host_address_gets_its_row(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN)
    done = netdiag("check-listeners", "--docker-host-ip", "192.168.8.133", cwd=tmp_path)
    assert b"192.168.8.133:9092" in done.stdout
    assert b"<docker-host>" not in done.stdout


def test_no_matrix(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN)
    assert b"client works" in netdiag("check-listeners", cwd=tmp_path).stdout
    assert b"client works" not in netdiag("check-listeners", "--no-matrix", cwd=tmp_path).stdout
    value = json.loads(netdiag("check-listeners", "--no-matrix", "--format", "json", cwd=tmp_path).stdout)
    assert value["matrix"] == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_fix_changes_the_named_bytes_and_checks_again(tmp_path: Path, line_end: str) -> None:
    before = ("# K\u00e4se\n" + BROKEN).replace("\n", line_end).encode()
    (tmp_path / "compose.yml").write_bytes(before)
    done = netdiag("check-listeners", "--fix", cwd=tmp_path)
    assert (done.returncode, b"listener-bound-to-foreign-address" in done.stdout) == (0, False)
    assert b"repaired 1 finding in compose.yml" in done.stderr
    assert (tmp_path / "compose.yml").read_bytes() == before.replace(b"1.2.3.4", b"0.0.0.0")
    assert os.listdir(tmp_path) == ["compose.yml"]


def test_diff_is_a_patch_and_nothing_else(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN)
    done = netdiag("check-listeners", "--diff", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(b"--- a/compose.yml\n+++ b/compose.yml\n@@ ")
    assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == BROKEN
    if shutil.which("git"):
        subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=done.stdout, check=True)
        assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == CLEAN


def test_every_repairable_scenario_is_clean_after_its_repair(tmp_path: Path) -> None:
    for stack in sorted(FIVE.glob("S0[24]*/*.broken.yml")):
        copy = tmp_path / "compose.yml"
        shutil.copy(stack, copy)
        assert netdiag("check-listeners", "--fix", "--unsafe-fixes", copy, cwd=tmp_path).returncode == 0, stack


def test_fix_leaves_alone_what_it_may_not_write(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN)
    (tmp_path / "compose.yml").chmod(0o444)
    if os.access(tmp_path / "compose.yml", os.W_OK):
        return  # a superuser may
    done = netdiag("check-listeners", "--fix", cwd=tmp_path)
    assert done.returncode == 3
    assert b"cannot be written: permission denied" in done.stderr
    assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == BROKEN


def test_output_goes_to_a_file_as_a_whole(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN)
    done = netdiag("check-listeners", "--format", "json", "--output", "result.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    jsonschema.validate(json.loads((tmp_path / "result.json").read_bytes()), SCHEMA)
    assert sorted(os.listdir(tmp_path)) == ["compose.yml", "result.json"]


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    for form in ("text", "json"):
        runs = {
            netdiag("check-listeners", "--format", form, *sorted(FIVE.glob("S0*/*n.yml")), cwd=tmp_path, env=env).stdout
            for env in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"}, {})
        }
        assert len(runs) == 1


def test_verbose_tells_what_is_read_on_standard_error(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN)
    done = netdiag("check-listeners", "-v", cwd=tmp_path)
    assert b"netdiag: reading compose.yml" in done.stderr
    assert netdiag("check-listeners", cwd=tmp_path).stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("form", ["text", "json"])
def test_an_interrupt_is_130(tmp_path: Path, form: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen(
        [*NETDIAG, "check-listeners", "-v", "--format", form, "pipe", "other.yml"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert b"reading pipe" in process.stderr.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"interrupted" in err
    assert b"Traceback" not in err
    if form == "json":
        value = json.loads(out)
        jsonschema.validate(value, SCHEMA)
        assert [item["error"]["message"] for item in value["inputs"]] == ["interrupted", "interrupted"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, form: str) -> None:
    files = sorted(FIVE.glob("S0*/*n.yml"))
    process = subprocess.Popen(
        [*NETDIAG, "check-listeners", "--format", form, *files],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) in (0, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_of_one_line(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*NETDIAG, "check-listeners"],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert done.returncode == 3
    assert done.stderr == b"netdiag: standard output: cannot be written: no space left on device\n"


def test_hostile_names_are_spelled_out(tmp_path: Path) -> None:
    hostile = "\\e[2J\\u202E\\0"
    text = (
        BROKEN.replace("  kafka:", f'  "{hostile}":')
        .replace("1.2.3.4", f"{hostile}")
        .replace(f"EXTERNAL://{hostile}:9092  # why", f'"EXTERNAL://{hostile}:9092"')
    )
    put(tmp_path, compose=text)
    done = netdiag("check-listeners", "--color", "never", cwd=tmp_path)
    shown = done.stdout.decode()
    assert done.returncode in (1, 3)
    assert not {c for c in shown + done.stderr.decode() if (ord(c) < 32 and c != "\n") or c in "\x7f\u202e"}


@pytest.mark.parametrize(
    ("words", "env", "coloured"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(tmp_path: Path, words: list[str], env: dict[str, str], coloured: bool) -> None:
    put(tmp_path, compose=BROKEN)
    after = netdiag("check-listeners", *words, cwd=tmp_path, env=env).stdout
    before = netdiag(*words, "check-listeners", cwd=tmp_path, env=env).stdout
    assert (b"\x1b[" in after) == coloured
    assert after == before


def test_a_defect_of_ours_is_one_line_unless_debugged(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN)
    code = (
        "import netdiag.cli.declared as d; d.check = lambda deployment: 1 / 0; from netdiag.cli.main import run; run()"
    )
    command = [sys.executable, "-c", code, "check-listeners"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 3
    assert b"internal error: ZeroDivisionError" in done.stdout
    assert b"Traceback" not in done.stderr
    done = subprocess.run([*command, "--debug"], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert b"Traceback" in done.stderr
    done = subprocess.run(
        [*command, "--format", "json"], cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    jsonschema.validate(json.loads(done.stdout), SCHEMA)
