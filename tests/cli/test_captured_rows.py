"""Rows of one table, and what of the captures was not read."""

from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.cli.captured_rows import Wanted, batches
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.rows import ConnectionRow
from tests.cli.test_exchanges import ASK, TOLD
from tests.native.files import pcap_file
from tests.native.packets import TcpConnection, translated

OPTIONS = ReadOptions(tables=frozenset({"connections", "losses"}))


def rows(path: Path) -> list[ConnectionRow]:
    read = batches([str(path)], OPTIONS, Wanted(table="connections"))
    return [ConnectionRow(*row) for batch in read for row in batch.rows()]


def test_every_row_of_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(TcpConnection().open().ask(ASK).answer(TOLD).close().packets))
    (row,) = rows(path)
    assert (row.broker, row.protocol, row.requests, row.responses) == ("10.0.0.2:9092", "kafka", 1, 1)
    assert capsys.readouterr().err == ""


def test_what_was_not_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.pcap"
    hello = bytes.fromhex("160301002f0100002b0303") + bytes(36)
    path.write_bytes(pcap_file(TcpConnection().open().ask(hello).close().packets))
    assert [row.protocol for row in rows(path)] == ["tls"]
    assert capsys.readouterr().err == "netdiag: not read: 47 bytes of TLS (--table losses says where)\n"


def test_a_connection_under_several_addresses_is_told_once_unless_all_are_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = TcpConnection().open().ask(ASK).answer(TOLD).close().packets
    again = translated(packets, "10.0.0.1:40000", "10.1.0.1:40000")
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(sorted([*packets, *again], key=lambda packet: packet.time)))
    (row,) = rows(path)
    assert row.seen_as == ("10.1.0.1:40000>10.0.0.2:9092",)
    assert "1 connection with 1 request (--all-sightings keeps them)" in capsys.readouterr().err
    every = batches([str(path)], replace(OPTIONS, all_sightings=True), Wanted(table="connections"))
    assert sum(map(len, every)) == 2
    assert capsys.readouterr().err == ""
