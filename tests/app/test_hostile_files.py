"""Files that nobody would write: one clear line, in bounded time, and nothing of what is no file."""

import os
import time
from pathlib import Path

import pytest

from tests.app.checks import report_of

ANY = b"services: {a: {image: nginx}}\n"
TENS = "".join(f"x-{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 9))

REFUSED = {
    "ten megabytes": (b"#" * 10_000_000 + ANY, "too large"),
    "seventeen megabytes": (b"#" * 17_000_000, "larger than 16 MiB"),
    "many services": (b"services:\n" + b"".join(b"  s%d: {image: x}\n" % n for n in range(60_000)), "more than 100000"),
    "alias bomb": (f"x-0: &x0 [0]\n{TENS}".encode() + ANY, "aliases expand to an excessive size"),
    "deep lists": (b"a: " + b"[" * 100_000, "nested deeper than 100 levels"),
    "deep mappings": (b"".join(b" " * n + b"a:\n" for n in range(1500)), "nested deeper than 100 levels"),
    "a byte of zero": (b"services: {a: {image: 'x\0'}}\n", "0x00 is not allowed"),
    "not UTF-8": (b"services: {a: {image: \xff}}\n", "not UTF-8: byte 0xff"),
    "UTF-16": ("services: {}".encode("utf-16"), "not UTF-8"),
    "an alias of itself": (b"a: &a [*a]\n", "contains itself"),
}
FOUND = {
    "extends itself": b"services: {a: {image: x, extends: {file: a.yml, service: a}}}\n",
    "includes itself": b"include: [a.yml]\nservices: {a: {image: x}}\n",
    "includes what is no file": b"include: [/dev/zero, pipe, folder, loop]\nservices: {a: {image: x}}\n",
    "env files that are none": b"services: {a: {image: x, env_file: [/dev/zero, pipe, folder, loop]}}\n",
    "a name too long": b"include: [%s]\nservices: {a: {image: x}}\n" % (b"n" * 5000),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("title", REFUSED)
def test_what_cannot_be_read_is_told_in_one_line(title: str) -> None:
    data, reason = REFUSED[title]
    Path("a.yml").write_bytes(data)
    begin = time.process_time()
    (item,) = report_of("a.yml").inputs
    assert time.process_time() - begin < 60
    assert item.error is not None
    assert reason in item.error.message
    assert "\n" not in item.error.message


@pytest.mark.parametrize("title", FOUND)
def test_circles_and_files_that_are_none_are_findings(title: str) -> None:
    Path("a.yml").write_bytes(FOUND[title])
    begin = time.process_time()
    report = report_of("a.yml")
    assert time.process_time() - begin < 10
    assert report.inputs[0].error is None
    assert {finding.rule for finding in report.findings} <= {"compose-extends", "compose-include", "compose-env-file"}
    assert report.findings
    assert all("\n" not in finding.message for finding in report.findings)


@pytest.mark.parametrize(
    ("name", "reason"), [("folder", "no compose file"), ("loop", "too many levels of symbolic links")]
)
def test_arguments_that_are_no_files(name: str, reason: str) -> None:
    (item,) = report_of(name).inputs
    assert item.error is not None
    assert reason in item.error.message
