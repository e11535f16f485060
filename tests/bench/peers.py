"""What the engine is measured against: tshark with the same columns, and what merely reads the file.

TSHARK names another tshark than the one of this machine.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tests.bench.captures import Capture

# Columns of `netdiag exchanges` in tshark's words; a version knows most of them.
_FIELDS = (
    *("frame.number", "frame.time_epoch", "tcp.stream", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport"),
    *("kafka.len", "kafka.request_key", "kafka.response_key", "kafka.request.version", "kafka.response.version"),
    *("kafka.correlation_id", "kafka.client_id", "kafka.request_frame", "kafka.response_frame", "kafka.error"),
    *("kafka.topic_name", "kafka.consumer_group", "kafka.throttle_time", "kafka.required_acks", "kafka.max_wait_time"),
    *("kafka.replica_id", "kafka.transactional_id", "kafka.transaction_result", "kafka.message_size"),
)
_LENGTH = _FIELDS.index("kafka.len")
# The same in netdiag's words.
COLUMNS = (
    *("time", "client", "broker", "api_key", "api_version", "correlation_id", "client_id", "request_bytes"),
    *("response_bytes", "latency_ms", "error_code", "topics", "group", "throttle_ms", "acks", "transactional_id"),
    *("replica_id", "connection", "request_packet", "response_packet"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tshark:
    """Where it is, which version, and which of the columns it knows."""

    path: str
    version: str
    fields: tuple[str, ...]

    def command(self, capture: Capture) -> tuple[str, ...]:
        """Kafka of every broker's port, a line per packet with messages."""
        decode = (word for port in capture.ports for word in ("-d", f"tcp.port=={port},kafka"))
        columns = (word for field in self.fields for word in ("-e", field))
        return (self.path, "-n", "-r", str(capture.path), *decode, "-Y", "kafka", "-T", "fields", *columns)


def tshark() -> Tshark | None:
    """None where there is none."""
    path = os.environ.get("TSHARK") or shutil.which("tshark")
    if path is None:
        return None
    known = {line.split("\t")[2] for line in _told(path, "-G", "fields") if line.startswith("F\t")}
    version = next(iter(_told(path, "--version")), "").removeprefix("TShark (Wireshark) ").split(" ")[0].rstrip(".")
    return Tshark(path=path, version=version, fields=tuple(field for field in _FIELDS if field in known))


def messages(output: Path) -> int:
    """How many messages are in tshark's output: every one has a length."""
    with output.open(encoding="utf-8", errors="replace") as lines:
        return sum(line.split("\t")[_LENGTH].count(",") + 1 for line in lines if "\t" in line)


def messages_in_arrow(output: Path) -> int:
    """How many messages are in a stream of exchanges: every one that was seen has a size."""
    total = 0
    with pa.OSFile(str(output)) as file, pa.ipc.open_stream(file) as stream:
        for batch in stream:
            sizes = [batch.column(name) for name in ("request_bytes", "response_bytes")]
            total += sum(len(column) - column.null_count for column in sizes)
    return total


def messages_in_sums(output: Path) -> int:
    """How many messages were summed up."""
    with output.open(encoding="utf-8") as lines:
        return sum(row["requests"] + row["responses"] for row in map(json.loads, lines))


def netdiag(capture: Path, format: str = "arrow", columns: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The command that is measured; without `columns` it gives all of them."""
    chosen = ("--columns", ",".join(columns)) if columns else ()
    return (sys.executable, "-m", "netdiag", "exchanges", str(capture), "--format", format, *chosen)


def floors(capture: Capture) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What reads the file and makes less of it: a name and the command."""
    yield "cat", ("cat", str(capture.path))
    if found := shutil.which("tcpdump"):
        yield "tcpdump -w", (found, "-r", str(capture.path), "-w", os.devnull)
    if found := shutil.which("capinfos"):
        yield "capinfos", (found, str(capture.path))


def _told(path: str, *words: str) -> list[str]:
    done = subprocess.run([path, *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
