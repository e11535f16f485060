"""`netdiag lab` as a person uses it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.topology.tutorial_lab import STEPS, namespace_name
from tests.cli.shell import netdiag
from tests.io.lab.test_state import all_names, cleared, fresh_name, ip, links, names_of
from tests.io.namespaces import needs_root


@pytest.fixture
def name() -> Iterator[str]:
    needs_root()
    lab = fresh_name()
    with cleared(lab):
        yield lab
    Path(f"/run/netdiag/lab-{lab}.json").unlink(missing_ok=True)


def run(*words: str, cwd: Path) -> tuple[int, list[str], str]:
    done = netdiag("lab", *words, cwd=cwd)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()


def test_up_explains_and_down_leaves_nothing(name: str, tmp_path: Path) -> None:
    before = links()
    status, told, error = run("up", "--name", name, cwd=tmp_path)
    assert (status, error) == (0, "")
    titles = [line for line in told if line[:1].isdigit()]
    assert [title.partition(". ")[2].partition(", skipped")[0] for title in titles] == [s.title for s in STEPS]
    assert f"   $ ip netns add {namespace_name(name, 'host')}" in told
    assert "   one → two (10.123.0.12), over the bridge: connected" in told
    assert f"   $ netdiag lab down --name {name}" in "\n".join(told)
    assert names_of(name) == all_names(name)
    status, told, _ = run("up", "--name", name, cwd=tmp_path)
    assert (status, told) == (0, [f"the lab already exists; netdiag lab down --name {name} removes it"])
    status, told, _ = run("status", "--name", name, cwd=tmp_path)
    assert (status, told[0].split(":")[0]) == (0, "the lab is there")
    assert run("down", "--name", name, cwd=tmp_path)[:2] == (0, ["the lab is removed"])
    assert run("down", "--name", name, cwd=tmp_path)[:2] == (0, ["there is no lab"])
    assert names_of(name) == set()
    assert links() == before


def test_what_others_did_meanwhile_is_said(name: str, tmp_path: Path) -> None:
    run("up", "--name", name, cwd=tmp_path)
    one = namespace_name(name, "one")
    ip("netns", "delete", one)
    ip("netns", "add", one)
    status, told, _ = run("status", "--name", name, cwd=tmp_path)
    assert (status, told[-1]) == (1, f"removed or replaced by others: {one}")
    status, told, _ = run("down", "--name", name, cwd=tmp_path)
    assert status == 1
    assert told[-1] == f"left: {one}: it is another one than the lab made"
    ip("netns", "delete", one)
    assert run("down", "--name", name, cwd=tmp_path)[:2] == (0, ["the lab is removed"])


def test_a_name_in_use_is_told_and_what_was_begun_is_removed(name: str, tmp_path: Path) -> None:
    two = namespace_name(name, "two")
    ip("netns", "add", two)
    status, _, error = run("up", "--name", name, cwd=tmp_path)
    assert status == 3
    assert f"{two}: a namespace of that name is there already" in error
    assert names_of(name) == {two}
    assert run("status", "--name", name, cwd=tmp_path)[1][0].startswith("there is no lab")


def test_a_lab_that_was_begun_is_not_built_upon(name: str, tmp_path: Path) -> None:
    run("up", "--name", name, cwd=tmp_path)
    state = Path(f"/run/netdiag/lab-{name}.json")
    state.write_text(state.read_text().replace('"finished": true', '"finished": false'))
    status, _, error = run("up", "--name", name, cwd=tmp_path)
    assert status == 3
    assert "started here but not finished" in error
    assert run("status", "--name", name, cwd=tmp_path)[0] == 1
    assert run("down", "--name", name, cwd=tmp_path)[0] == 0


def test_without_root_it_is_one_clear_line(tmp_path: Path) -> None:
    needs_root()
    # Loaded before the rights are given up: not everybody may read where the tests run.
    loaded = "import os, netdiag.cli.lab; from netdiag.cli.main import run"
    script = f"{loaded}; os.setgid(65534); os.setuid(65534); run()"
    done = subprocess.run(
        [sys.executable, "-c", script, "lab", "up"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "only root may create" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("up", "--name", "../x"), ("up", "--name", ""), ("sideways",), ()])
def test_what_means_nothing_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    assert run(*words, cwd=tmp_path)[0] == 2
