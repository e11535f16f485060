"""The kernel's dumps, against iproute2."""

import json
import subprocess

from netdiag.io.host_addresses import host_addresses, read_addresses, read_links
from netdiag.io.kernel.netns import open_namespace
from netdiag.linux.netns import NamedNamespace
from tests.io.namespaces import NEAR, ip, joined_namespaces


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
