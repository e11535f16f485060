"""tcpdump and dumpcap as processes of ours: they end with us, and what goes wrong is one line."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.packets.filters import Filter, of_expression, of_ports
from netdiag.io.packets.places import Place, named
from netdiag.io.packets.tool import Tool, ToolSource
from tests.io.namespaces import FAR, Pair, joined_namespaces
from tests.io.packets.traffic import SENDER, needs, python

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with joined_namespaces() as made:
        yield made


@pytest.fixture
def place(pair: Pair) -> Iterator[Place]:
    made = Place(named(pair.near))
    yield made
    made.close()


def source(tool: Tool, place: Place, folder: Path, chosen: Filter) -> ToolSource:
    needs(tool)
    return ToolSource(
        tool, place, chosen, lambda *link: 0, snaplen=256, links=("eth0",), megabytes=4, folder=str(folder)
    )


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("tool", list(Tool))
def test_counts_and_leaves_nothing(pair: Pair, place: Place, tmp_path: Path, tool: Tool) -> None:
    made = source(tool, place, tmp_path, of_expression("udp"))
    python(pair.near, SENDER, FAR, 9092, 60)
    made.stop()
    blocks = []
    while not made.finished():
        blocks += made.read()
        time.sleep(0.02)
    blocks += made.read()
    time.sleep(0.2)
    assert (len(blocks), made.received, made.dropped) == (60, 60, 0)
    assert made.failure() is None
    made.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tool", list(Tool))
def test_a_tool_that_is_killed_is_told(place: Place, tmp_path: Path, tool: Tool) -> None:
    made = source(tool, place, tmp_path, of_expression("udp"))
    made._process.kill()
    made._process.wait()
    failure = made.failure()
    assert f"{tool} has ended" in str(failure)
    made.close()


@pytest.mark.parametrize("tool", list(Tool))
def test_what_it_refuses_is_one_line(place: Place, tmp_path: Path, tool: Tool) -> None:
    bad = Filter(expression="tcp prt 1", ethernet=of_ports([1]).ethernet, ip=of_ports([1]).ip)
    with pytest.raises(NetdiagError, match="does not capture: ") as caught:
        source(tool, place, tmp_path, bad)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_where_no_spool_can_be(place: Place, tmp_path: Path) -> None:
    with pytest.raises(NetdiagError, match="no folder for the packets"):
        source(Tool.TCPDUMP, place, tmp_path / "absent", of_expression(""))


@pytest.mark.parametrize("tool", list(Tool))
def test_it_ends_with_us_however_we_end(pair: Pair, tmp_path: Path, tool: Tool) -> None:
    needs(tool)
    program = (
        "import sys, time; from pathlib import Path\n"
        "from tests.io.packets.test_tool import *\n"
        f"made = source(Tool({str(tool)!r}), Place(named({pair.near!r})), Path({str(tmp_path)!r}), of_expression(''))\n"
        "print(made._process.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as us:
        assert us.stdout is not None
        pid = int(us.stdout.readline())
        assert is_there(pid)
        os.kill(us.pid, signal.SIGKILL)
        us.wait()
    end = time.monotonic() + 10
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_there(pid)
