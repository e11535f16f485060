"""What can be known of an engine that is not on this machine, and of what it does not have."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from netdiag.deployment.model.deployment import Firewall, Generation, HostKind
from netdiag.deployment.observation.live_view import docker_host_vantage
from netdiag.engine.about import EngineHost
from netdiag.errors import EngineError, InputError
from netdiag.io.engine.live_deployment import (
    Live,
    OtherVantages,
    host_addresses,
    read_addresses,
    read_links,
    read_live,
    read_platform,
)
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel
from netdiag.io.kernel.netns import open_namespace
from netdiag.linux.netns import NamedNamespace, OwnNamespace
from tests.engine.test_documents import BROKER
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.io.namespaces import NEAR, ip, joined_namespaces


def answers(**state: object) -> dict[str, Any]:
    document = BROKER | {"State": BROKER["State"] | {"Pid": 1} | state}
    identifier = BROKER["Id"]
    return {
        "/version": VERSION,
        "/containers/json": [{"Id": identifier}],
        f"/containers/{identifier}/json": document,
        "/networks": [{"Name": "held_kafka", "Id": "n1", "Driver": "bridge"}],
    }


def looked(tmp_path: Path, document: dict[str, Any], **how: Any) -> Live:
    with fake_engine(tmp_path / "s", document) as url:
        return read_live(host=url, environment={}, home=tmp_path, **how)


def test_an_engine_on_another_machine(tmp_path: Path) -> None:
    """Process 1 is there, as everywhere, and is not the container's: nothing of this machine is taken for it."""
    live = looked(tmp_path, answers(), project="held", vantages=OtherVantages(netns=("lan",)))
    assert [b.name for b in live.deployment.brokers] == ["broker-1"]
    assert [s.vantage.label for s in live.vantages] == ["docker host", "netns:lan"]
    assert live.vantages[0].entrance == OwnNamespace()
    (skipped,) = live.skipped
    assert skipped.vantage.label == "inside broker-1"
    assert "another machine" in skipped.because
    assert not skipped.rights
    assert live.sockets == {}
    assert live.deployment.platform.userland_proxy is None


def test_a_stopped_broker_is_told_even_without_a_log(tmp_path: Path) -> None:
    live = looked(tmp_path, answers(Status="exited", Pid=0, ExitCode=1))
    assert str(live.stopped["broker-1"]) == "not running, exit code 1"


@pytest.mark.parametrize("how", [{"project": "other"}, {"names": ["nobody"]}, {"names": ["held-broker-1-1", "x"]}])
def test_what_the_engine_does_not_have(tmp_path: Path, how: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="no container"):
        looked(tmp_path, answers(), **how)


def test_a_project_is_found_by_the_file_it_was_started_from(tmp_path: Path) -> None:
    documents = answers()
    (container,) = [v for k, v in documents.items() if k.endswith("/json") and k != "/containers/json"]
    container["Config"]["Labels"]["com.docker.compose.project.config_files"] = "/shop/a.yml,/shop/b.yml"
    assert looked(tmp_path, documents, project="shop", compose_file="/shop/b.yml").deployment.name == "held"


def test_another_file_of_another_name_is_not_taken_for_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no container"):
        looked(tmp_path, answers(), project="shop", compose_file="/shop/c.yml")


def test_no_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no engine answers there"):
        read_live(host=f"unix://{tmp_path}/none", environment={}, home=tmp_path)


ELSEWHERE = OtherKernel(because="another machine")
HERE = docker_host_vantage()


@pytest.mark.parametrize(
    ("name", "system", "kernel", "kind"),
    [
        ("host", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64", HostKind.LINUX),
        ("docker-desktop", "Docker Desktop", "6.10.14-linuxkit", HostKind.DESKTOP),
        ("docker-desktop", "Docker Desktop", "5.15.153.1-microsoft-standard-WSL2", HostKind.DESKTOP),
        ("orbstack", "OrbStack", "6.10.14-orbstack", HostKind.ORBSTACK),
        ("colima", "Ubuntu 24.04.1 LTS", "6.8.0-50-generic", HostKind.COLIMA),
        ("colima-work", "Ubuntu 24.04.1 LTS", "6.8.0-50-generic", HostKind.COLIMA),
        ("lima-rancher-desktop", "Alpine Linux v3.20", "6.6.41-0-virt", HostKind.RANCHER_DESKTOP),
        (
            "PC",
            "Rancher Desktop WSL Distribution",
            "5.15.153.1-microsoft-standard-WSL2",
            HostKind.RANCHER_DESKTOP,
        ),
        ("PC", "Ubuntu 24.04 LTS", "5.15.153.1-microsoft-standard-WSL2", HostKind.WSL2),
        ("", "", "", HostKind.LINUX),
    ],
)
def test_the_machine(name: str, system: str, kernel: str, kind: HostKind) -> None:
    host = EngineHost(name=name, system=system, kernel=kernel, firewall="")
    found = read_platform("28.5.2", host, ELSEWHERE, HERE, [])
    assert (found.kind, found.generation) == (kind, Generation.V28)
    assert (found.firewall, found.userland_proxy, found.bridge_filter) == (None, None, None)


@pytest.mark.parametrize(
    ("said", "firewall"),
    [("iptables", Firewall.IPTABLES), ("nftables+firewalld", Firewall.NFTABLES), ("", None), ("magic", None)],
)
def test_the_firewall(said: str, firewall: Firewall | None) -> None:
    host = EngineHost(name="", system="", kernel="", firewall=said)
    assert read_platform("29.0.0", host, ELSEWHERE, HERE, []).firewall is firewall


def test_on_this_kernel_the_filter_of_bridges_is_read() -> None:
    host = EngineHost(name="", system="", kernel="", firewall="")
    found = read_platform("29.0.0", host, SameKernel(docker_host=None), HERE, [])
    path = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
    assert found.bridge_filter is (path.exists() and path.read_text().strip() != "0")


def test_the_same_as_iproute2() -> None:
    with joined_namespaces() as pair, open_namespace(NamedNamespace(name=pair.near)) as namespace:
        ip("-n", pair.near, "link", "add", "br-x", "type", "bridge")
        ip("-n", pair.near, "link", "set", "br-x", "up")
        ip("-n", pair.near, "address", "add", "172.30.0.1/16", "dev", "br-x")
        ip("-n", pair.near, "address", "add", "2001:db8::1/64", "dev", "eth0", "nodad")
        links = read_links(namespace)
        addresses = read_addresses(namespace)
        told = json.loads(
            subprocess.run(
                ["ip", "-n", pair.near, "-d", "-j", "address"], check=True, capture_output=True, text=True
            ).stdout
        )
        assert host_addresses(namespace, frozenset({"br-x"})) == (NEAR, "2001:db8::1")
        assert host_addresses(namespace, frozenset()) == (NEAR, "172.30.0.1", "2001:db8::1")
    assert {(k.ifindex, k.ifname, k.kind, k.up) for k in links} == {
        (t["ifindex"], t["ifname"], t.get("linkinfo", {}).get("info_kind", ""), "UP" in t["flags"]) for t in told
    }
    assert {(a.ifindex, a.address, a.prefix_length) for a in addresses} == {
        (t["ifindex"], info["local"], info["prefixlen"]) for t in told for info in t["addr_info"]
    }
