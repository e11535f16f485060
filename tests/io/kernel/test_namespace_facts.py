"""The facts of one namespace: each for itself, so that what the kernel refuses does not cost the others."""

import errno
import os
from pathlib import Path

import pytest

from netdiag.io.kernel import inventory as under_test
from netdiag.io.kernel.inventory import FactReader, read_settings
from netdiag.io.kernel.namespaces import Calls
from netdiag.io.kernel.netlink import ROUTE, SOCK_DIAG, Channel, Refused
from netdiag.linux.netlink.links import LinkSettings
from netdiag.linux.netlink.routes import request_routes
from netdiag.linux.netns import Netns
from netdiag.linux.rtnetlink import KernelSettings

ROUTES = request_routes()


class Moody(Channel):
    """A channel to this kernel that spoils the answers about routes, or does not come about at all."""

    spoil: str = ""

    def __init__(self, protocol: int, buffer: bytearray | None = None) -> None:
        if self.spoil == f"protocol {protocol}":
            raise Refused("protocol not supported", number=errno.EPROTONOSUPPORT)
        super().__init__(protocol, buffer=buffer)

    def payloads(self, request: bytes) -> list[bytes]:
        found = super().payloads(request)
        if request == ROUTES:
            if self.spoil == "refused":
                raise Refused("operation not supported", number=errno.EOPNOTSUPP)
            if self.spoil == "interrupted":
                self.interrupted = True
            if self.spoil == "malformed":
                return [*found[:1], b"x", *found[1:]]
        return found


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        ("", []),
        ("refused", ["routes of net:[5]: operation not supported"]),
        ("interrupted", ["routes of net:[5]: they changed every time they were read"]),
        ("malformed", ["routes of net:[5]: not understood: "]),
        (f"protocol {SOCK_DIAG}", ["listeners of net:[5]: protocol not supported"]),
    ],
)
def test_one_fact_that_is_missing_does_not_cost_the_others(
    spoil: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "Channel", Moody)
    monkeypatch.setattr(Moody, "spoil", spoil)
    found = FactReader(Calls(), {}, 5).read(Netns(inode=5)).facts
    told = [f"{one.what}: {one.because}" for one in found.unread]
    assert [line[: len(start)] for line, start in zip(told, expected, strict=True)] == expected
    assert [link.ifname for link in found.links if link.loopback] == ["lo"]
    assert (found.rules, found.settings.ip_forward is None) != ((), True)
    if spoil in ("", "interrupted"):
        assert found.routes


def test_a_kernel_without_rtnetlink_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "Channel", Moody)
    monkeypatch.setattr(Moody, "spoil", f"protocol {ROUTE}")
    before = os.listdir("/proc/self/fd")
    found = FactReader(Calls(), {}, 5).read(Netns(inode=5)).facts
    assert [one.what for one in found.unread] == ["network of net:[5]"]
    assert found.links == ()
    assert os.listdir("/proc/self/fd") == before


NET = Path("/proc/sys/net")


def _tree(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return f"{folder}/"


DEVICES = (
    ("eth0", LinkSettings(rp_filter=1, route_localnet=0, ipv6_disabled=True)),
    ("tun0", LinkSettings()),
    ("eth1", LinkSettings(rp_filter=2, route_localnet=1, ipv6_disabled=True)),
)


def test_each_switch_is_read_from_its_file(tmp_path: Path) -> None:
    files = {
        "ipv4/ip_local_port_range": "1024\t2048\n",
        "ipv4/conf/all/route_localnet": "1\n",
        "bridge/bridge-nf-call-iptables": "1\n",
        "bridge/bridge-nf-call-ip6tables": "0\n",
    }
    net = _tree(tmp_path, files)
    with Channel(ROUTE) as channel:
        settings = read_settings(channel, DEVICES, files=True, net=net)
        without = read_settings(channel, DEVICES, files=False, net=net)
    assert settings.bridge_nf_call_iptables is True
    assert settings.bridge_nf_call_ip6tables is False
    assert settings.local_port_range == (1024, 2048)
    assert settings.route_localnet == (("all", 1), ("eth0", 0), ("eth1", 1))
    assert settings.rp_filter[1:] == (("eth0", 1), ("eth1", 2))
    assert settings.ipv6_disabled is True
    assert (without.bridge_nf_call_iptables, without.bridge_nf_call_ip6tables) == (None, None)
    assert (without.route_localnet, without.local_port_range) == ((("eth0", 0), ("eth1", 1)), None)


def test_one_device_with_ipv6_is_enough() -> None:
    with Channel(ROUTE) as channel:
        settings = read_settings(channel, (*DEVICES, ("lo", LinkSettings(ipv6_disabled=False))), files=False)
    assert settings.ipv6_disabled is False


def test_what_is_not_there_or_no_number_is_unknown(tmp_path: Path) -> None:
    net = _tree(tmp_path, {"ipv4/conf/all/route_localnet": "yes\n", "ipv4/ip_local_port_range": "1\n"})
    # a channel on which nobody knows of switches
    with Channel(SOCK_DIAG) as channel:
        assert read_settings(channel, files=True, net=net) == KernelSettings()


def test_the_kernel_says_over_netlink_what_its_files_say() -> None:
    with Channel(ROUTE) as channel:
        settings = read_settings(channel, files=True)
    assert settings.ip_forward == (int((NET / "ipv4/ip_forward").read_text()) != 0)
    assert settings.rp_filter == (("all", int((NET / "ipv4/conf/all/rp_filter").read_text())),)
    forwarding = NET / "ipv6/conf/all/forwarding"
    assert settings.ipv6_forwarding == (int(forwarding.read_text()) != 0 if forwarding.exists() else None)
    first, last = (NET / "ipv4/ip_local_port_range").read_text().split()
    assert settings.local_port_range == (int(first), int(last))
