"""Selection and ignore comments through the process: statuses, formats, completion."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli.shell import BROKEN, CLEAN, ROOT, netdiag
from tests.render.sarif_structure import run_of

SCHEMA = json.loads((ROOT / "netdiag/render/schema/check-listeners.v1.json").read_text(encoding="utf-8"))
FOREIGN = "listener-bound-to-foreign-address"
# What is said of the correct file, too.
QUIET = ("--ignore", "advertised-loopback-for-remote-clients")
COMMENTED = BROKEN.replace("# why", f"# netdiag: ignore[{FOREIGN}] set by the proxy")


def run(folder: Path, *words: str, text: str = BROKEN) -> tuple[int, dict[str, list[dict[str, object]]]]:
    (folder / "compose.yml").write_text(text, encoding="utf-8")
    done = netdiag("check-listeners", "--format", "json", *words, cwd=folder)
    value = json.loads(done.stdout)
    jsonschema.validate(value, SCHEMA)
    return done.returncode, value


@pytest.mark.parametrize(
    ("words", "status", "rules"),
    [
        (["--select", FOREIGN], 1, [FOREIGN]),
        (["--select", "listener-"], 1, [FOREIGN]),
        (["--select", "kraft-,zookeeper-"], 0, []),
        (["--select", "kraft-", "--select", FOREIGN], 1, [FOREIGN]),
        (["--ignore", FOREIGN], 0, []),
        (["--ignore", "kraft-, listener-"], 0, []),
        (["--exit-zero"], 0, [FOREIGN]),
    ],
)
def test_selection(tmp_path: Path, words: list[str], status: int, rules: list[str]) -> None:
    code, value = run(tmp_path, *words)
    assert (code, [finding["rule"] for finding in value["findings"]]) == (status, rules)


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_rule_is_wrong_usage(tmp_path: Path, option: str) -> None:
    done = netdiag("check-listeners", option, "kraft-rol-invalid", cwd=tmp_path)
    assert done.returncode == 2
    assert b"no rule is called 'kraft-rol-invalid'; did you mean 'kraft-role-invalid'?" in done.stderr


def test_exit_zero_hides_findings_only(tmp_path: Path) -> None:
    assert netdiag("check-listeners", "--exit-zero", "gone.yml", cwd=tmp_path).returncode == 3
    assert netdiag("check-listeners", "--exit-zero", cwd=tmp_path).returncode == 4


def test_what_is_not_selected_still_keeps_a_broker_from_starting(tmp_path: Path) -> None:
    """The matrix tells what happens, whatever one wants to hear of."""
    _, all_of_it = run(tmp_path)
    _, nothing = run(tmp_path, "--ignore", FOREIGN)
    assert all_of_it["matrix"] == nothing["matrix"]


def test_a_comment_suppresses(tmp_path: Path) -> None:
    code, value = run(tmp_path, text=COMMENTED)
    assert (code, value["findings"]) == (0, [])
    (item,) = value["suppressed"]
    assert (item["by"], item["reason"]) == ("comment", "set by the proxy")
    text = netdiag("check-listeners", cwd=tmp_path).stdout
    assert text.endswith(b"no findings in 1 file (1 broker); 1 suppressed\n")
    run_ = run_of(netdiag("check-listeners", "--format", "sarif", cwd=tmp_path).stdout.decode())
    (result,) = run_["results"]
    assert result["suppressions"] == [{"kind": "inSource", "status": "accepted", "justification": "set by the proxy"}]


def test_what_is_suppressed_is_not_repaired(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(COMMENTED, encoding="utf-8")
    assert netdiag("check-listeners", "--fix", cwd=tmp_path).returncode == 0
    assert (tmp_path / "compose.yml").read_text(encoding="utf-8") == COMMENTED


def test_comments_can_go_unheard(tmp_path: Path) -> None:
    code, value = run(tmp_path, "--no-ignores", text=COMMENTED)
    assert (code, [f["rule"] for f in value["findings"]], value["suppressed"]) == (1, [FOREIGN], [])


def test_an_unused_comment_is_a_warning(tmp_path: Path) -> None:
    unused = COMMENTED.replace("1.2.3.4", "0.0.0.0")
    code, value = run(tmp_path, *QUIET, text=unused)
    assert (code, [f["rule"] for f in value["findings"]]) == (0, ["unused-ignore"])
    assert run(tmp_path, *QUIET, "--fail-on", "warning", text=unused)[0] == 1
    assert run(tmp_path, *QUIET, "--ignore", "unused-ignore", text=unused)[1]["findings"] == []
    assert run(tmp_path, "--select", "kraft-,unused-ignore", text=unused)[1]["findings"] == []


def test_a_comment_about_what_only_runs_is_not_unused(tmp_path: Path) -> None:
    text = CLEAN.replace("# why", "# netdiag: ignore[live-config-crash]")
    assert run(tmp_path, *QUIET, text=text)[1]["findings"] == []


def test_a_comment_in_a_file_that_two_inputs_share_is_told_once(tmp_path: Path) -> None:
    both = "include: [shared.yml]\n"
    for name in ("one", "two"):
        (tmp_path / f"{name}.yml").write_text(both, encoding="utf-8")
    (tmp_path / "shared.yml").write_text(COMMENTED.replace("1.2.3.4", "0.0.0.0"), encoding="utf-8")
    done = netdiag("check-listeners", *QUIET, "--format", "json", "one.yml", "two.yml", cwd=tmp_path)
    assert [f["rule"] for f in json.loads(done.stdout)["findings"]] == ["unused-ignore"]


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
