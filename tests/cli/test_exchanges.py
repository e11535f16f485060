"""`netdiag exchanges` as users run it."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest

from netdiag.cli.exchanges import TableName
from netdiag.kafka import protocol as wire
from netdiag.traffic.tables import NAMES, PAYLOAD_NAMES, table
from tests.cli.shell import netdiag, process
from tests.native.conversations import MARK, SECRET, batch, produced_and_fetched
from tests.native.files import pcap_file
from tests.native.packets import TcpConnection

ASK = wire.encode_request(3, 12, 7, "app", {"topics": [{"name": "orders"}, {"name": "\x1b[31m"}]})
TOLD = wire.encode_response(3, 12, 7, {"brokers": [{"node_id": 1, "host": "kafka", "port": 9092}]})
FIRST = ["time", "client", "broker", "api_key", "api_name", "api_version", "correlation_id", "client_id"]
FIRST += ["request_bytes", "response_bytes", "latency_ms", "error_code", "topics", "group", "decoded"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    packets = TcpConnection().open().ask(ASK).answer(TOLD).close().packets
    (tmp_path / "a.pcap").write_bytes(pcap_file(packets))
    (tmp_path / "empty.pcap").write_bytes(pcap_file([]))
    (tmp_path / "not.pcap").write_bytes(b"hello, world, this is no capture")
    return tmp_path


def test_text_is_a_line_without_control_characters(folder: Path) -> None:
    done = netdiag("exchanges", "a.pcap", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    (line,) = done.stdout.decode().splitlines()
    assert "10.0.0.1:40000 > 10.0.0.2:9092  Metadata v12 #7" in line
    assert line.isprintable()


def test_json_is_an_object_a_line_with_the_columns_of_the_protocol_first(folder: Path) -> None:
    done = netdiag("exchanges", "a.pcap", "--format", "json", cwd=folder)
    (row,) = (json.loads(line) for line in done.stdout.splitlines())
    assert list(row)[: len(FIRST)] == FIRST
    assert tuple(row) == table("exchanges").names
    assert (row["client_id"], row["topics"], row["latency_ms"]) == ("app", ["orders", "\x1b[31m"], 1.0)


def test_csv_of_some_columns(folder: Path) -> None:
    done = netdiag("exchanges", "a.pcap", "--format", "csv", "--columns", "api_name, request_bytes", cwd=folder)
    assert list(csv.reader(io.StringIO(done.stdout.decode()))) == [
        ["api_name", "request_bytes"],
        ["Metadata", str(len(ASK) - 4)],
    ]


def test_arrow_is_a_stream(folder: Path) -> None:
    done = netdiag("exchanges", "a.pcap", "--format", "arrow", cwd=folder)
    read = pa.ipc.open_stream(done.stdout).read_all()
    assert read.column_names == list(table("exchanges").names)
    assert read["api_version"].to_pylist() == [12]


def test_another_table(folder: Path) -> None:
    done = netdiag("exchanges", "a.pcap", "--table", "connections", "--format", "json", cwd=folder)
    (row,) = (json.loads(line) for line in done.stdout.splitlines())
    assert (row["opening"], row["protocol"]) == ("complete", "kafka")


def test_every_table_can_be_asked_for() -> None:
    assert tuple(name.value for name in TableName) == NAMES + PAYLOAD_NAMES


def test_a_capture_from_standard_input(folder: Path) -> None:
    done = process("exchanges", "-", cwd=folder, stdin=(folder / "a.pcap").read_bytes())
    assert done.stdout.count(b"Metadata") == 1


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["empty.pcap"], 4, "netdiag: nothing of what was asked for is in 'empty.pcap'"),
        (["a.pcap", "--client", "other"], 4, "netdiag: nothing of what was asked for is in 'a.pcap'"),
        (["not.pcap"], 3, "netdiag: not.pcap: "),
        (["missing.pcap"], 3, "netdiag: missing.pcap: "),
        (["a.pcap", "--format", "csv", "--columns", "latency"], 2, "netdiag: no column 'latency' in exchanges"),
        (["a.pcap", "--table", "records"], 2, "netdiag: keys and values are shown only with --payloads"),
        (["a.pcap", "--payloads", "--format", "json"], 2, "netdiag: exchanges has no keys and values"),
        (["a.pcap", "--payloads", "--table", "records"], 2, "netdiag: text shows only whole exchanges"),
        (["a.pcap", "--columns", "time"], 2, "netdiag: text shows only whole exchanges"),
        (["a.pcap", "--since", "noon"], 2, "netdiag: 'noon' is not a time"),
        (["a.pcap", "--since", "2", "--until", "1"], 2, "netdiag: --since '2' is not before --until '1'"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(folder: Path, words: list[str], status: int, told: str) -> None:
    done = netdiag("exchanges", *words, cwd=folder)
    assert done.returncode == status
    assert done.stderr.decode().splitlines()[0].startswith(told)
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


def test_filters_reach_the_engine(folder: Path) -> None:
    for words in (["--client", "10.0.0.1"], ["--broker", "10.0.0.2:9092"], ["--topic", "orders"], ["--port", "9092"]):
        assert netdiag("exchanges", "a.pcap", *words, cwd=folder).returncode == 0
    assert netdiag("exchanges", "a.pcap", "--until", "0.0035", cwd=folder).stdout.count(b"no response") == 1


def test_what_was_not_read_is_told_on_standard_error(folder: Path) -> None:
    hello = bytes.fromhex("160301002f0100002b0303") + bytes(36)
    (folder / "tls.pcap").write_bytes(pcap_file(TcpConnection(client="10.0.0.3:4").open().ask(hello).close().packets))
    done = netdiag("exchanges", "tls.pcap", "a.pcap", "--format", "json", cwd=folder)
    assert done.returncode == 0
    assert done.stderr.decode() == "netdiag: not read: 47 bytes of TLS (--table losses says where)\n"


def test_keys_and_values_for_whoever_asks(folder: Path) -> None:
    (folder / "p.pcap").write_bytes(pcap_file(produced_and_fetched(batch(SECRET, codec=1)).packets))
    words = ("exchanges", "p.pcap", "--payloads", "--table", "records", "--format")
    rows = [json.loads(line) for line in netdiag(*words, "json", cwd=folder).stdout.splitlines()]
    assert [tuple(row) for row in rows] == [table("records").names] * 6
    assert {(row["key"], row["value"]) for row in rows} == {(f"k{MARK.decode()}", f"v{MARK.decode()}")}
    assert netdiag(*words, "csv", cwd=folder).stdout.count(b"v" + MARK) == 6
    read = pa.ipc.open_stream(netdiag(*words, "arrow", cwd=folder).stdout).read_all()
    assert read["headers"].to_pylist() == [[f"h{MARK.decode()}=w{MARK.decode()}"]] * 6


@pytest.mark.parametrize("form", ["text", "json", "csv", "arrow"])
def test_keys_and_values_for_nobody_else(folder: Path, form: str) -> None:
    (folder / "p.pcap").write_bytes(pcap_file(produced_and_fetched(batch(SECRET)).packets))
    for name in ("exchanges",) if form == "text" else ("exchanges", "batches", "losses"):
        done = netdiag("exchanges", "p.pcap", "--table", name, "--format", form, cwd=folder)
        assert done.returncode in (0, 4)
        assert MARK not in done.stdout + done.stderr
