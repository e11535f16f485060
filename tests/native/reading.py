"""What the capture engine says of captures, as rows with named columns."""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from netdiag.traffic import native
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES, table
from tests.native.files import pcap_file, pcapng_file
from tests.native.packets import Packet

Rows = Mapping[str, Sequence[Any]]


def rows_of_packets(packets: Sequence[Packet], **options: Any) -> Rows:
    """Of packets in this order."""
    named = any(packet.interface for packet in packets)
    return rows_of_bytes(pcapng_file(packets) if named else pcap_file(packets, 1 << 20), **options)


def rows_of_bytes(data: bytes, **options: Any) -> Rows:
    """Of a capture file with this content, which rows call `a.pcap`."""
    with NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return rows_of_files(Path(file.name), names=("a.pcap",), **options)


def rows_of_files(
    *files: Path,
    names: Sequence[str] | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
    **options: Any,
) -> Rows:
    """Every row of the tables wanted, by table; `options` are those of `ReadOptions`."""
    wanted = ReadOptions(**options)
    found: dict[str, list[Any]] = {name: [] for name in (*NAMES, *wanted.tables) if name in wanted.tables}
    for ready in native.read([str(file) for file in files], wanted, names=names, since_ns=since_ns, until_ns=until_ns):
        for name, batches in ready.items():
            found[name] += (row_class(name)(*row) for batch in batches for row in batch.rows())
    return found


@cache
def row_class(name: str) -> Any:
    """A row of a table; times are nanoseconds."""
    return namedtuple(name, table(name).names)
