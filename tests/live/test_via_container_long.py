"""`--via container` in many scenarios, on every engine of the lab, and however it ends."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.cli.via import IMAGE
from netdiag.engine.helper_container import LABEL
from tests.cli.shell import ROOT, environment
from tests.figures import Report
from tests.lab.engine import Engine
from tests.lab.lab import Lab, start_lab
from tests.lab.netdiag_image import netdiag_image
from tests.lab.releases import RELEASES
from tests.lab.stack import Stack, Wait
from tests.lab.vantages import default_bridge, other_network, same_network
from tests.live.stacks import SCENARIOS
from tests.live.via_container import NETDIAG, SEALED, cells, document, leaves, of_engine, on_the_host, sealed

pytestmark = [pytest.mark.bar("via-container", long=True), pytest.mark.alone]

STACKS = (
    "S01-reference/kraft.yml",
    "S01-reference/zookeeper.yml",
    "S02-inter-broker-loopback/kraft.broken.yml",
    "S08-single-listener-localhost/kraft.broken.yml",
    "S13-internal-network/kraft.broken.yml",
)
_SIMPLE = SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml"
_LIMIT = 120.0


@pytest.fixture(scope="module")
def helped(lab: Lab) -> Iterator[Lab]:
    with netdiag_image(lab.engine, IMAGE):
        yield lab


def compared(stack: Stack) -> tuple[int, int]:
    """How many cells and facts are the same; an error where one is not."""
    words = ["check-listeners", "--live", *map(str, stack.files), "-p", stack.project, "--format", "json"]
    words += ["--host", stack.engine.docker_host, "--netns", stack.engine.record.lan_netns]
    here = cells(document(on_the_host(stack, *words)))
    found = document(sealed(*words, "--via", "container"))
    again = cells(document(on_the_host(stack, *words)))
    there = cells(found)
    assert not found["skipped"]
    # Brokers that do not work start and end as they like: two looks from the host must agree, too.
    known = {place: cell for place, cell in here.items() if again.get(place) == cell}
    assert not {place: (cell, there.get(place)) for place, cell in known.items() if there.get(place) != cell}
    assert there.keys() == here.keys()
    assert len(known) >= 0.9 * len(here)
    words = ["topology", "--host", stack.engine.docker_host, "--format", "json"]
    one = dict(leaves(of_engine(document(on_the_host(stack, *words)))))
    via = dict(leaves(of_engine(document(sealed(*words, "--via", "container")))))
    other = dict(leaves(of_engine(document(on_the_host(stack, *words)))))
    steady = {path: value for path, value in one.items() if other.get(path) == value}
    assert not {path: (value, via.get(path)) for path, value in steady.items() if via.get(path) != value}
    return len(known), len(steady)


@pytest.mark.parametrize("name", STACKS)
def test_every_scenario(helped: Lab, name: str, figure: Report) -> None:
    wait: Wait = "settled" if "broken" in name else "ready"
    with helped.up(SCENARIOS / name, wait=wait) as stack:
        same_network(stack)
        other_network(stack)
        default_bridge(stack)
        same, facts = compared(stack)
    figure("cells by a helper container, the same as on the host", same)
    figure("facts of a topology by a helper container, the same as on the host", facts)


@pytest.mark.parametrize("release", RELEASES[1:])
def test_every_engine(release: str, figure: Report) -> None:
    with start_lab(release=release) as lab, netdiag_image(lab.engine, IMAGE), lab.up(_SIMPLE) as stack:
        same, facts = compared(stack)
    figure(f"cells by a helper container on engine {release}, the same as on the host", same)
    figure(f"facts by a helper container on engine {release}, the same as on the host", facts)


@pytest.fixture(scope="module")
def stack(helped: Lab) -> Iterator[Stack]:
    with helped.up(_SIMPLE) as up:
        yield up


def helpers(engine: Engine) -> list[str]:
    return engine.docker("ps", "-aq", "--filter", f"label={LABEL}").split()


def gone(engine: Engine) -> float:
    """Seconds until no helper is left."""
    begin = time.monotonic()
    while helpers(engine):
        assert time.monotonic() - begin < _LIMIT, "a helper is left"
        time.sleep(0.1)
    return time.monotonic() - begin


def watching(stack: Stack) -> subprocess.Popen[bytes]:
    """A watch by a helper that has looked once."""
    words = ["check-listeners", "--live", "--watch", "--format", "json", "--via", "container"]
    process = subprocess.Popen(
        [*SEALED, *NETDIAG, *words, "--host", stack.engine.docker_host],
        cwd=ROOT / "tests",
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"format": "netdiag-watch"')
    assert helpers(stack.engine)
    return process


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, None)], ids=str
)
def test_however_the_client_ends(stack: Stack, number: int, status: int | None, figure: Report) -> None:
    process = watching(stack)
    # unshare ignores what Ctrl-C sends to the group, and ends with its child.
    os.killpg(process.pid, number)
    process.communicate(timeout=_LIMIT)
    if status is not None and number != signal.SIGTERM:
        assert process.returncode == status
    figure(f"seconds until no helper is left after {signal.Signals(number).name}", round(gone(stack.engine), 1))


def test_two_at_once_do_not_see_each_other(stack: Stack) -> None:
    process = watching(stack)
    words = ["check-listeners", "--live", "--host", stack.engine.docker_host, "--format", "json"]
    there = document(sealed(*words, "--via", "container"))
    here = document(on_the_host(stack, *words))
    assert process.poll() is None
    assert there["matrix"] == here["matrix"]
    assert {cell["vantage"] for cell in there["matrix"]} == {"docker host", "inside kafka"}
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=_LIMIT)
    gone(stack.engine)


def test_a_container_that_is_taken_away(stack: Stack) -> None:
    process = watching(stack)
    stack.engine.docker("rm", "-f", *helpers(stack.engine))
    _, errors = process.communicate(timeout=_LIMIT)
    assert process.returncode == 3
    assert b"the helper container ended before its work was done" in errors


def test_an_image_of_another_version(helped: Lab) -> None:
    with netdiag_image(helped.engine, "netdiag:old", version="0.0.9"):
        words = ["topology", "--host", helped.engine.docker_host, "--via", "container", "--image", "netdiag:old"]
        done = sealed(*words)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"the image holds netdiag 0.0.9, and this is" in done.stderr
    gone(helped.engine)


def test_an_image_that_is_none_of_netdiags(helped: Lab) -> None:
    words = ["topology", "--host", helped.engine.docker_host, "--via", "container"]
    done = sealed(*words, "--image", "netdiag-lab/client:1")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"netdiag: ")
    assert done.stderr.count(b"\n") == 2
    gone(helped.engine)


def test_no_secret_is_where_others_can_see_it(stack: Stack, tmp_path: Path) -> None:
    secret = "hunter2-of-the-environment-file"
    (tmp_path / "compose.yml").write_text(
        "services:\n  kafka:\n    image: apache/kafka:3.9.1\n    env_file: [kafka.env]\n"
    )
    (tmp_path / "kafka.env").write_text(f"PASSWORD={secret}\n")
    seen: list[str] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            for one in helpers(stack.engine):
                seen.append(stack.engine.docker("inspect", one, check=False))

    watcher = threading.Thread(target=look)
    watcher.start()
    words = ["check-listeners", "--live", str(tmp_path / "compose.yml"), "-p", stack.project]
    done = sealed(*words, "--host", stack.engine.docker_host, "--via", "container")
    over.set()
    watcher.join()
    assert done.returncode in (0, 1), done.stderr
    assert any("netdiag-helper-" in one for one in seen)
    assert not [one for one in seen if secret in one]
    assert secret.encode() not in done.stdout + done.stderr


def test_the_engine_goes_away() -> None:
    with start_lab() as lab, netdiag_image(lab.engine, IMAGE), lab.up(_SIMPLE) as stack:
        process = watching(stack)
        (identifier,) = helpers(stack.engine)
        pid = int(stack.engine.docker("inspect", "--format", "{{.State.Pid}}", identifier))
        daemon = int((lab.engine.record.home / "dockerd.pid").read_text())
        os.kill(daemon, signal.SIGSTOP)
        try:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            end = time.monotonic() + _LIMIT
            while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
                time.sleep(0.2)
            assert not Path(f"/proc/{pid}").exists(), "the helper outlives its engine and its client"
        finally:
            os.kill(daemon, signal.SIGCONT)
        gone(stack.engine)
