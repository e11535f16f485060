"""Walks against real connections with and without docker-proxy, with and without bridges that call packet filters."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.io.kernel.inventory import read_inventory
from netdiag.io.kernel.netns import open_namespace
from netdiag.linux.netns import NamedNamespace
from netdiag.topology.graph import HopKind
from tests.figures import Report
from tests.lab.lab import Lab, start_lab
from tests.lab.stack import Stack
from tests.real_connections.comparing import misses, tally, unmoved
from tests.real_connections.in_lab import lab_cells
from tests.scenarios.real_clients import vantage_of

FILE = Path(__file__).parents[2] / "compose" / "scenarios" / "S01-reference" / "kraft.yml"
SWITCH = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


@pytest.fixture(scope="module", params=[True, False], ids=["proxy", "no-proxy"])
def engine(request: pytest.FixtureRequest, compose_v2: Path) -> Iterator[Lab]:
    assert compose_v2.exists()
    with start_lab(userland_proxy=request.param) as lab:
        yield lab


@pytest.fixture(scope="module")
def running(engine: Lab) -> Iterator[Stack]:
    with engine.up(FILE) as stack:
        for vantage in ("O", "C", "D"):
            vantage_of(stack, vantage)
        yield stack


@pytest.mark.bar("trace-truth", long=True)
@pytest.mark.parametrize("called", ["1", "0"], ids=["br_netfilter", "no-br_netfilter"])
def test_walks_end_as_real_connections_do(running: Stack, called: str, figure: Report, engine: Lab) -> None:
    with open_namespace(NamedNamespace(name=engine.engine.record.host_netns)) as host:
        host.run(lambda: SWITCH.write_text(called))
    before = read_inventory()
    cells = lab_cells(engine.engine)
    proxies = any(hop.kind is HopKind.PROXY for cell in cells for hop in cell.path.hops)
    figure(f"{'with' if proxies else 'without'} docker-proxy, bridge-nf-call-iptables {called}", tally(cells))
    assert misses(cells) == []
    assert unmoved(cells, before, read_inventory()) == []


@pytest.mark.bar("trace-truth", long=True)
def test_walks_end_as_real_connections_do_after_faults(running: Stack, engine: Lab, figure: Report) -> None:
    """A frozen broker, one that is stopped, one without a network, a docker host that drops what is for itself."""
    docker = engine.engine.docker
    names = [running.state(f"broker-{number}").id for number in (1, 2, 3)]
    network = sorted(running.state("broker-3").networks)[0]
    docker("pause", names[0])
    docker("stop", "-t", "0", names[1])
    docker("network", "disconnect", network, names[2])
    _filter(engine, "-I", "INPUT", "!", "-i", "lo", "-p", "tcp", "-m", "conntrack", "--ctstate", "NEW", "-j", "DROP")
    _filter(engine, "-I", "DOCKER-USER", "-p", "tcp", "--dport", "9094", "-j", "REJECT", "--reject-with", "tcp-reset")
    before = read_inventory()
    cells = lab_cells(engine.engine)
    figure("after faults", tally(cells))
    assert any("is paused" in cell.path.because for cell in cells)
    assert misses(cells) == []
    assert unmoved(cells, before, read_inventory()) == []


def _filter(engine: Lab, *words: str) -> None:
    subprocess.run(["ip", "netns", "exec", engine.engine.record.host_netns, "iptables", *words], check=True)
