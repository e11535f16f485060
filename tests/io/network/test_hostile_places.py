"""Looking from places whose files are adversarial: it ends, in little memory, and is not led out of the tree."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import ROOT, environment
from tests.figures import Report
from tests.io.namespaces import needs_root
from tests.io.network.hostile_places import ATTACKS, SECRET, standing

pytestmark = pytest.mark.bar("live-hostile")

UNREADABLE = {
    "a pipe": "not a regular file",
    "/dev/zero": "not a regular file",
    "a folder": "not a regular file",
    "100 MB": "larger than 64 KiB",
    "a link in a circle": "symbolic links",
}
_LOOK = """
import json, re, sys, time
from netdiag.deployment.model.contact import Address
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.io.network.observation import observe
from netdiag.linux.netns import ProcessNamespace

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024

ADDRESSES = [Address(host=host, port=9092) for host in ("kafka.test", "localhost", "kafka", "a.b.c.d", "x" * 300)]
places = [
    LiveVantage(vantage=Vantage(kind=VantageKind.LAN, label=title), entrance=ProcessNamespace(pid=pid))
    for title, pid in json.load(sys.stdin).items()
]
for group in [[one] for one in places] if sys.argv[1] == "apart" else [places]:
    begin, before = time.monotonic(), peak()
    seen = observe(group, ADDRESSES, timeout=1)
    assert not seen.skipped
    for one in group:
        label = one.vantage.label
        told = {
            "title": label,
            "seconds": time.monotonic() - begin,
            "grown": peak() - before,
            "cells": [[str(cell.observed), repr(cell.observed)] for cell in seen.cells if cell.vantage == label],
            "notes": [note for note in seen.notes if note.startswith(f"{label}: cannot read /etc")],
        }
        print(json.dumps(told), flush=True)
print(json.dumps({"title": "peak", "grown": peak()}))
"""


def test_files_of_strangers_neither_hang_nor_mislead(tmp_path: Path, figure: Report) -> None:
    told, peak = looked(tmp_path, "together")
    figure("attacks on resolv.conf and hosts, all in one look", len(told))
    figure("that look, --timeout 1", max(seen["seconds"] for seen in told.values()), "s")
    figure("its peak memory", peak, "MiB")


@pytest.mark.bar("live-hostile", long=True)
def test_each_of_them_alone(tmp_path: Path, figure: Report) -> None:
    told, peak = looked(tmp_path, "apart")
    for title, seen in told.items():
        figure(f"{title} (--timeout 1)", f"{seen['seconds']:.2f} s, {seen['grown']} MiB more")
    figure("peak memory", peak, "MiB")


def looked(tmp_path: Path, how: str) -> tuple[dict[str, Any], int]:
    """What is seen from the place of each attack, and the peak memory in MiB; what must hold of all is asserted."""
    needs_root()
    with ExitStack() as stack:
        pids = {title: stack.enter_context(standing(_made(tmp_path, n))) for n, title in enumerate(ATTACKS)}
        done = subprocess.run(
            [sys.executable, "-c", _LOOK, how],
            input=json.dumps(pids),
            env=environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
    told = {line["title"]: line for line in map(json.loads, done.stdout.splitlines())}
    peak = told.pop("peak")["grown"]
    assert list(told) == list(ATTACKS)
    for title, seen in told.items():
        assert len(seen["cells"]) == 5, title
        assert SECRET not in json.dumps(seen)
        assert {word.split(":")[0] for word, _ in seen["cells"]} <= {"bootstrap", "unknown"}, title
    for name in ("resolv.conf", "hosts"):
        for attack, because in UNREADABLE.items():
            (note,) = told[f"{attack}: {name}"]["notes"]
            assert because in note
    assert peak < 100
    return told, peak


def _made(parent: Path, number: int) -> Path:
    """A root directory with the files of one attack; the tree above it holds what must not be read."""
    root = parent / f"root-{number}"
    (root / "etc").mkdir(parents=True)
    outside = parent / "etc"
    outside.mkdir(exist_ok=True)
    for name in ("hosts", "resolv.conf"):
        (outside / name).write_text(f"127.0.0.1 {SECRET} kafka.test\n")
    for make in list(ATTACKS.values())[number]:
        make(root / "etc")
    return root
