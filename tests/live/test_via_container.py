"""`--via container`, from where nothing but the engine's socket is to be had: the same matrix, the same topology."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.cli.via import IMAGE
from netdiag.engine.helper_container import LABEL
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.netdiag_image import netdiag_image
from tests.lab.stack import Stack
from tests.lab.vantages import same_network
from tests.live.runs import traces
from tests.live.stacks import SCENARIOS
from tests.live.via_container import cells, document, leaves, of_engine, on_the_host, sealed

pytestmark = [pytest.mark.bar("via-container"), pytest.mark.alone]

FILE = SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml"


@pytest.fixture(scope="module")
def stack(lab: Lab) -> Iterator[Stack]:
    with netdiag_image(lab.engine, IMAGE), lab.up(FILE) as up:
        same_network(up)
        yield up


def asked(stack: Stack) -> list[str]:
    words = ["check-listeners", "--live", "--all-vantages", *map(str, stack.files), "-p", stack.project]
    return [*words, "--host", stack.engine.docker_host, "--format", "json"]


def kept(stack: Stack) -> dict[str, object]:
    """What a look could leave; a broker writes into its own files as it likes."""
    return {name: found for name, found in traces(stack).items() if not name.endswith(": files")}


def test_the_same_matrix_cell_for_cell(stack: Stack, figure: Report) -> None:
    before = kept(stack)
    here = document(on_the_host(stack, *asked(stack)))
    alone = document(sealed(*asked(stack)))
    there = document(sealed(*asked(stack), "--via", "container"))
    assert len(here["matrix"]) >= 15
    assert alone["skipped"], "without the helper nothing was out of reach"
    assert not there["skipped"]
    assert cells(there) == cells(here)
    assert there["inputs"] == here["inputs"]
    assert there["findings"] == here["findings"]
    figure("cells by a helper container, the same as on the host", len(here["matrix"]))
    assert kept(stack) == before


def test_the_same_topology(stack: Stack, figure: Report) -> None:
    words = ["topology", "--host", stack.engine.docker_host, "--format", "json"]
    one = dict(leaves(of_engine(document(on_the_host(stack, *words)))))
    there = dict(leaves(of_engine(document(sealed(*words, "--via", "container")))))
    other = dict(leaves(of_engine(document(on_the_host(stack, *words)))))
    # What two looks from the host do not agree on are clocks and counters.
    steady = {path: value for path, value in one.items() if other.get(path) == value}
    differing = {path: (value, there.get(path)) for path, value in steady.items() if there.get(path) != value}
    assert not differing
    assert len(steady) > 0.95 * len(one)
    figure("facts of a topology by a helper container, the same as on the host", len(steady))


def test_files_come_back(stack: Stack, tmp_path: Path) -> None:
    target = tmp_path / "topology.svg"
    words = [
        "topology",
        "--host",
        stack.engine.docker_host,
        "--format",
        "svg",
        "--out",
        str(target),
        "--via",
        "container",
    ]
    assert sealed(*words).returncode in (0, 1)
    assert b"<svg " in target.read_bytes()[:200]
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_without_the_image_one_line_says_how_to_build_it(stack: Stack) -> None:
    done = sealed(*asked(stack), "--via", "container", "--image", "netdiag:none")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"the engine has no image 'netdiag:none'" in done.stderr
    assert b"docker build --tag netdiag:none ." in done.stderr
    assert not stack.engine.docker("ps", "-aq", "--filter", f"label={LABEL}")
