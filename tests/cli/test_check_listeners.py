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
from tests.deployment.stacks import five_brokers
from tests.render.schemas import strict_schema
from tests.render.test_sarif import run_of

SCHEMA = strict_schema("check-listeners.v1.json")
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
        (["--select", "kraft-,zookeeper-", "broken.yml"], 0),
        (["--select", "kraft-", "--select", "listener-", "broken.yml"], 1),
        (["--ignore", "kraft-, listener-", "broken.yml"], 0),
        (["--exit-zero", "broken.yml"], 0),
        (["--exit-zero", "gone.yml"], 3),
        (["--exit-zero", "web.yml"], 4),
        (["--config", "gone.toml", "clean.yml"], 3),
        (["--config", "wrong.toml", "clean.yml"], 2),
        (["--config", "wrong.toml", "--isolated"], 2),
        (["--isolated", "clean.yml"], 0),
        (["--baseline", "gone.json", "clean.yml"], 3),
        (["--baseline", "clean.yml", "clean.yml"], 2),
        (["--baseline", "a.json", "--write-baseline", "b.json"], 2),
        (["--fix", "--write-baseline", "b.json"], 2),
        (["--write-baseline", "b.json", "gone.yml"], 3),
        (["--write-baseline", "gone/b.json", "broken.yml"], 3),
        (["--require-all", "clean.yml"], 2),
        (["--client-properties", "x", "clean.yml"], 2),
        (["--warn-days", "0", "clean.yml"], 2),
        (["--why", "clean.yml"], 2),
        (["--record", "x", "clean.yml"], 2),
        (["--engine", "new", "clean.yml"], 2),
    ],
)
def test_exit_status(tmp_path: Path, words: list[str], status: int) -> None:
    put(tmp_path, clean=CLEAN, broken=BROKEN, web=NO_BROKER, nonsense="services: [")
    (tmp_path / "wrong.toml").write_text("selct = 1\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    done = netdiag("check-listeners", *words, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    if status != 2 and not {"--diff", "--fix", "--output", "--config", "--baseline", "--write-baseline"} & set(words):
        result = netdiag("check-listeners", "--format", "json", *words, cwd=tmp_path)
        assert result.returncode == status
        jsonschema.validate(json.loads(result.stdout), SCHEMA)


@pytest.mark.parametrize(("level", "status"), [("error", 0), ("warning", 1), ("note", 1)])
def test_fail_on(tmp_path: Path, level: str, status: int) -> None:
    stack = FIVE / "S07-single-listener-container-name/kraft.broken.yml"
    assert netdiag("check-listeners", "--fail-on", level, stack, cwd=tmp_path).returncode == status


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


def test_no_matrix(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN)
    assert b"clients can connect" in netdiag("check-listeners", cwd=tmp_path).stdout
    assert b"clients can connect" not in netdiag("check-listeners", "--no-matrix", cwd=tmp_path).stdout
    value = json.loads(netdiag("check-listeners", "--no-matrix", "--format", "json", cwd=tmp_path).stdout)
    assert value["matrix"] == []


def test_diff_is_a_patch_and_nothing_else(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN)
    done = netdiag("check-listeners", "--diff", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(b"--- a/compose.yml\n+++ b/compose.yml\n@@ ")
    assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == BROKEN
    if shutil.which("git"):
        subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=done.stdout, check=True)
        assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == CLEAN


def test_output_goes_to_a_file_as_a_whole(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN)
    done = netdiag("check-listeners", "--format", "json", "--output", "result.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    jsonschema.validate(json.loads((tmp_path / "result.json").read_bytes()), SCHEMA)
    assert sorted(os.listdir(tmp_path)) == ["compose.yml", "result.json"]


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
    broken = "import netdiag.app.check as check; check.check_deployment = lambda deployment: 1 / 0"
    code = f"{broken}; from netdiag.cli.main import run; run()"
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


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_rule_is_wrong_usage(tmp_path: Path, option: str) -> None:
    done = netdiag("check-listeners", option, "kraft-rol-invalid", cwd=tmp_path)
    assert done.returncode == 2
    assert b"no rule is called 'kraft-rol-invalid'; did you mean 'kraft-role-invalid'?" in done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("check-listeners --select kraft-role", [b"kraft-role-invalid"]),
        ("check-listeners --ignore kraft-voters-invalid,kraft-role", [b"kraft-voters-invalid,kraft-role-invalid"]),
        ("explain kraft-role", [b"kraft-role-invalid"]),
    ],
)
def test_rule_ids_are_completed(tmp_path: Path, words: str, offered: list[bytes]) -> None:
    line = f"netdiag {words}"
    env = {"_NETDIAG_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words.split()))}
    assert netdiag(cwd=tmp_path, env=env).stdout.split() == offered


@pytest.mark.parametrize(
    ("options", "vantage", "bootstrap", "expected"),
    [
        (["--engine", "28", "--userland-proxy", "off"], "container elsewhere", "192.168.8.133:9091", "bootstrap"),
        (["--userland-proxy", "on"], "container elsewhere", "192.168.8.133:9091", "advertised"),
        (["--platform", "desktop"], "docker host", "localhost:9091", "ok"),
        (["--firewall", "nftables", "--userland-proxy", "off"], "container elsewhere", "192.168.8.133:9091", "unknown"),
    ],
)
def test_options_about_the_engine_reach_the_prediction(
    tmp_path: Path, options: list[str], vantage: str, bootstrap: str, expected: str
) -> None:
    put(tmp_path, compose=five_brokers())
    usual = ("check-listeners", "--docker-host-ip", "192.168.8.133", "--format", "json")
    cells = json.loads(netdiag(*usual, *options, cwd=tmp_path).stdout)["matrix"]
    (cell,) = (c for c in cells if (c["vantage"], c["bootstrap"]) == (vantage, bootstrap))
    assert cell["predicted"]["verdict"] == expected


@pytest.mark.parametrize("given", ["300.1.1.1", "docker.example", ""])
def test_the_docker_host_has_an_address(tmp_path: Path, given: str) -> None:
    put(tmp_path, compose=five_brokers())
    refused = netdiag("check-listeners", "--docker-host-ip", given, cwd=tmp_path)
    assert refused.returncode == 2
    assert f'--docker-host-ip takes an address like 192.168.1.20, not "{given}"'.encode() in refused.stderr


def test_what_is_ignored_is_counted_and_marked_for_code_scanning(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN.replace("# why", "# netdiag: ignore[listener-bound-to-foreign-address] by the proxy"))
    assert netdiag("check-listeners", cwd=tmp_path).stdout.endswith(b"no findings in 1 file (1 broker); 1 suppressed\n")
    run = run_of(netdiag("check-listeners", "--format", "sarif", cwd=tmp_path).stdout.decode())
    (result,) = run["results"]
    assert result["suppressions"] == [{"kind": "inSource", "status": "accepted", "justification": "by the proxy"}]


def test_a_baseline_is_written_and_marked_for_code_scanning(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN)
    done = netdiag("check-listeners", "--write-baseline", "known.json", cwd=tmp_path)
    assert (done.returncode, b"netdiag: 1 finding written to known.json\n" in done.stderr) == (0, True)
    run = run_of(netdiag("check-listeners", "--baseline=known.json", "--format=sarif", cwd=tmp_path).stdout.decode())
    assert [result["suppressions"] for result in run["results"]] == [[{"kind": "external", "status": "accepted"}]]


def test_a_configuration_that_cannot_be_understood_is_one_line_and_nothing_is_checked(tmp_path: Path) -> None:
    put(tmp_path, compose=CLEAN)
    (tmp_path / "netdiag.toml").write_text('\nselct = ["listener-"]', encoding="utf-8")
    done = netdiag("check-listeners", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"netdiag: netdiag.toml:2: unknown key 'selct'; did you mean \"select\"?\n"


def test_standard_input_is_configured_by_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "netdiag.toml").write_text('ignore = ["listener-"]', encoding="utf-8")
    assert netdiag("check-listeners", "-", cwd=tmp_path, stdin=BROKEN.encode()).returncode == 0


def test_standard_input_is_repaired_onto_standard_output(tmp_path: Path) -> None:
    done = netdiag("check-listeners", "--fix", "-", cwd=tmp_path, stdin=BROKEN.encode())
    assert (done.returncode, done.stdout) == (0, CLEAN.encode())
    assert b"repaired 1 finding in <stdin>" in done.stderr
    done = netdiag("check-listeners", "--fix", "-", cwd=tmp_path, stdin=CLEAN.encode())
    assert done.stdout == CLEAN.encode()
    assert os.listdir(tmp_path) == []


def test_fix_writes_checks_again_and_says_so(tmp_path: Path) -> None:
    put(tmp_path, compose=BROKEN)
    done = netdiag("check-listeners", "--fix", cwd=tmp_path)
    assert (done.returncode, b"listener-bound-to-foreign-address" in done.stdout) == (0, False)
    assert b"netdiag: repaired 1 finding in compose.yml\n" in done.stderr
    assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == CLEAN


def test_unsafe_repairs_are_shown_only_when_asked_for(tmp_path: Path) -> None:
    single = CLEAN.replace("EXTERNAL://localhost:9092", "EXTERNAL://kafka:9092")
    put(tmp_path, compose=single)
    assert b"--unsafe-fixes would repair 1 finding more" in netdiag("check-listeners", "--diff", cwd=tmp_path).stderr
    assert netdiag("check-listeners", "--diff", "--unsafe-fixes", cwd=tmp_path).stdout.startswith(b"--- a/compose.yml")
    assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == single


def test_what_a_resolver_says_of_a_name_is_assumed(tmp_path: Path) -> None:
    told = "KAFKA_ZOOKEEPER_CONNECT: 'zk:2181', KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka.mycorp.example:9092'"
    kafka = f"{{image: confluentinc/cp-kafka:7.4.0, ports: ['9092:9092'], environment: {{{told}}}}}"
    put(tmp_path, compose=f"services: {{zk: {{image: 'zookeeper:3.9'}}, kafka: {kafka}}}\n")

    def word(*options: str) -> str:
        said = netdiag("check-listeners", "--format", "json", *options, "compose.yml", cwd=tmp_path)
        cells = {(c["vantage"], c["bootstrap"]): c["predicted"] for c in json.loads(said.stdout)["matrix"]}
        return str(cells["docker host", "kafka.mycorp.example:9092"]["verdict"])

    assert word() == "unknown"
    assert word("--assume-resolves", "kafka.mycorp.example=192.168.8.133", "--docker-host-ip", "192.168.8.133") == "ok"
    assert word("--assume-resolves", "*=") == "bootstrap"
    refused = netdiag("check-listeners", "--assume-resolves", "kafka=here", "compose.yml", cwd=tmp_path)
    assert refused.returncode == 2
    assert b'--assume-resolves takes NAME=IP, not "kafka=here"' in refused.stderr
