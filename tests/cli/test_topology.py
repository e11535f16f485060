"""`netdiag topology` as users run it, on this machine: only what is true of every machine is expected."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import NETDIAG, environment, netdiag
from tests.cli.test_main import loaded
from tests.engine.test_container import BROKER
from tests.io.fake_engine import VERSION, fake_engine
from tests.render.topology.mermaid_grammar import parse

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
        (["--host", "unix:///x", "--no-engine"], "--host names an engine, and --no-engine asks none"),
        (["--network", "x", "--no-engine"], "--network, --container and --service are words of an engine"),
        (["--diff", "x", "--format", "svg"], "--diff has no format svg"),
        (["--watch", "--out", "x"], "--watch draws on the terminal"),
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
    assert b"before.json: is no document of netdiag topology" in done.stderr


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
    assert text.splitlines()[-1].startswith("partial, for want of rights: ")
    assert "netdiag: to see the rest, run: sudo " in done.stderr.decode()
    assert " links, " in text


def test_no_library_is_loaded_that_an_inventory_does_not_need(tmp_path: Path) -> None:
    run = "import sys, netdiag.cli.main as m; sys.argv[1:] = ['topology', '--no-engine']"
    code = f"{run}\ntry: m.run()\nexcept SystemExit: pass"
    modules = loaded("-c", code, cwd=tmp_path)
    assert "netdiag.rules.topology" in modules
    heavy = ("pyroute2", "docker.", "ruamel", "requests", "netdiag.deployment", "netdiag.rules.declared")
    assert not {name for name in modules if name.startswith(heavy)}
