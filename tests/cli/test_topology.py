"""`netdiag topology` as users run it, on this machine: only what is true of every machine is expected."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netdiag.app.topology import TopologyReport, TopologyRound, topology_findings
from netdiag.cli.console import Console
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.topology import TopologyFormat, drawn, show_rounds, status_of, without_collector
from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.linux.netns import Netns
from netdiag.render.screen import Screen
from netdiag.render.topology.json import topology_document
from netdiag.topology.diff import differences
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory, NamespaceFacts
from tests.cli.shell import NETDIAG, ROOT, environment, netdiag
from tests.cli.test_main import loaded
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.render.topology.test_dot import parse
from tests.render.topology.topologies import cluster
from tests.topology.five_brokers import five_brokers

# What the rules say of the machine that runs the tests is not known.
DONE = (0, 1)


def document(folder: Path, *words: str) -> dict[str, Any]:
    done = netdiag("topology", "--no-engine", "--format", "json", *words, cwd=folder)
    assert (done.returncode in DONE, done.stderr) == (True, b"")
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


def test_the_tree_ends_with_how_much_was_seen(tmp_path: Path) -> None:
    done = netdiag("topology", "--no-engine", cwd=tmp_path)
    assert (done.returncode in DONE, done.stderr) == (True, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[-2] == "no engine was asked"
    assert " namespace" in lines[-1]
    assert " links, " in lines[-1]


def test_json_holds_the_devices_of_this_namespace(tmp_path: Path) -> None:
    """Of the kernel itself: /sys/class/net lists them, too."""
    value = document(tmp_path)
    own = next(space for space in value["namespaces"] if space["inode"] == value["own_netns"])
    assert {link["ifname"] for link in own["links"]} == set(os.listdir("/sys/class/net")) - {"bonding_masters"}
    assert value["engine"] == "no engine was asked"


@pytest.mark.parametrize(
    ("form", "begin"),
    [("json", '{\n "format": "netdiag-topology"'), ("mermaid", "flowchart LR"), ("html", "<!doctype html>")],
)
def test_a_format_goes_to_a_file_whole(form: str, begin: str, tmp_path: Path) -> None:
    done = netdiag("topology", "--no-engine", "-f", form, "--out", "t", cwd=tmp_path)
    assert (done.returncode in DONE, done.stdout, done.stderr) == (True, b"", b"")
    text = (tmp_path / "t").read_text(encoding="utf-8")
    assert text.lower().startswith(begin.lower())
    if form == "mermaid":
        parse(text)
    assert os.listdir(tmp_path) == ["t"]


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = netdiag("topology", "--no-engine", "--out", "folder/none/t", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"netdiag: folder/none/t: cannot be written: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "unix:///x", "--no-engine"], "--no-engine excludes --host and --context"),
        (["--network", "x", "--no-engine"], "--network, --container and --service need the engine"),
        (["--diff", "x", "--format", "svg"], "--diff has no format svg"),
        (["--watch", "--out", "x"], "--watch excludes --diff, --out and --format"),
        (["--format", "png"], "Invalid value for '--format'"),
    ],
)
def test_words_that_cannot_go_together_are_usage_errors(words: list[str], said: str, tmp_path: Path) -> None:
    done = netdiag("topology", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_an_engine_that_was_named_and_is_not_there_could_not_be_looked_at(tmp_path: Path) -> None:
    done = netdiag("topology", "--host", f"unix://{tmp_path}/none.sock", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.count(b"\n") <= 2


def test_the_engine_of_a_context(tmp_path: Path) -> None:
    """Each command that takes --host takes --context, but not both."""
    done = netdiag("topology", "--context", "gone", cwd=tmp_path, env={"HOME": str(tmp_path), "DOCKER_CONFIG": ""})
    assert (done.returncode, done.stdout) == (3, b"")
    assert b'there is no docker context "gone"' in done.stderr
    both = netdiag("topology", "--context", "gone", "--host", "unix:///nowhere.sock", cwd=tmp_path)
    assert (both.returncode, both.stdout) == (2, b"")
    assert b"--host and --context exclude each other" in both.stderr


def test_without_an_engine_the_kernel_is_shown_all_the_same(tmp_path: Path) -> None:
    done = netdiag("topology", cwd=tmp_path, env={"DOCKER_HOST": "", "DOCKER_CONTEXT": "", "HOME": str(tmp_path)})
    assert done.returncode in DONE
    assert b" links, " in done.stdout


def test_what_changed_since_a_document(tmp_path: Path) -> None:
    """A device that the document has and this machine does not has gone; one that it lacks has appeared."""
    value = document(tmp_path)
    own = next(space for space in value["namespaces"] if space["inode"] == value["own_netns"])
    lo = next(link for link in own["links"] if link["ifname"] == "lo")
    own["links"] = [link for link in own["links"] if link is not lo] + [{**lo, "ifindex": 9999, "ifname": "gone0"}]
    (tmp_path / "before.json").write_text(json.dumps(value), encoding="utf-8")
    done = netdiag("topology", "--no-engine", "--diff", "before.json", "-f", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    changes = {(change["turn"], change["kind"], change["name"]) for change in json.loads(done.stdout)["changes"]}
    place = next(place["name"] for place in value["places"] if place["netns"] == value["own_netns"])
    assert {("appeared", "link", f"{place} lo"), ("gone", "link", f"{place} gone0")} <= changes


def test_a_document_of_another_kind_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text("{}", encoding="utf-8")
    done = netdiag("topology", "--no-engine", "--diff", "before.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"before.json: is not a document of netdiag topology" in done.stderr


def test_an_engine_on_another_machine_is_told_with_the_way_there(tmp_path: Path) -> None:
    """Process 1 is there, as everywhere, and is not the container's."""
    document = BROKER | {"State": BROKER["State"] | {"Pid": 1}}
    identifier = BROKER["Id"]
    listed = {"/containers/json": [{"Id": identifier}], f"/containers/{identifier}/json": document}
    with fake_engine(tmp_path / "s", {"/version": VERSION, **listed, "/networks": []}) as url:
        done = netdiag("topology", "--host", url, cwd=tmp_path)
    assert f"topology --host {url} --via container\n" in done.stderr.decode()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be somebody else")
