"""The switches of a namespace, from its files."""

from pathlib import Path

from netdiag.io.kernel.settings import read_settings
from netdiag.linux.kernel_settings import KernelSettings


def _tree(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return f"{folder}/"


def test_each_switch_is_read_from_its_file(tmp_path: Path) -> None:
    net = _tree(
        tmp_path,
        {
            "ipv4/ip_forward": "1\n",
            "ipv4/ip_local_port_range": "1024\t2048\n",
            "ipv4/conf/all/rp_filter": "2\n",
            "ipv4/conf/default/rp_filter": "1\n",
            "ipv4/conf/all/route_localnet": "0\n",
            "ipv4/conf/default/route_localnet": "1\n",
            "ipv6/conf/all/forwarding": "0\n",
            "ipv6/conf/all/disable_ipv6": "1\n",
            "bridge/bridge-nf-call-iptables": "1\n",
            "bridge/bridge-nf-call-ip6tables": "0\n",
        },
    )
    assert read_settings([("eth0", 1, 0), ("eth1", 2, 1)], net) == KernelSettings(
        ip_forward=True,
        ipv6_forwarding=False,
        ipv6_disabled=True,
        bridge_nf_call_iptables=True,
        bridge_nf_call_ip6tables=False,
        rp_filter=(("all", 2), ("default", 1), ("eth0", 1), ("eth1", 2)),
        route_localnet=(("all", 0), ("default", 1), ("eth0", 0), ("eth1", 1)),
        local_port_range=(1024, 2048),
    )


def test_what_is_not_there_or_no_number_is_unknown(tmp_path: Path) -> None:
    net = _tree(tmp_path, {"ipv4/ip_forward": "yes\n", "ipv4/ip_local_port_range": "1\n"})
    assert read_settings((), net) == KernelSettings()


def test_this_kernel_tells_its_own() -> None:
    settings = read_settings()
    assert settings.ip_forward == (Path("/proc/sys/net/ipv4/ip_forward").read_text() != "0\n")
    assert [name for name, _ in settings.rp_filter] == ["all", "default"]
