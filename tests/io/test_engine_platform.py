"""What an engine is like, from what it says and from this machine."""

from pathlib import Path

import pytest

from netdiag.deployment.model.platform import Firewall, Generation, HostKind
from netdiag.deployment.observation.live_view import docker_host_vantage
from netdiag.io.docker_engine import EngineHost, EngineVersion
from netdiag.io.engine_kernel import OtherKernel, SameKernel
from netdiag.io.engine_platform import read_platform

ELSEWHERE = OtherKernel(because="another machine")
HERE = docker_host_vantage()


def version(release: str) -> EngineVersion:
    return EngineVersion(release=release, api_version="1.41", operating_system="linux")


@pytest.mark.parametrize(
    ("system", "kernel", "kind"),
    [
        ("Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64", HostKind.LINUX),
        ("Docker Desktop", "6.10.14-linuxkit", HostKind.DESKTOP),
        ("Docker Desktop", "5.15.153.1-microsoft-standard-WSL2", HostKind.DESKTOP),
        ("Ubuntu 24.04 LTS", "5.15.153.1-microsoft-standard-WSL2", HostKind.WSL2),
        ("", "", HostKind.LINUX),
    ],
)
def test_the_machine(system: str, kernel: str, kind: HostKind) -> None:
    host = EngineHost(system=system, kernel=kernel, firewall="")
    found = read_platform(version("28.5.2"), host, ELSEWHERE, HERE, [])
    assert (found.kind, found.generation) == (kind, Generation.V28)
    assert (found.firewall, found.userland_proxy, found.bridge_filter) == (None, None, None)


@pytest.mark.parametrize(
    ("said", "firewall"),
    [("iptables", Firewall.IPTABLES), ("nftables+firewalld", Firewall.NFTABLES), ("", None), ("magic", None)],
)
def test_the_firewall(said: str, firewall: Firewall | None) -> None:
    host = EngineHost(system="", kernel="", firewall=said)
    assert read_platform(version("29.0.0"), host, ELSEWHERE, HERE, []).firewall is firewall


def test_on_this_kernel_the_filter_of_bridges_is_read() -> None:
    host = EngineHost(system="", kernel="", firewall="")
    found = read_platform(version("29.0.0"), host, SameKernel(docker_host=None), HERE, [])
    path = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
    assert found.bridge_filter is (path.exists() and path.read_text().strip() != "0")