def test_whoever_has_no_rights_sees_a_part_that_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *NETDIAG, "topology"],
        cwd="/",
        env=environment({"HOME": "/"}),
        capture_output=True,
        check=False,
        timeout=60,
    )
    text = done.stdout.decode()
    assert (done.returncode in DONE, "Traceback" in done.stderr.decode()) == (True, False)
    assert text.splitlines()[-1].startswith("partial, because privileges are missing: ")
    assert "netdiag: to see the rest, run: sudo " in done.stderr.decode()
    assert " links, " in text


def test_no_library_is_loaded_that_an_inventory_does_not_need(tmp_path: Path) -> None:
    run = "import sys, netdiag.cli.main as m; sys.argv[1:] = ['topology', '--no-engine']"
    code = f"{run}\ntry: m.run()\nexcept SystemExit: pass"
    modules = loaded("-c", code, cwd=tmp_path)
    assert "netdiag.rules.topology" in modules
    heavy = ("pyroute2", "docker.", "ruamel", "requests", "netdiag.deployment", "netdiag.rules.declared")
    assert not {name for name in modules if name.startswith(heavy)}


@pytest.mark.parametrize("form", TopologyFormat)
def test_every_format_is_drawn(form: TopologyFormat) -> None:
    seen = five_brokers()
    text = drawn(form, seen, topology_findings(seen), Screen())
    assert "shop" in text
    assert text.endswith("\n")


def test_garbage_is_looked_for_again_afterwards() -> None:
    with without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_status() -> None:
    bad = (Finding(rule="r", severity=Severity.WARNING, message="m", location=TopologyLocation(place="host")),)
    nothing = Topology(inventory=Inventory(namespaces={}, own=0), places=())
    bare = Inventory(namespaces={7: NamespaceFacts(netns=Netns(inode=7))}, own=7)

    def status(topology: Topology, findings: tuple[Finding, ...], fail_on: Severity) -> ExitStatus:
        return status_of(TopologyReport(topology=topology, findings=findings), fail_on)

    assert status(cluster(), bad, Severity.ERROR) is ExitStatus.CLEAN
    assert status(cluster(), bad, Severity.WARNING) is ExitStatus.FINDINGS
    assert status(nothing, (), Severity.ERROR) is ExitStatus.NOTHING_TO_CHECK
    assert status(Topology(inventory=bare, places=()), (), Severity.ERROR) is ExitStatus.NOTHING_TO_CHECK


