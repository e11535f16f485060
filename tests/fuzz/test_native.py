"""What is kept of fuzzing, and what counts as a finding; the targets themselves are tried by the stage `native`."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.fuzz import native
from tests.fuzz.native import CannotBuild, Fuzzed, Work, fuzz, main, version

# A target of three kinds of input: some end it, some take long, the rest are done at once.
PROGRAM = """\
#!/bin/sh
for input; do :; done
if [ -f "$input" ]; then
    case $(cat "$input") in
        harm) echo "thread panicked at src/tcp.rs:7:1:"; exit 77 ;;
        slow) i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 0 ;;
        *) exit 0 ;;
    esac
fi
trap 'echo "stat::number_of_executed_units: 7"; exit 72' INT
echo "#3 NEW cov: 1"
case "$*" in *-max_total_time=9*) while :; do sleep 0.01; done ;; esac
echo "stat::number_of_executed_units: 5"
"""


@pytest.fixture
def target(tmp_path: Path) -> Fuzzed:
    """One that runs the program above."""
    program = tmp_path / "programs" / "tcp"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return Fuzzed("tcp", program.parent, tmp_path / "home")


def test_work_adds_up_and_tells_that_with_other_sources_apart() -> None:
    first = Work(seconds=10, executions=100, here=10, sources="a")
    assert first + Work(seconds=5, executions=7, here=5, sources="a") == Work(
        seconds=15, executions=107, here=15, sources="a"
    )
    assert first + Work(seconds=5, executions=7, here=5, sources="b") == Work(
        seconds=15, executions=107, here=5, sources="b"
    )


def test_work_is_kept_by_version(target: Fuzzed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target.run(1)
    target.run(1)
    again = Fuzzed("tcp", target.program.parent, tmp_path / "home")
    assert again.work(version()).executions == 10
    assert 0 < again.work(version()).here == again.work(version()).seconds
    monkeypatch.setattr(native, "version", lambda: "99")
    assert again.work("99") == Work()
    again.run(1)
    assert (again.work("99").executions, again.work(version()).executions) == (5, 10)


def test_a_finding_is_one_as_long_as_it_does_harm(target: Fuzzed, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("crash-1", "harm"), ("slow-unit-2", "slow"), ("timeout-3", "mended")):
        (target.findings / name).write_text(content)
    monkeypatch.setattr(native, "SECONDS", 0.1)
    panic, slow = target.complaints()
    assert panic.startswith("tcp: thread panicked at src/tcp.rs:7:1:: ")
    assert " s of CPU: " in slow
    assert [path.read_text() for path in target.corpus.iterdir()] == ["mended"]
    monkeypatch.setattr(native, "SECONDS", 100.0)
    assert len(list(target.complaints())) == 1


def test_targets_take_turns_until_each_has_its_hours(target: Fuzzed) -> None:
    assert fuzz([target], minutes=None, hours=0) is False
    assert target.work(version()).executions == 0
    assert fuzz([target], minutes=None, hours=1e-9) is False
    assert target.work(version()).executions == 5
    enough = target.work(version()).seconds * 1.5 / 3600
    assert fuzz([target], minutes=None, hours=enough) is False
    assert target.work(version()).executions >= 10


def test_a_target_with_a_finding_has_no_other_turn(target: Fuzzed) -> None:
    (target.findings / "crash-1").write_text("harm")
    assert fuzz([target], minutes=1, hours=0) is False
    assert target.work(version()).executions == 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_broken_off_is_kept(
    number: signal.Signals, target: Fuzzed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        time.sleep(0.5)
        os.kill(os.getpid(), number)

    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setenv("NETDIAG_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(native, "HOURS", tmp_path / "hours")
    monkeypatch.setattr(native, "build", lambda quickly: target.program.parent)
    threading.Thread(target=stop).start()
    assert main(["--target", "tcp", "--minutes", "0.15"]) == 130
    for each, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
        signal.signal(each, handler)
    again = Fuzzed("tcp", target.program.parent, tmp_path / "fuzz", hours=tmp_path / "hours")
    assert again.work(version()).executions == 7
    assert again.work(version()).seconds > 0


def test_what_cannot_be_built_is_noted_by_ci_and_refused_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NETDIAG_NOT_RUN", str(tmp_path / "notes"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotBuild, match="there is no cargo"):
        native.build()
    assert main(["--fresh"]) == 0
    assert (tmp_path / "notes").read_text() == "fuzzing of native/: there is no cargo\n"
    assert main([]) == 3
    assert "there is no cargo" in capsys.readouterr().out


def test_targets_that_do_not_compile_fail_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*, quickly: bool) -> Path:
        subprocess.run([sys.executable, "-c", "raise SystemExit(101)"], check=True)
        return Path()

    monkeypatch.setattr(native, "build", build)
    assert main(["--fresh"]) == 1


def test_a_finding_and_lacking_hours_fail_the_run(
    target: Fuzzed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NETDIAG_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(native, "HOURS", tmp_path / "hours")
    monkeypatch.delenv("NETDIAG_FIGURES", raising=False)
    monkeypatch.setattr(native, "build", lambda quickly: target.program.parent)
    assert main(["--target", "tcp", "--hours", "1e-9"]) == 0
    assert (
        "tcp: 0.00 h of core time (0.00 h with these sources), 5 executions, 0 inputs kept" in capsys.readouterr().out
    )
    (tmp_path / "fuzz" / "tcp" / "findings" / "crash-1").write_text("harm")
    assert main(["--target", "tcp", "--minutes", "0"]) == 1
    assert "findings: 1" in capsys.readouterr().out
    assert main(["--target", "tcp", "--hours", "1e-9", "--fresh"]) == 0


def test_every_target_has_a_program_and_a_corpus() -> None:
    programs = {path.stem for path in (native.NATIVE / "fuzz" / "targets").iterdir()}
    assert programs == set(native.TARGETS) == {path.name for path in native.CORPUS.iterdir()}
    sizes = [path.stat().st_size for path in native.CORPUS.rglob("*") if path.is_file()]
    assert sum(sizes) <= len(native.TARGETS) * native.MOST_BYTES
