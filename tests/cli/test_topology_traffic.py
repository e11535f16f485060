"""A capture laid over a topology, from the file on."""

from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.cli.topology_traffic import captured_over
from netdiag.errors import InputError
from netdiag.topology.inventory import LinkId
from tests.cli.test_exchanges import ASK, TOLD
from tests.native.files import pcap_file
from tests.native.packets import TcpConnection
from tests.topology.test_traffic import TOPOLOGY, namespace


def test_the_devices_of_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(TcpConnection().open().ask(ASK).answer(TOLD).close().packets))
    inventory = {**TOPOLOGY.inventory.namespaces, 9: namespace(9, {4: "eth0"}, {4: "10.0.0.2"})}
    topology = replace(TOPOLOGY, inventory=replace(TOPOLOGY.inventory, namespaces=inventory))
    (each,) = captured_over(topology, [str(path)]).traffic.values()
    assert each.link == LinkId(netns=9, ifindex=4)
    assert (each.connections, each.requests, each.responses, each.captured) == (1, 1, 1, False)


def test_what_is_no_capture_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"this is something else altogether")
    with pytest.raises(InputError) as caught:
        captured_over(TOPOLOGY, [str(tmp_path / "x")])
    assert "\n" not in str(caught.value)