def looks(*topologies: Topology) -> Iterator[TopologyRound]:
    """The rounds of a watch that sees these."""
    before = None
    for topology in topologies:
        report = TopologyReport(topology=topology, findings=())
        now = topology_document(topology, ())
        changes = () if before is None else differences(before, now)
        if before is None or changes:
            yield TopologyRound(report=report, changes=changes, first=before is None)
        before = now


def test_on_a_terminal_the_latest_changes_stay_below_the_tree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("netdiag.cli.topology.is_terminal", lambda: True)
    show_rounds(looks(cluster(1), cluster(2), cluster(2), cluster(1)), Console())
    shown = capsys.readouterr().out.split("\x1b[2J\x1b[3J\x1b[H")
    assert len(shown) == 4, "nothing is drawn before the first round, nor where nothing changed"
    below = shown[3].rpartition("(no right to look into it)")[2].splitlines()
    assert sum("change" in line for line in below) == 2
    assert len([line for line in below if line.startswith("  and ")]) == 2
    assert len(below) < 22


def test_in_a_pipe_the_tree_comes_once_and_then_the_changes(capsys: pytest.CaptureFixture[str]) -> None:
    show_rounds(looks(cluster(1), cluster(2)), Console())
    shown = capsys.readouterr()
    assert shown.out.startswith("Who reaches which broker")
    assert "+ container broker-2" in shown.out
    assert shown.err == "netdiag: watching the network of this machine; press Ctrl-C to stop\n"


NAME = f"nd-watch-{os.getpid()}"
_WATCH = """
import typer
from netdiag.app.topology import TopologyOptions, watch_topology
from netdiag.cli.command import finish
from netdiag.cli.console import Console
from netdiag.cli.topology import show_rounds
console = Console(verbose=True)
rounds = watch_topology(TopologyOptions(engine=False), console, every=0.2)
try:
    finish(console, lambda: show_rounds(rounds, console))
except typer.Exit as end:
    raise SystemExit(end.exit_code)
"""


class Watched:
    """A running watch; what it says, as it comes."""

    def __init__(self, folder: Path) -> None:
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", _WATCH],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def until(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.said:
            assert time.monotonic() < end, self.said
            assert self.process.poll() is None, self.said
            time.sleep(0.02)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path)
    try:
        yield watched
    finally:
        watched.process.kill()
        watched.process.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a namespace")
def test_what_appears_and_goes_is_told_with_the_time_until_it_is_interrupted(watched: Watched) -> None:
    watched.until("netdiag: watching the network of this machine")
    try:
        subprocess.run(["ip", "netns", "add", NAME], check=True)
        watched.until(f"+ namespace {NAME}")
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], check=False)
    watched.until(f"- namespace {NAME}")
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(timeout=30) == 130
    assert watched.said.count(" packet filter rules") == 1, "in a pipe the tree is drawn once"


STACK = ROOT / "compose/scenarios/S02-inter-broker-loopback/kraft.broken.yml"
PICTURE = ROOT / "docs/check-listeners.svg"


def test_the_picture_is_what_is_printed(tmp_path: Path) -> None:
    shutil.copy(STACK, tmp_path / "compose.yml")
    printed = netdiag("check-listeners", "--color", "always", "compose.yml", cwd=tmp_path, env={"PYTHONUTF8": "1"})
    drawing: list[str | Path] = [
        sys.executable,
        ROOT / "tools/terminal_picture.py",
        "netdiag check-listeners compose.yml",
    ]
    drawn = subprocess.run(drawing, input=printed.stdout, capture_output=True, check=True).stdout
    if os.environ.get("GOLDEN") == "write":
        PICTURE.write_bytes(drawn)
    assert PICTURE.read_bytes() == drawn
