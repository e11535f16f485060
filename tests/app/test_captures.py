"""Rows of one table, and what of the captures was not read."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netdiag.app.address_names import address_names
from netdiag.app.captures import (
    CaptureQuery,
    read_table,
    table_columns,
    time_span,
    with_captured_traffic,
)
from netdiag.deployment.sources.engine import from_engine
from netdiag.errors import InputError, UsageError
from netdiag.topology.inventory import LinkId
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.rows import ConnectionRow
from tests.app.checks import Recorder
from tests.cli.test_exchanges import ASK, TOLD
from tests.deployment.test_engine_source import attached, container, network
from tests.deployment.test_listener_access import PUBLISHED
from tests.native.files import pcap_file
from tests.native.packets import TcpConnection, translated
from tests.topology.test_diff import TOPOLOGY, namespace


def rows(path: Path, **options: Any) -> tuple[list[ConnectionRow], list[str]]:
    """The connections of a capture, and what was said of it."""
    query, heard = CaptureQuery(files=(str(path),), rows=ReadOptions(**options)), Recorder()
    read = [ConnectionRow(*row) for batch in read_table(query, "connections", listener=heard) for row in batch.rows()]
    return read, heard.notices


def test_every_row_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(TcpConnection().open().ask(ASK).answer(TOLD).close().packets))
    (row,), notices = rows(path)
    assert (row.broker, row.protocol, row.requests, row.responses) == ("10.0.0.2:9092", "kafka", 1, 1)
    assert notices == []


def test_what_was_not_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    hello = bytes.fromhex("160301002f0100002b0303") + bytes(36)
    path.write_bytes(pcap_file(TcpConnection().open().ask(hello).close().packets))
    read, notices = rows(path)
    assert [row.protocol for row in read] == ["tls"]
    assert notices == ["not read: 47 bytes of TLS (--table losses says where)"]


def test_a_connection_under_several_addresses_is_told_once_unless_all_are_wanted(tmp_path: Path) -> None:
    packets = TcpConnection().open().ask(ASK).answer(TOLD).close().packets
    again = translated(packets, "10.0.0.1:40000", "10.1.0.1:40000")
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(sorted([*packets, *again], key=lambda packet: packet.time)))
    (row,), notices = rows(path)
    assert row.seen_as == ("10.1.0.1:40000>10.0.0.2:9092",)
    assert "1 connection with 1 request (--all-sightings keeps them)" in notices[0]
    every, notices = rows(path, all_sightings=True)
    assert (len(every), notices) == (2, [])


def test_the_devices_of_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(TcpConnection().open().ask(ASK).answer(TOLD).close().packets))
    inventory = {**TOPOLOGY.inventory.namespaces, 9: namespace(9, {4: "eth0"}, {4: "10.0.0.2"})}
    topology = replace(TOPOLOGY, inventory=replace(TOPOLOGY.inventory, namespaces=inventory))
    (each,) = with_captured_traffic(topology, [str(path)]).traffic.values()
    assert each.link == LinkId(netns=9, ifindex=4)
    assert (each.connections, each.requests, each.responses, each.captured) == (1, 1, 1, False)


def test_what_is_no_capture_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"this is something else altogether")
    with pytest.raises(InputError) as caught:
        with_captured_traffic(TOPOLOGY, [str(tmp_path / "x")])
    assert "\n" not in str(caught.value)


def test_ends_are_called_by_container_and_listener() -> None:
    made = container(networks=(attached("p_net", "172.18.0.5"),), ports=PUBLISHED)
    deployment = from_engine([made], [network("p_net")])
    (broker,) = deployment.brokers
    names = address_names(deployment)
    assert names.hosts["172.18.0.5"] == broker.name
    inside, outside = names.endpoints["172.18.0.5:9092"], names.endpoints["127.0.0.1:19092"]
    assert inside == outside
    assert inside[0] == broker.name
    assert inside[1] is not None


def test_a_span_holds_some_time() -> None:
    assert time_span("5", "6") == (5_000_000_000, 6_000_000_000)
    assert time_span(None, None) == (None, None)
    with pytest.raises(UsageError, match="not before"):
        time_span("6", "6")


def test_columns_are_chosen_in_their_order() -> None:
    assert [column.name for column in table_columns("connections", ["broker", "client"])] == ["broker", "client"]
    assert len(table_columns("connections")) > 10
    for wrong in (["nope"], []):
        with pytest.raises(UsageError):
            table_columns("connections", wrong)
